// Converts statements to requests of the generic API (integrations.md 11.3): only values are sent, no text of the language.
import { encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { aggregated } from './aggregates.ts';
import { whole } from './options.ts';
import { CascadeError, apiError, isApiError } from '../../model/errors/index.ts';
import { type InstanceQuery, instanceQuery, namedPath, parseWhere } from '../../model/query/index.ts';
import { toTypedJson, Untransferable } from '../../model/values/index.ts';
import { own } from '../../resources/operations/index.ts';
import { keepOfRows } from '../../resources/representation/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { scheduleOfStatement } from '../schedules/index.ts';
import { errorIn, type NodeAnswer, type NodeRequest } from './node-client.ts';

export const PAGE_ROWS = 1_000;
const USUAL_ROWS = 1_000;

/** Sends a request to the node. */
export type Send = (request: NodeRequest) => Promise<NodeAnswer>;

export interface Asked {
  readonly kind: string;
  readonly statement: ObjectValue;
  /** Whether all rows of a SELECT are returned as one value. */
  readonly gathers: boolean;
  /** Whether the statement has a block, which takes rows as they arrive. */
  readonly streams: boolean;
  readonly requestId: string;
}

/**
 * The results of a statement on a node, page by page; `from`: pages that were taken already.
 * @throws CascadeError, HttpFailure, EgressError
 */
export type Carried = AsyncGenerator<Value[], void>;

const WRITES = new Set(['insert', 'upsert', 'update', 'delete', 'publish', 'publishSource', 'publishServiceEvent', 'create', 'drop']);
export const isWrite = (kind: string): boolean => WRITES.has(kind);

/** @throws cascade.federation.value */
function json(value: Value, isCondition = false): string {
  try {
    return toTypedJson(value, isCondition);
  } catch (error) {
    if (error instanceof Untransferable) throw apiError('cascade.federation.value', 'a value of it is no data');
    throw error;
  }
}

const text = (object: ObjectValue, name: string): string => String(getOwn(object, name));

/** The resource of a statement; a type is distinguished from a resource of the service. */
function resourceOf(space: Namespace, statement: ObjectValue): Pick<NodeRequest, 'resource' | 'isType'> {
  const resource = text(statement, 'resource').replace(/^system\./, '');
  const isSystem =
    space.catalog.features.named(resource) !== undefined || space.catalog.features.installationResource(resource, null) !== undefined;
  return isSystem && !resource.startsWith('Ars') ? { resource } : { resource, isType: true };
}

type Write = (
  space: Namespace,
  statement: ObjectValue,
) => { request: Omit<NodeRequest, 'requestId'>; result: (answer: NodeAnswer) => Value };

const stored =
  (statement: ObjectValue) =>
  (answer: NodeAnswer): Value => {
    const values = getOwn(statement, 'values');
    return Array.isArray(values) || !Array.isArray(answer.value) ? answer.value : (answer.value[0] ?? null);
  };
const nothing = (): Value => null;
const KINDS: Readonly<Record<string, string>> = {
  rule: 'rules',
  procedure: 'procedures',
  type: 'types',
  topic: 'topics',
  source: 'sources',
  node: 'nodes',
};

/** The request of each kind of write. */
const writes: Readonly<Record<string, Write>> = {
  insert: (space, statement) => ({
    request: { op: 'insert', ...resourceOf(space, statement), object: json(getOwn(statement, 'values')) },
    result: stored(statement),
  }),
  upsert: (space, statement) => ({
    request: { op: 'upsert', ...resourceOf(space, statement), object: json(getOwn(statement, 'values')) },
    result: stored(statement),
  }),
  update: (space, statement) => ({
    request: {
      op: 'update',
      ...resourceOf(space, statement),
      parameters: { where: json(getOwn(statement, 'where'), true) },
      object: json(getOwn(statement, 'values')),
    },
    result: ({ value }) => value,
  }),
  delete: (space, statement) => ({
    request: {
      op: 'delete',
      ...resourceOf(space, statement),
      parameters: { where: json(getOwn(statement, 'where'), true), count: 'true' },
    },
    result: ({ count, value }) => count ?? value,
  }),
  publish: (_space, statement) => {
    const schedule = own(statement, 'schedule');
    const [topic, message] = [text(statement, 'topic'), getOwn(statement, 'value')];
    if (schedule === null) return { request: { op: 'publish', resource: 'topics', id: topic, object: json(message) }, result: nothing };
    return {
      request: { op: 'insert', resource: 'scheduledevents', object: json({ ...scheduleOfStatement(schedule), topic, message }) },
      result: nothing,
    };
  },
  publishSource: (_space, statement) => {
    const [value, using] = [getOwn(statement, 'value'), own(statement, 'using')];
    const object = json(isObject(value) && isObject(using) ? { ...value, ...using } : (value ?? using));
    return { request: { op: 'publish', resource: 'sources', id: text(statement, 'source'), object }, result: nothing };
  },
  publishServiceEvent: (_space, statement) => {
    const id = text(statement, 'target').replace(/^([^/]+)\.([^./]+)$/, '$1/$2');
    return { request: { op: 'publish', resource: 'services', id, object: json(getOwn(statement, 'value')) }, result: nothing };
  },
  create: (_space, statement) => {
    const [value, options] = [getOwn(statement, 'value'), own(statement, 'options')];
    const active = isObject(options) && Object.hasOwn(options, 'active') ? getOwn(options, 'active') : null;
    const body: Value = typeof value === 'string' ? { ruleText: value } : value;
    return {
      request: definitionRequest(KINDS[text(statement, 'kind')] ?? '', body, typeof active === 'boolean' ? active : null),
      result: ({ value: made }) => (Array.isArray(made) ? (made[0] ?? null) : made),
    };
  },
  drop: (space, statement) => {
    const names = namesOf(statement);
    // One request, which can be repeated: of several names the one that there is here; else that of the package, which deployments bring there.
    const id = names.find((name) => space.catalog.definitions.get('procedures', name) !== undefined) ?? names.at(-1) ?? '';
    return { request: { op: 'delete', resource: KINDS[text(statement, 'kind')] ?? '', id }, result: nothing };
  },
};

/** Creates a definition or replaces the one of that name. @param active null: unchanged, or the default */
export function definitionRequest(kind: string, body: Value, active: boolean | null): Omit<NodeRequest, 'requestId'> {
  const isProgram = kind === 'rules' || kind === 'procedures';
  if (isProgram)
    return { op: 'insert', resource: kind, ...(active !== null && { parameters: { active: String(active) } }), object: json(body) };
  return { op: 'upsert', resource: kind, object: json(active === null || !isObject(body) ? body : { ...body, active }) };
}

/** The request of a write. @throws cascade.federation.value */
export function writeOf(
  space: Namespace,
  { kind, statement, requestId }: Asked,
): { request: NodeRequest; result: (answer: NodeAnswer) => Value } {
  const { request, result } = (writes[kind] as Write)(space, statement);
  return { request: { ...request, requestId }, result };
}

/** The result of a write; the failure of one of several instances fails the whole. @throws CascadeError */
export function writtenValue(answer: NodeAnswer, result: (answer: NodeAnswer) => Value): Value {
  if (answer.isPartial && Array.isArray(answer.value))
    for (const one of answer.value) {
      const error =
        isObject(one) && Object.hasOwn(one, 'errors') ? errorIn(getOwn(one, 'errors'), Number(own(one, 'status') ?? 400)) : null;
      if (error) throw error;
    }
  return result(answer);
}

export async function* carriedOut(space: Namespace, asked: Asked, send: Send, from = 0): Carried {
  const { kind, statement } = asked;
  if (kind === 'select') return yield* selected(space, asked, send, from);
  if (from > 0) return;
  if (isWrite(kind)) {
    const { request, result } = writeOf(space, asked);
    yield [writtenValue(await send(request), result)];
  } else if (kind === 'execute') yield [await executedFirst(namesOf(statement), statement, send)];
  else if (kind === 'executeAll') yield [await executedAll(statement, send)];
  else if (kind === 'query') {
    const object = json(getOwn(statement, 'request') ?? {});
    yield [(await send({ op: 'query', resource: 'sources', id: text(statement, 'source'), object })).value];
  } else throw apiError('cascade.federation.value', `${kind} is no statement for nodes`);
}

/** What a name of a text may mean (language.md N7), in their order. */
export function namesOf(statement: ObjectValue): string[] {
  const name = getOwn(statement, 'name');
  return Array.isArray(name) ? name.map(String) : [String(name)];
}

/** Executes the first procedure that the node has. @throws of none the error for the first name, as it was written */
async function executedFirst(names: readonly string[], statement: ObjectValue, send: Send): Promise<Value> {
  let unknown: unknown;
  for (const name of names)
    try {
      return await executed(name, statement, send);
    } catch (error) {
      if (!isUnknownProcedure(error, name)) throw error;
      unknown ??= error;
    }
  throw unknown;
}

const isUnknownProcedure = (error: unknown, name: string): boolean =>
  error instanceof CascadeError && error.code === 'cascade.resource.not.found' && error.params[0] === `/procedures/${name}`;

async function executed(name: string, statement: ObjectValue, send: Send): Promise<Value> {
  const [args, named] = [own(statement, 'args'), own(statement, 'named')];
  return (await send({ op: 'execute', resource: 'procedures', id: name, object: json(named ?? args ?? []) })).value;
}

async function executedAll(statement: ObjectValue, send: Send): Promise<Value> {
  const parameters = { where: json(getOwn(statement, 'where'), true), props: '["name","visibility"]' };
  const { value } = await send({ op: 'select', resource: 'procedures', parameters });
  const results: Value[] = [];
  for (const procedure of Array.isArray(value) ? value : [])
    if (isObject(procedure) && own(procedure, 'visibility') !== 'PRIVATE')
      results.push(await executed(text(procedure, 'name'), statement, send));
  return results;
}

// ---------------------------------------------------------------- select
async function* selected(space: Namespace, asked: Asked, send: Send, from: number): Carried {
  const { statement, gathers, streams } = asked;
  const cardinality = getOwn(statement, 'cardinality');
  const [limit, skip] = [whole(statement, 'limit'), whole(statement, 'skip') ?? 0];
  if (Object.hasOwn(statement, 'aggregates') || listIn(statement, 'groupBy').length > 0) {
    if (from > 0) return;
    const pageOf = (query: ObjectValue, skip: number): Promise<Value[]> => page(space, query, send, skip, PAGE_ROWS);
    const pipeline = async (stages: Value[]): Promise<Value[]> =>
      rowsIn(await send({ op: 'aggregate', ...resourceOf(space, statement), object: json(stages, true) }));
    const groups = await aggregated(space, statement, { page: pageOf, pageRows: PAGE_ROWS, pipeline, order: sortOf(statement) });
    yield checked(space, statement, groups);
    return;
  }
  if (cardinality === 'one' || cardinality === 'exactlyOne') {
    if (from > 0) return;
    yield checked(space, statement, await page(space, statement, send, skip, 2));
    return;
  }
  if (gathers && from > 0) return; // all rows were its one page
  const most = limit ?? (streams || gathers ? Number.POSITIVE_INFINITY : USUAL_ROWS);
  using kept = keepOfRows(space.storage.rows);
  const all: Value[] = [];
  for (let at = from * PAGE_ROWS; at < most; at += PAGE_ROWS) {
    const rows = await page(space, statement, send, skip + at, Math.min(PAGE_ROWS, most - at));
    if (gathers) {
      kept.add(encodeInner(rows).length);
      all.push(...rows);
    } else yield rows;
    if (rows.length < PAGE_ROWS) break;
  }
  if (gathers) yield [all];
}

/** The rows of a SELECT, of which one with ONE or EXACTLY ONE may have one only. @throws cascade.query.not.unique, cascade.resource.not.found */
function checked(space: Namespace, statement: ObjectValue, rows: Value[]): Value[] {
  const cardinality = getOwn(statement, 'cardinality');
  if (cardinality !== 'one' && cardinality !== 'exactlyOne') return rows;
  if (rows.length > 1) throw apiError('cascade.query.not.unique', text(statement, 'resource'));
  if (rows.length === 0 && cardinality === 'exactlyOne') throw notFound(space, statement);
  return rows;
}

/** As it is told here (resources/instances): what a type of the node has as its key is not known. */
function notFound(space: Namespace, statement: ObjectValue): CascadeError {
  const name = text(statement, 'resource').replace(/^system\./, '');
  const { features } = space.catalog;
  const known = features.named(name) ?? features.ofType(name) ?? features.installationResource(name, null);
  const type = known?.type ?? null;
  let query: InstanceQuery | null = null;
  try {
    query = instanceQuery(
      parseWhere(getOwn(statement, 'where'), type, { username: '', namespace: space.name, now: space.clock.now() }),
      type,
    );
  } catch (error) {
    if (!isApiError(error)) throw error; // the node took the condition: it knows more than this side
  }
  return apiError('cascade.resource.not.found', namedPath(known?.name ?? name, query, type));
}

const listIn = (object: ObjectValue, name: string): string[] => {
  const value = own(object, name);
  return Array.isArray(value) ? (value as string[]) : [];
};

const orderOf = (statement: ObjectValue): [string, boolean][] => (own(statement, 'orderBy') ?? []) as unknown as [string, boolean][];
const sortOf = (statement: ObjectValue): ObjectValue =>
  Object.fromEntries(orderOf(statement).map(([path, descending]) => [path, descending ? -1 : 1] as const));

async function page(space: Namespace, statement: ObjectValue, send: Send, skip: number, limit: number): Promise<Value[]> {
  const resource = resourceOf(space, statement);
  const where = getOwn(statement, 'where');
  const props = own(statement, 'props');
  if (skip % limit !== 0) {
    const stages: Value[] = [{ $match: where }, { $sort: { ...sortOf(statement), _id: 1 } }, { $skip: skip }, { $limit: limit }];
    if (Array.isArray(props)) stages.push({ $project: Object.fromEntries(props.map((name) => [String(name), 1] as const)) });
    return rowsIn(await send({ op: 'aggregate', ...resource, object: json(stages, true) }), limit);
  }
  const parameters: Record<string, string> = { limit: String(limit), page: String(skip / limit + 1) };
  if (Array.isArray(props)) parameters['props'] = JSON.stringify(props);
  if (orderOf(statement).length > 0) parameters['sort'] = JSON.stringify(sortOf(statement));
  const condition = json(where, true);
  if (condition !== '{}') parameters['where'] = condition;
  return rowsIn(await send({ op: 'select', ...resource, parameters }), limit);
}

/** @throws cascade.federation.protocol */
function rowsIn({ value }: NodeAnswer, most = Number.POSITIVE_INFINITY): Value[] {
  if (!Array.isArray(value) || value.length > most)
    throw new CascadeError('cascade.federation.protocol', 'The answer is no list of so many rows.', [], 500);
  return value;
}
