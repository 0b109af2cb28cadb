// The resource API for programs (builtins.md 21): the requests of clients, carried out like the run's own statements, so that their effects
// are recorded with the run. Results are result lists (language.md Q7).
import { decodeInner, encodeInner, isObject, numberOf, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type Actor, committing } from '../../runtime/context/index.ts';
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
import { CURSORS, hasRulesBefore, remember, insertMany, selectPages } from '../../resources/instances/index.ts';
import { carryOut, executeProcedure, idOf as requestedId } from '../../resources/requests/index.ts';
import { ownOnly, refuseInPart, requireRight, withOwn } from '../../resources/access/index.ts';
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

/** Shapes the answer to the program: all rows as one text, or row by row. */
type Shape = (list: string, rows: readonly string[]) => Answer;

/** The first page of a sequence. A query by condition is paged through completely; other results are a single page. */
async function executeOpAsSequence(space: Namespace, [message = null]: readonly Value[], actor: Actor): Promise<Answer> {
  const request = requestOf(message as ObjectValue, actor.identity);
  const pages = walkOf(space, request, actor);
  if (pages) return { ok: await space.states.get(CURSORS).open(pages, actor) };
  return answerTo(space, request, actor, (list) => ({ ok: `{"cursor":null,"rows":${list},"done":true}` }));
}

/** The cursor of a query; null where the result is no query: an instance, a single page, a count, a resource in memory. */
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
  const own = ownOnly(space, resource, op, actor.identity);
  if (own) refuseInPart(resource, parameters['where'], sort);
  const where = withOwn(parameters['where'], own);
  const partOf = own ? actor.identity.username : undefined;
  parseSort(sort, resource.type);
  const orderBy = Object.entries(sort as ObjectValue).map(([path, direction]) => [path, numberOf(direction) < 0] as const);
  return selectPages(
    space,
    resource,
    { where, orderBy, props: props === undefined ? null : parseProps(props), skip: 0, limit: 0, partOf },
    actor,
  );
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
  // An operation with a single effect records its result together with the effect.
  let recorded: Answer | null = null;
  const recording = committing(actor, async (unit, answer, part) => {
    if (answer === undefined || !('ok' in answer)) return actor.commit(unit, answer, part);
    const rows = INSTANCE_OPERATIONS.has(request.op) ? [answer.ok] : request.op === 'publish' ? ['{}'] : [];
    const given = shaped(rows, request.op === 'delete' ? Number(answer.ok) : 1);
    await actor.commit(unit, given);
    recorded = given;
  });
  const rows = await rowsOf(space, request, recording);
  return recorded ?? shape(encodeInner(rows), rows.slice(0, 1).map(encodeInner));
}

/**
 * Several instances in one message. If all are accepted, and no BEFORE rules run, the effects are stored in one unit; otherwise each instance
 * is stored on its own, as for clients (resources-and-api.md 2.12).
 */
async function answerToMany(space: Namespace, request: ApiRequest, actor: Actor, shape: Shape): Promise<Answer> {
  const resource = resolve(space, request.resourceName, request.custom);
  const bodies = request.object as Value[];
  requireRight(space, resource, request.op, actor.identity);
  const isAtOnce =
    request.op === 'insert' &&
    resource.kind === 'instances' &&
    resource.operations.has('insert') &&
    !hasRulesBefore(space, resource.type, 'insert');
  if (actor.childRunIds !== null && isAtOnce) {
    const stored = await atOnce(space, resource, bodies, actor, shape, request.parameters['count'] === true);
    if (stored) return stored;
  }
  // Each is a part of the statement, which a repetition goes on behind.
  const separately = committing(actor, (unit, _, part) => actor.commit(unit, undefined, part));
  const answer = shape(encodeInner(await rowsOf(space, request, separately)), []);
  if (actor.childRunIds !== null) await actor.commit({ writes: [], events: [] }, answer);
  return answer;
}

/** Stores all instances in one unit; null when one of them is refused, and nothing is stored. */
async function atOnce(
  space: Namespace,
  resource: InstanceResource,
  bodies: readonly Value[],
  actor: Actor,
  shape: Shape,
  counted: boolean,
): Promise<Answer | null> {
  let recorded: Answer | null = null;
  const wholeOnly = committing(actor, async (unit, answer) => {
    if (answer === undefined || !('ok' in answer)) throw new NotAtOnce();
    const rows = answer.ok;
    const given = shape(counted ? `[{"count":${unit.writes.length}}${rows === '[]' ? ']' : `,${rows.slice(1)}`}` : rows, []);
    await actor.commit(unit, given);
    recorded = given;
  });
  try {
    await insertMany(space, resource, bodies, wholeOnly);
    return recorded;
  } catch (error) {
    if (error instanceof NotAtOnce || isApiError(error)) return null;
    throw error;
  }
}

/** Signals that only some of several instances could be stored. */
class NotAtOnce extends Error {}

/**
 * The results of a request, each a value of the language.
 * @throws CascadeError, the error that a client would get
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

/** Users, tokens and namespaces belong to the installation: changes of them are not part of the run's commits. */
async function accountRows(space: Namespace, account: InstallationResource, request: ApiRequest, actor: Actor): Promise<Value[]> {
  const reply = await account.carryOut(space, request, actor);
  const body = reply.body === undefined ? [] : parseJson(reply.body);
  const rows = Array.isArray(body) ? body : [body];
  if (reply.status >= 400) throw firstOf(rows, reply.status);
  const values = isOfResource(request.op) ? rows.map((row) => typed(account.type, row)) : rows;
  return reply.count === undefined ? values : [{ count: reply.count }, ...values];
}

const isOfResource = (op: string): boolean => op.startsWith('select') || INSTANCE_OPERATIONS.has(op);

/** The first of several errors, where all instances were refused. */
function firstOf(errors: readonly Value[], status: number): CascadeError {
  const [first = null] = errors;
  const { code, message, params } = (isObject(first) ? first : {}) as { code?: string; message?: string; params?: Value[] };
  return new CascadeError(code ?? 'cascade.server.error', message ?? '', params ?? [], status);
}

/**
 * Records what a rule reads, as SELECT does (language.md U7): versions enter the read set, and runs take turns for a contended instance.
 */
async function mustReadAgain(resource: Resource, rows: readonly Value[], actor: Actor): Promise<boolean> {
  if (resource.kind !== 'instances' || !actor.readSet) return false;
  const whole = rows.filter((row): row is ObjectValue => isObject(row) && Object.hasOwn(row, '_id') && Object.hasOwn(row, 'ars_version'));
  const turn = await actor.readSet.turn(resource.collection, whole.map(idOf));
  if (turn !== 'go on' && turn !== 'read again') await turn.settled();
  if (turn !== 'go on') return true;
  remember(resource, whole, actor);
  return false;
}
