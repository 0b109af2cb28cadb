// The operations of the resource API for programs (builtins.md 21): the same requests as a client's, carried out as the run's own
// statements are, so that their effects are recorded with it. What they give is a result list (language.md Q7).
import { decodeInner, encodeInner, isObject, numberOf, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiRequest } from '../../resources/api.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { parseProps, parseSort } from '../../model/query/index.ts';
import { CascadeError, isApiError } from '../../model/errors/index.ts';
import {
  resolve,
  type InstallationResource,
  type InstanceResource,
  type Namespace,
  type Resource,
  type HostBuiltins,
} from '../../resources/catalog/index.ts';
import { cursors, remember, insertMany, selectPages } from '../../resources/instances/index.ts';
import { carryOut, executeProcedure, idOf as requestedId } from '../../resources/requests/index.ts';
import { ownOnly, requireRight, withOwn } from '../../resources/access/index.ts';
import { idOf } from '../../resources/representation/index.ts';
import { parseJson } from '../../model/values/index.ts';
import { requestOf } from './messages.ts';
import { typed } from './typed-rows.ts';

const asList: Shape = (list) => ({ list });
const asRow: Shape = (_list, [row = 'null']) => ({ ok: row });

export const resourceApi: HostBuiltins = {
  'ResourceAPI.executeOp': async (space, [message = null], actor) =>
    answerTo(space, requestOf(message as ObjectValue, actor.identity), actor, asList),
  'ResourceAPI.executeOpAsSequence': executeOpAsSequence,
  'ResourceAPI.patch': async (space, [resourceName = null, resourceId = null, object = null], actor) =>
    answerTo(space, requestOf({ op: 'patch', resourceName, resourceId, object }, actor.identity), actor, asRow),
};

/** What the program is answered: from all the rows as one text, or one by one. */
type Shape = (list: string, rows: readonly string[]) => Answer;

/** The first page. All rows of a condition are walked through, however many; what else there is to read is one page. */
async function executeOpAsSequence(space: Namespace, [message = null]: readonly Value[], actor: Actor): Promise<Answer> {
  const request = requestOf(message as ObjectValue, actor.identity);
  const pages = walkOf(space, request, actor);
  if (pages) return { ok: await cursors.open(pages) };
  return answerTo(space, request, actor, (list) => ({ ok: `{"cursor":null,"rows":${list},"done":true}` }));
}

/** Null where the result is not a walk: one instance, a page of them, a count, a resource that is in memory. */
function walkOf(
  space: Namespace,
  { op, resourceName, custom, resourceId, parameters }: ApiRequest,
  actor: Actor,
): ReturnType<typeof selectPages> | null {
  if (space.catalog.features.installationResource(resourceName, custom)) return null;
  if (op !== 'select' || resourceId !== undefined || ['page', 'limit', 'count'].some((name) => Object.hasOwn(parameters, name)))
    return null;
  const resource = resolve(space, resourceName, custom);
  if (resource.kind !== 'instances') return null;
  requireRight(space, resource, op, actor.identity);
  const { sort = {}, props } = parameters;
  const where = withOwn(parameters['where'], ownOnly(space, resource, op, actor.identity));
  parseSort(sort, resource.type);
  const orderBy = Object.entries(sort as ObjectValue).map(([path, direction]) => [path, numberOf(direction) < 0] as const);
  return selectPages(space, resource, { where, orderBy, props: props === undefined ? null : parseProps(props), skip: 0, limit: 0 }, actor);
}

const INSTANCE_OPERATIONS: ReadonlySet<string> = new Set(['insert', 'upsert', 'update', 'patch']);

async function answerTo(space: Namespace, request: ApiRequest, actor: Actor, shape: Shape): Promise<Answer> {
  const several = Array.isArray(request.object) && (request.op === 'insert' || request.op === 'upsert');
  if (several && !space.catalog.features.installationResource(request.resourceName, request.custom))
    return answerToMany(space, request, actor, shape);
  const shaped = (rows: readonly string[], count: number): Answer => {
    const all = request.parameters['count'] === true ? [`{"count":${count}}`, ...rows] : rows;
    return shape(`[${all.join(',')}]`, rows);
  };
  // An operation with one effect is recorded with what the program gets for it.
  let recorded: Answer | null = null;
  const recording: Actor = {
    ...actor,
    commit: async (unit, answer, part) => {
      if (answer === undefined || !('ok' in answer)) return actor.commit(unit, answer, part);
      const rows = INSTANCE_OPERATIONS.has(request.op) ? [answer.ok] : request.op === 'publish' ? ['{}'] : [];
      const given = shaped(rows, request.op === 'delete' ? Number(answer.ok) : 1);
      await actor.commit(unit, given);
      recorded = given;
    },
  };
  const rows = await rowsOf(space, request, recording);
  return recorded ?? shape(encodeInner(rows), rows.slice(0, 1).map(encodeInner));
}

/**
 * Several instances in one message. All that a repetition after a crash must not store again stands in one unit where the store
 * takes them all; else they go as a client's do, each for itself (resources-and-api.md 2.12).
 */
async function answerToMany(space: Namespace, request: ApiRequest, actor: Actor, shape: Shape): Promise<Answer> {
  const resource = resolve(space, request.resourceName, request.custom);
  const bodies = request.object as Value[];
  requireRight(space, resource, request.op, actor.identity);
  if (actor.childRunIds !== null && request.op === 'insert' && resource.kind === 'instances' && resource.operations.has('insert')) {
    const stored = await atOnce(space, resource, bodies, actor, shape, request.parameters['count'] === true);
    if (stored) return stored;
  }
  const apart: Actor = { ...actor, commit: (unit) => actor.commit(unit) };
  const answer = shape(encodeInner(await rowsOf(space, request, apart)), []);
  if (actor.childRunIds !== null) await actor.commit({ writes: [], events: [] }, answer);
  return answer;
}

/** Null when one of them is refused: then nothing is stored. */
async function atOnce(
  space: Namespace,
  resource: InstanceResource,
  bodies: readonly Value[],
  actor: Actor,
  shape: Shape,
  counted: boolean,
): Promise<Answer | null> {
  let recorded: Answer | null = null;
  const wholeOnly: Actor = {
    ...actor,
    commit: async (unit, answer) => {
      if (answer === undefined || !('ok' in answer)) throw new NotAtOnce();
      const rows = answer.ok;
      const given = shape(counted ? `[{"count":${unit.writes.length}}${rows === '[]' ? ']' : `,${rows.slice(1)}`}` : rows, []);
      await actor.commit(unit, given);
      recorded = given;
    },
  };
  try {
    await insertMany(space, resource, bodies, wholeOnly);
    return recorded;
  } catch (error) {
    if (error instanceof NotAtOnce || isApiError(error)) return null;
    throw error;
  }
}

/** Some of several are about to be stored without the others. */
class NotAtOnce extends Error {}

/**
 * The results of a request, each a value of the language.
 * @throws CascadeError what a client would be told
 */
export async function rowsOf(space: Namespace, request: ApiRequest, actor: Actor): Promise<Value[]> {
  const account = space.catalog.features.installationResource(request.resourceName, request.custom);
  if (account) return accountRows(space, account, request, actor);
  const resource = resolve(space, request.resourceName, request.custom);
  if (request.op === 'execute' && resource.name === 'procedures') {
    const result = decodeInner(await executeProcedure(space, requestedId(request), request, actor));
    return Array.isArray(result) ? result : [result];
  }
  for (;;) {
    const reply = await carryOut(space, { ...request, exactReals: true }, actor);
    const body = reply.body === undefined ? [] : parseJson(reply.body);
    const rows = Array.isArray(body) ? body : [body];
    if (reply.status >= 400) throw firstOf(rows, reply.status);
    const values = isOfResource(request.op) ? rows.map((row) => typed(resource.type, row)) : rows;
    if (request.op.startsWith('select') && (await mustReadAgain(resource, values, actor))) continue;
    return reply.count === undefined ? values : [{ count: reply.count }, ...values];
  }
}

/** Users, tokens and namespaces are the installation's: what is done to them is not part of the run's own commits. */
async function accountRows(space: Namespace, account: InstallationResource, request: ApiRequest, actor: Actor): Promise<Value[]> {
  const reply = await account.carryOut(space, request, actor);
  const body = reply.body === undefined ? [] : parseJson(reply.body);
  const rows = Array.isArray(body) ? body : [body];
  return reply.count === undefined ? rows : [{ count: reply.count }, ...rows];
}

const isOfResource = (op: string): boolean => op.startsWith('select') || INSTANCE_OPERATIONS.has(op);

/** Every one of several was refused: the first refusal stands for them. */
function firstOf(errors: readonly Value[], status: number): CascadeError {
  const [first = null] = errors;
  const { code, message, params } = (isObject(first) ? first : {}) as { code?: string; message?: string; params?: Value[] };
  return new CascadeError(code ?? 'cascade.server.unexpected', message ?? '', params ?? [], status);
}

/** Reading for a rule is as by SELECT (language.md U7): what it has read is remembered, and a contended instance has its line. */
async function mustReadAgain(resource: Resource, rows: readonly Value[], actor: Actor): Promise<boolean> {
  if (resource.kind !== 'instances' || !actor.readSet) return false;
  const whole = rows.filter((row): row is ObjectValue => isObject(row) && Object.hasOwn(row, '_id') && Object.hasOwn(row, 'ars_version'));
  const turn = await actor.readSet.turn(resource.collection, whole.map(idOf));
  if (turn !== 'go on' && turn !== 'read again') await turn.settled();
  if (turn !== 'go on') return true;
  remember(resource, whole, actor);
  return false;
}
