// The matrix of the default profiles (resources-and-api.md 7.5), every resource, operation and role: as a client asks, on whatever binding, and as a
// program does through ResourceAPI. Only whether the operation is open is looked at: what is wrong with the request itself comes after that.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { ApiReply, Identity } from '../../resources/api.ts';

type Outcome = 'open' | '403' | '405';
type Operation = 'select' | 'insert' | 'update' | 'delete' | 'execute' | 'publish' | 'query' | 'aggregate';

/** Who may: U user, A admin; or what all of them are answered. */
type Cell = string;
type Row = Partial<Record<Operation, Cell>>;

const DEFINITIONS: Row = { select: 'UA', insert: 'A', update: 'A', delete: 'A', aggregate: 'UA' };
const OWN: Row = { select: 'UA', insert: 'UA', update: 'UA', delete: 'UA', aggregate: 'UA' };
const ADMINS: Row = { select: 'A', insert: 'A', update: 'A', delete: 'A', aggregate: 'A' };

const MATRIX: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(
    ['types', 'scalars', 'rules', 'services', 'nodes', 'profiles', 'debugconfigs', 'configurations', 'scheduledevents'].map((name) => [
      name,
      DEFINITIONS,
    ]),
  ),
  'custom/MatrixType': DEFINITIONS,
  procedures: { ...DEFINITIONS, execute: 'UA' },
  sources: { ...DEFINITIONS, publish: 'A', query: 'A' },
  topics: { ...DEFINITIONS, publish: 'UA' },
  documents: OWN,
  groups: OWN,
  users: { select: 'UA', insert: 'A', update: 'UA', delete: 'A', aggregate: 'UA' },
  // A user without tokens is told that there is none (404) to delete, not that it may not.
  tokens: { select: 'UA', insert: 'A', update: 'A', delete: 'UA', aggregate: 'UA' },
  audits: { select: 'UA', insert: 'UA', update: '405', delete: 'A', aggregate: 'UA' },
  logs: { select: 'UA', insert: '405', update: '405', delete: 'A', aggregate: 'UA' },
  // Its namespace is the root of an organization.
  namespaces: { select: 'UA', insert: 'A', update: 'A', delete: 'A', aggregate: 'UA' },
  organizations: { select: 'UA', update: '', delete: '', aggregate: 'UA' },
  secrets: ADMINS,
  projects: ADMINS,
  'custom/ArsPushTarget': OWN,
  'custom/ArsPayloadMessage': { select: 'UA', insert: 'A', update: 'A', delete: 'A' },
  'custom/ArsSubscription': { select: 'UA', insert: '405', update: '405', delete: 'UA' },
  'custom/ArsEventAcknowledgement': { select: 'UA', insert: '405', update: '405' },
  'custom/ArsRuleSnapshot': { select: 'UA', insert: '405', update: '405' },
  deadletters: { select: 'A', insert: '405', update: '405', delete: 'A' },
};

let t: TestEngine;
const callers: Record<'U' | 'A', Identity> = {} as never;
const mark = randomBytes(4).toString('hex');

beforeAll(async () => {
  t = await openTestEngine();
  const namespace = `Matrix_${mark}`;
  const admin = { username: `a${mark}`, profiles: ['admin', 'user__system'], password: 'correct horse' };
  await t.engine.identity.createNamespace({ namespace, organization: { name: `matrix_${mark}` }, admin, createdBy: 'test' });
  await t.engine.identity.createUser({
    username: `u${mark}`,
    password: 'correct horse',
    namespace,
    profiles: ['user', 'user__system'],
    createdBy: 'test',
  });
  callers.A = (await t.engine.identity.login(`a${mark}`, 'correct horse', '10.0.0.1')).identity;
  callers.U = (await t.engine.identity.login(`u${mark}`, 'correct horse', '10.0.0.1')).identity;
  await asked(callers.A, 'insert', 'types', { body: { name: 'MatrixType', properties: {} } });
  const text = 'PROCEDURE matrix(message)\nreturn ResourceAPI.executeOp(message)';
  await asked(callers.A, 'insert', 'procedures', { text });
});
afterAll(() => t[Symbol.asyncDispose]());

interface Asked {
  id?: string;
  body?: unknown;
  text?: string;
}

async function asked(identity: Identity, op: string, resourceName: string, { id, body, text }: Asked): Promise<ApiReply> {
  const isCustom = resourceName.startsWith('custom/');
  return t.engine.execute({
    identity,
    op,
    resourceName: isCustom ? resourceName.slice('custom/'.length) : resourceName,
    custom: isCustom,
    ...(id !== undefined && { resourceId: id }),
    ...(body !== undefined && { object: parseJson(JSON.stringify(body)) }),
    ...(text !== undefined && { text }),
    parameters: {},
  });
}

/** A request whose id or body means nothing, or is the caller's own: who may not ask at all is told so before that. */
function requestOf(op: Operation, resource: string, { username, namespace }: Identity): Asked {
  const ids: Record<string, string> = { organizations: `matrix_${mark}`, namespaces: namespace, users: username };
  const id = ids[resource] ?? 'nothing';
  if (op === 'select') return {};
  if (op === 'aggregate') return { body: [] };
  if (op === 'insert') return { body: resource === 'namespaces' ? { namespace: `Other_${mark}` } : {} };
  return { id, body: resource === 'organizations' ? { description: 'x' } : {} };
}

async function outcomeOf(request: () => Promise<unknown>): Promise<Outcome> {
  try {
    await request();
    return 'open';
  } catch (error) {
    const { code } = ((error as { errors?: { code: string }[] }).errors?.[0] ?? error) as { code?: string };
    if (code === undefined) throw error;
    if (code === 'cascade.authorization.denied') return '403';
    return code === 'cascade.method.not.allowed' ? '405' : 'open';
  }
}

const ROLES = ['U', 'A'] as const;
const PROGRAMS: ReadonlySet<string> = new Set(['select', 'insert', 'update', 'delete', 'aggregate']);

/** Every operation and role of a resource, but for the deletion that would take away what the others need. */
const cellsOf = (resource: string, row: Row): [Operation, 'U' | 'A', Outcome][] =>
  Object.entries(row).flatMap(([op, cell]) =>
    ROLES.filter((role) => !(resource === 'namespaces' && op === 'delete' && role === 'A')).map((role): [Operation, 'U' | 'A', Outcome] => [
      op as Operation,
      role,
      cell === '405' ? '405' : cell.includes(role) ? 'open' : '403',
    ]),
  );

async function foundOf(cells: ReturnType<typeof cellsOf>, ask: (op: Operation, caller: Identity) => Promise<unknown>) {
  return Promise.all(cells.map(async ([op, role]) => [op, role, await outcomeOf(() => ask(op, callers[role]))]));
}

test.each(Object.entries(MATRIX))('%s, as a client asks', async (resource, row) => {
  const cells = cellsOf(resource, row);
  const found = await foundOf(cells, (op, caller) => asked(caller, op, resource, requestOf(op, resource, caller)));
  expect(found).toEqual(cells);
});

test.each(Object.entries(MATRIX))('%s, as a program asks', async (resource, row) => {
  const cells = cellsOf(resource, row).filter(([op]) => PROGRAMS.has(op));
  const found = await foundOf(cells, (op, caller) => {
    const { id, body } = requestOf(op, resource, caller);
    const message = {
      op,
      resourceName: resource,
      ...(id !== undefined && { resourceId: id }),
      ...(body !== undefined && { object: body }),
    };
    return asked(caller, 'execute', 'procedures', { id: 'matrix', body: [message] });
  });
  expect(found).toEqual(cells);
});
