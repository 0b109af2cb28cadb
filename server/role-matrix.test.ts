// spec: resources-and-api.md 7.5 13
// The matrix of the default profiles (resources-and-api.md 7.5): every resource, operation and role, over REST, WebSocket and from a program.
// The tests check only whether the operation is allowed: errors of the request itself are found later.
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FEATURES } from '../engine/features.ts';
import { openTestEngine, type TestEngine } from '../engine/testing/engine.ts';
import { type Listener, listen } from './listen.ts';
import { BINDINGS, Caller, type Outcome as Answer, PROGRAM } from './testing/bindings.ts';

type Outcome = 'open' | '403' | '405';
type Operation = 'select' | 'insert' | 'update' | 'patch' | 'delete' | 'execute' | 'publish' | 'query' | 'aggregate';

/** The roles with the right: U user, A admin; or the status that all of them get. */
type Cell = string;
type Row = Partial<Record<Operation, Cell>>;

const DEFINITIONS: Row = { select: 'UA', insert: 'A', update: 'A', delete: 'A', aggregate: 'UA' };
const OWN: Row = { select: 'UA', insert: 'UA', update: 'UA', delete: 'UA', aggregate: 'UA' };
const ADMINS: Row = { select: 'A', insert: 'A', update: 'A', delete: 'A', aggregate: 'A' };

const MATRIX: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(
    [
      ...['types', 'scalars', 'rules', 'services', 'nodes', 'profiles', 'scheduledevents'],
      ...['configurations', 'debugconfigs', 'deployconfigs'],
      ...['custom/ArsResourceConfig', 'custom/ArsActivityPattern', 'custom/ArsCollaborationType'],
    ].map((name) => [name, DEFINITIONS]),
  ),
  'custom/MatrixType': DEFINITIONS,
  procedures: { ...DEFINITIONS, execute: 'UA' },
  sources: { ...DEFINITIONS, publish: 'A', query: 'A' },
  topics: { ...DEFINITIONS, publish: 'UA' },
  documents: OWN,
  groups: OWN,
  users: { select: 'UA', insert: 'A', update: 'UA', delete: 'A', aggregate: 'UA' },
  // A user without tokens gets 404 for a deletion, not a refusal.
  tokens: { select: 'UA', insert: 'A', update: 'A', patch: '405', delete: 'UA', aggregate: 'UA' },
  audits: { select: 'UA', insert: 'UA', update: '405', delete: 'A', aggregate: 'UA' },
  logs: { select: 'UA', insert: '405', update: '405', delete: 'A', aggregate: 'UA' },
  // The namespace is the root of an organization.
  namespaces: { select: 'UA', insert: 'A', update: 'A', delete: 'A', aggregate: 'UA' },
  organizations: { select: 'UA', update: '', delete: '', aggregate: 'UA' },
  secrets: ADMINS,
  projects: ADMINS,
  'custom/ArsPushTarget': OWN,
  'custom/ArsPayloadMessage': { select: 'UA', insert: 'A', update: 'A', delete: 'A' },
  'custom/ArsSubscription': { select: 'UA', insert: '405', update: '405', delete: 'UA' },
  'custom/ArsEventAcknowledgement': { select: 'UA', insert: '405', update: '405', delete: 'UA' },
  'custom/ArsRuleSnapshot': { select: 'UA', insert: '405', update: '405', delete: 'UA' },
  ...Object.fromEntries(['ArsChat', 'ArsChatMessage', 'ArsActiveTrack'].map((name) => [`custom/${name}`, DEFINITIONS])),
  collaborations: ADMINS,
  deploystatus: ADMINS,
  deadletters: { select: 'A', insert: '405', update: '405', delete: 'A' },
};

let t: TestEngine;
let listener: Listener;
const callers: Record<'U' | 'A', Caller> = {} as never;
const mark = randomBytes(4).toString('hex');
const namespace = `Matrix_${mark}`;

beforeAll(async () => {
  t = await openTestEngine();
  listener = await listen({ engine: t.engine, log: pino({ level: 'silent' }), port: 0, host: '127.0.0.1' });
  const password = 'correct horse';
  const admin = { username: `a${mark}`, profiles: ['admin', 'user__system'], password };
  const user = { username: `u${mark}`, profiles: ['user', 'user__system'], password };
  await t.engine.identity.createNamespace({ namespace, organization: { name: `matrix_${mark}` }, admin, createdBy: 'test' });
  await t.engine.identity.createUser({ ...user, namespace, createdBy: 'test' });
  callers.A = new Caller(listener.port, admin.username, password);
  callers.U = new Caller(listener.port, user.username, password);
  for (const caller of Object.values(callers)) await caller.login();
  await callers.A.ask('REST', { op: 'insert', resource: 'types', body: { name: 'MatrixType', properties: {} } });
  expect((await callers.A.ask('REST', { op: 'insert', resource: 'procedures', text: PROGRAM })).status).toBe(200);
});
afterAll(async () => {
  for (const caller of Object.values(callers)) await caller[Symbol.asyncDispose]();
  await listener[Symbol.asyncDispose]();
  await t[Symbol.asyncDispose]();
});

/** The rest of a request: ids and bodies that mean nothing, or the caller's own. */
function restOf(op: Operation, resource: string, { username }: Caller): { id?: string; body?: unknown } {
  const ids: Record<string, string> = { organizations: `matrix_${mark}`, namespaces: namespace, users: username };
  const id = ids[resource] ?? 'nothing';
  if (op === 'select') return {};
  if (op === 'aggregate') return { body: [] };
  if (op === 'insert') return { body: resource === 'namespaces' ? { namespace: `Other_${mark}` } : {} };
  if (op === 'execute' || op === 'patch') return { id, body: [] };
  return { id, ...(op !== 'delete' && { body: resource === 'organizations' ? { description: 'x' } : {} }) };
}

function openness({ status, code }: Answer): Outcome {
  if (status >= 500) throw new Error(`${status} ${code}`);
  if (code === 'cascade.authorization.denied') return '403';
  return code === 'cascade.method.not.allowed' ? '405' : 'open';
}

const ROLES = ['U', 'A'] as const;

/** Every operation and role of a resource (PATCH is as UPDATE), except the deletion that would remove what the others need. */
const cellsOf = (resource: string, row: Row): [Operation, 'U' | 'A', Outcome][] =>
  Object.entries({ ...(row.update !== undefined && { patch: row.update }), ...row }).flatMap(([op, cell]) =>
    ROLES.filter((role) => !(resource === 'namespaces' && op === 'delete' && role === 'A')).map((role): [Operation, 'U' | 'A', Outcome] => [
      op as Operation,
      role,
      cell === '405' ? '405' : cell.includes(role) ? 'open' : '403',
    ]),
  );

test('every resource that a feature registers has its row', () => {
  const registered = [...FEATURES.addressed()].map(({ name }) => (name.startsWith('Ars') ? `custom/${name}` : name));
  expect(registered.filter((name) => !Object.hasOwn(MATRIX, name))).toEqual([]);
});

describe.each(BINDINGS)('by %s', (binding) => {
  test.each(Object.entries(MATRIX))('%s', async (resource, row) => {
    const cells = cellsOf(resource, row);
    const found = cells.map(async ([op, role]) => {
      const answered = await callers[role].ask(binding, { op, resource, ...restOf(op, resource, callers[role]) });
      return [op, role, openness(answered)];
    });
    expect(await Promise.all(found)).toEqual(cells);
  });
});

// ---------------------------------------------------------------- capabilities of profiles (7.1)
const GRANTED: Readonly<Record<string, string>> = {
  types: 'Type',
  rules: 'Rule',
  procedures: 'Procedure',
  services: 'Service',
  sources: 'Source',
  topics: 'Topic',
  scalars: 'Scalar',
  nodes: 'Node',
  profiles: 'Profile',
  configurations: 'Configuration',
  debugconfigs: 'DebugConfig',
  scheduledevents: 'ScheduledEvent',
  users: 'User',
  tokens: 'Token',
};
const VERBS = { insert: 'create', update: 'update', patch: 'update', delete: 'delete' } as const;
/** Whether the rights of all users, or nobody's, decide already: then no capability is checked. */
const isFixed = (resource: string, op: string): boolean =>
  (resource === 'tokens' && (op === 'patch' || op === 'delete')) || (resource === 'users' && op !== 'insert');

/** A user whose profile has exactly these capabilities. */
async function grantee(name: string, invoke: readonly string[]): Promise<Caller> {
  const username = `${name}${mark}`;
  await callers.A.ask('REST', { op: 'insert', resource: 'profiles', body: { name, dml: {}, invoke } });
  await t.engine.identity.createUser({
    username,
    password: 'correct horse',
    namespace,
    profiles: [name, 'user__system'],
    createdBy: 'test',
  });
  const caller = new Caller(listener.port, username, 'correct horse');
  await caller.login();
  return caller;
}

test('each capability of a profile allows its operation on its resource, and no other', async () => {
  const resources = Object.keys(GRANTED);
  for (const verb of ['create', 'update', 'delete']) {
    const granted = resources.filter((_, i) => i % 2 === 0);
    await using caller = await grantee(
      `may_${verb}`,
      granted.map((resource) => `${verb}${GRANTED[resource]}`),
    );
    for (const resource of resources)
      for (const op of Object.keys(VERBS) as (keyof typeof VERBS)[]) {
        if (isFixed(resource, op)) continue;
        const answered = await caller.ask('REST', { op, resource, ...restOf(op, resource, caller) });
        const isOpen = VERBS[op] === verb && granted.includes(resource);
        expect([verb, resource, op, openness(answered)]).toEqual([verb, resource, op, isOpen ? 'open' : '403']);
      }
  }
});

test('querySource and publish open sources; false for executeProcedure or publish withdraws the right of all users', async () => {
  await using both = await grantee('may_ask', ['querySource', 'publish']);
  await using none = await grantee('may_nothing', []);
  for (const op of ['query', 'publish'] as const) {
    const request = { op, resource: 'sources', id: 'nothing', body: {} };
    expect([op, openness(await both.ask('REST', request)), openness(await none.ask('REST', request))]).toEqual([op, 'open', '403']);
  }
  const closed = { executeProcedure: false, publish: false };
  await callers.A.ask('REST', { op: 'update', resource: 'profiles', id: 'may_nothing', body: { invoke: closed } });
  expect(openness(await none.ask('REST', { op: 'execute', resource: 'procedures', id: 'ask', body: [{}] }))).toBe('403');
  expect(openness(await none.ask('WebSocket', { op: 'publish', resource: 'topics', id: '/a', body: {} }))).toBe('403');
  expect(openness(await both.ask('REST', { op: 'publish', resource: 'topics', id: '/a', body: {} }))).toBe('open');
  for (const binding of ['REST', 'WebSocket'] as const) {
    const inbound = { op: 'publish', resource: 'services', id: 'Nothing/in', body: {} } as const;
    expect([openness(await none.ask(binding, inbound)), openness(await both.ask(binding, inbound))]).toEqual(['403', 'open']);
  }
});
