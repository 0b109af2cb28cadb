// Statements as requests of the generic API (integrations.md 11.3): no text of the language crosses the wire, only values.
import { encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type AggregateName } from '../../stdlib/isolate/protocol.ts';
import { CascadeError, fault } from '../../model/errors/faults.ts';
import { toTypedJson, Untransferable } from '../../model/values/index.ts';
import { aggregateRows } from '../../resources/aggregate/aggregate-rows.ts';
import { own } from '../../resources/operations/arguments.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import { errorIn, type NodeAnswer, type NodeRequest } from './client.ts';

export const PAGE_ROWS = 1_000;
const MOST_ROWS = 10_000;
const USUAL_ROWS = 1_000;
/** A longer condition goes in the body. */
const LONGEST_WHERE = 4_000;

/** Sends a request to the node. */
export type Send = (request: NodeRequest) => Promise<NodeAnswer>;

export interface Asked {
  readonly kind: string;
  readonly statement: ObjectValue;
  /** All rows of a SELECT are one value. */
  readonly gathers: boolean;
  /** There is a block: as many rows as there are. */
  readonly streams: boolean;
  readonly requestId: string;
}

/** What a statement gives on a node, page by page; `from`: pages that are there already. @throws CascadeError, HttpFailure, EgressError */
export type Carried = AsyncGenerator<Value[], void>;

const WRITES = new Set(['insert', 'upsert', 'update', 'delete', 'publish', 'publishSource', 'publishServiceEvent', 'create', 'drop']);
export const isWrite = (kind: string): boolean => WRITES.has(kind);

/** @throws cascade.federation.value */
function json(value: Value, isCondition = false): string {
  try {
    return toTypedJson(value, isCondition);
  } catch (error) {
    if (error instanceof Untransferable) throw fault('cascade.federation.value', 'a value of it is no data');
    throw error;
  }
}

const part = encodeURIComponent;
const text = (object: ObjectValue, name: string): string => String(getOwn(object, name));

/** The address of a resource: those of the service stand alone, types under `custom/`. */
function resourcePath(space: Namespace, name: string): string {
  const bare = name.replace(/^system\./, '');
  const isSystem = space.features.named(bare) !== undefined || space.features.installationResource(bare, null) !== undefined;
  return isSystem && !bare.startsWith('Ars') ? part(bare) : `custom/${part(bare)}`;
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

/** The one request of each statement that changes something. */
const writes: Readonly<Record<string, Write>> = {
  insert: (space, statement) => ({
    request: { method: 'POST', path: resourcePath(space, text(statement, 'resource')), body: json(getOwn(statement, 'values')) },
    result: stored(statement),
  }),
  upsert: (space, statement) => ({
    request: {
      method: 'POST',
      path: resourcePath(space, text(statement, 'resource')),
      query: { upsert: 'true' },
      body: json(getOwn(statement, 'values')),
    },
    result: stored(statement),
  }),
  update: (space, statement) => ({
    request: {
      method: 'PUT',
      path: resourcePath(space, text(statement, 'resource')),
      query: { where: json(getOwn(statement, 'where'), true) },
      body: json(getOwn(statement, 'values')),
    },
    result: ({ value }) => value,
  }),
  delete: (space, statement) => ({
    request: {
      method: 'DELETE',
      path: resourcePath(space, text(statement, 'resource')),
      query: { where: json(getOwn(statement, 'where'), true), count: 'true' },
    },
    result: ({ count, value }) => count ?? value,
  }),
  publish: (_space, statement) => {
    const schedule = own(statement, 'schedule');
    const [topic, message] = [text(statement, 'topic'), getOwn(statement, 'value')];
    const body = schedule === null ? message : { ...scheduled(schedule), topic, message };
    const path = schedule === null ? `topics/${topic.split('/').map(part).join('/')}` : 'scheduledevents';
    return { request: { method: 'POST', path, body: json(body) }, result: nothing };
  },
  publishSource: (_space, statement) => {
    const [value, using] = [getOwn(statement, 'value'), own(statement, 'using')];
    const body = isObject(value) && isObject(using) ? { ...value, ...using } : (value ?? using);
    return { request: { method: 'POST', path: `sources/${part(text(statement, 'source'))}`, body: json(body) }, result: nothing };
  },
  publishServiceEvent: (_space, statement) => ({
    request: {
      method: 'POST',
      path: `services/${text(statement, 'target')
        .replace(/^([^/]+)\.([^./]+)$/, '$1/$2')
        .split('/')
        .map(part)
        .join('/')}`,
      body: json(getOwn(statement, 'value')),
    },
    result: nothing,
  }),
  create: (_space, statement) => ({
    request: { method: 'POST', path: KINDS[text(statement, 'kind')] ?? '', body: json(getOwn(statement, 'value')) },
    result: ({ value }) => (Array.isArray(value) ? (value[0] ?? null) : value),
  }),
  drop: (_space, statement) => ({
    request: { method: 'DELETE', path: `${KINDS[text(statement, 'kind')] ?? ''}/${part(text(statement, 'name'))}` },
    result: nothing,
  }),
};

/** `SCHEDULE "5 minutes"`, a moment, or the fields of a scheduled event. */
const scheduled = (schedule: Value): ObjectValue => (isObject(schedule) ? schedule : { occursAt: schedule });

/** The request of a statement that changes something. @throws cascade.federation.value */
export function writeOf(
  space: Namespace,
  { kind, statement, requestId }: Asked,
): { request: NodeRequest; result: (answer: NodeAnswer) => Value } {
  const { request, result } = (writes[kind] as Write)(space, statement);
  return { request: { ...request, requestId }, result };
}

/** What a write gives; one of several instances that failed is a failure of all. @throws CascadeError */
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
  } else if (kind === 'execute') yield [await executed(text(statement, 'name'), statement, send)];
  else if (kind === 'executeAll') yield [await executedAll(statement, send)];
  else if (kind === 'query')
    yield [
      (await send({ method: 'POST', path: `sources/${part(text(statement, 'source'))}/query`, body: json(getOwn(statement, 'request')) }))
        .value,
    ];
  else throw fault('cascade.federation.value', `${kind} is no statement for nodes`);
}

async function executed(name: string, statement: ObjectValue, send: Send): Promise<Value> {
  const [args, named] = [own(statement, 'args'), own(statement, 'named')];
  return (await send({ method: 'POST', path: `procedures/${part(name)}`, body: json(named ?? args ?? []) })).value;
}

async function executedAll(statement: ObjectValue, send: Send): Promise<Value> {
  const query = { where: json(getOwn(statement, 'where'), true), props: '["name","visibility"]' };
  const { value } = await send({ method: 'GET', path: 'procedures', query });
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
    if (from === 0) yield await aggregated(space, statement, send);
    return;
  }
  if (cardinality === 'one' || cardinality === 'exactlyOne') {
    if (from > 0) return;
    const rows = await page(space, statement, send, skip, 2);
    if (rows.length > 1) throw fault('cascade.query.not.unique', text(statement, 'resource'));
    if (rows.length === 0 && cardinality === 'exactlyOne') throw fault('cascade.resource.not.found', `/${text(statement, 'resource')}`);
    yield rows;
    return;
  }
  const most = limit ?? (streams || gathers ? Number.POSITIVE_INFINITY : USUAL_ROWS);
  const all: Value[] = [];
  for (let at = from * PAGE_ROWS; at < most; at += PAGE_ROWS) {
    const rows = await page(space, statement, send, skip + at, Math.min(PAGE_ROWS, most - at));
    if (gathers) all.push(...rows);
    else yield rows;
    if (rows.length < PAGE_ROWS) break;
  }
  if (gathers) yield [all];
}

/** @throws cascade.query.limit.range */
function whole(statement: ObjectValue, name: string): number | null {
  const value = own(statement, name);
  if (value === null) return null;
  const isLimit = name === 'limit';
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || (isLimit && value > MOST_ROWS))
    throw fault('cascade.query.limit.range', name, 0, MOST_ROWS);
  return value;
}

const listIn = (object: ObjectValue, name: string): string[] => {
  const value = own(object, name);
  return Array.isArray(value) ? (value as string[]) : [];
};

const orderOf = (statement: ObjectValue): [string, boolean][] => (own(statement, 'orderBy') ?? []) as unknown as [string, boolean][];
const sortOf = (statement: ObjectValue): ObjectValue =>
  Object.fromEntries(orderOf(statement).map(([path, descending]) => [path, descending ? -1 : 1] as const));

async function page(space: Namespace, statement: ObjectValue, send: Send, skip: number, limit: number): Promise<Value[]> {
  const path = resourcePath(space, text(statement, 'resource'));
  const where = getOwn(statement, 'where');
  const props = own(statement, 'props');
  if (skip % limit !== 0) {
    const stages: Value[] = [{ $match: where }, { $sort: { ...sortOf(statement), _id: 1 } }, { $skip: skip }, { $limit: limit }];
    if (Array.isArray(props)) stages.push({ $project: Object.fromEntries(props.map((name) => [String(name), 1] as const)) });
    return rowsIn(await send({ method: 'POST', path: `${path}/aggregate`, body: json(stages, true) }));
  }
  const query: Record<string, string> = { limit: String(limit), page: String(skip / limit + 1) };
  if (Array.isArray(props)) query['props'] = JSON.stringify(props);
  if (orderOf(statement).length > 0) query['sort'] = JSON.stringify(sortOf(statement));
  const condition = json(where, true);
  if (condition.length > LONGEST_WHERE) return rowsIn(await send({ method: 'POST', path: `${path}/select`, query, body: condition }));
  return rowsIn(await send({ method: 'GET', path, query: condition === '{}' ? query : { where: condition, ...query } }));
}

/** @throws cascade.federation.protocol */
function rowsIn({ value }: NodeAnswer): Value[] {
  if (!Array.isArray(value)) throw new CascadeError('cascade.federation.protocol', 'The answer is no list of rows.', [], 500);
  return value;
}

/** Of each group the first instance: groups come in the order of their first appearance. */
const FIRST = 'ars_first';

const ACCUMULATORS: Readonly<Record<string, string>> = {
  sum: '$sum',
  avg: '$avg',
  min: '$min',
  max: '$max',
  first: '$first',
  last: '$last',
};

/** Aggregates act on the node (D8); what its pipeline has no accumulator for is worked out from the rows. */
async function aggregated(space: Namespace, statement: ObjectValue, send: Send): Promise<Value[]> {
  const groupBy = listIn(statement, 'groupBy');
  const wanted = Object.entries(own(statement, 'aggregates') ?? {}) as unknown as [string, [AggregateName, string | null]][];
  const resource = text(statement, 'resource');
  const names = [...wanted.map(([name]) => name), ...groupBy];
  const isPlain = wanted.every(([, [fn, path]]) => path === null || fn === 'count' || Object.hasOwn(ACCUMULATORS, fn));
  const none = (async function* () {})();
  if (!isPlain || names.some((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))) {
    const rows = (async function* () {
      for (let at = 0; ; at += PAGE_ROWS) {
        const found = await page(space, { ...statement, props: null }, send, at, PAGE_ROWS);
        yield { rows: found.map(encodeInner), isLast: found.length < PAGE_ROWS };
        if (found.length < PAGE_ROWS) return;
      }
    })();
    return cutTo(statement, await aggregateRows(resource, rows, wanted, groupBy));
  }
  const group: ObjectValue = { _id: groupBy.length === 0 ? null : Object.fromEntries(groupBy.map((name) => [name, `$${name}`] as const)) };
  for (const [name, [fn, path]] of wanted) setOwn(group, name, accumulator(fn, path));
  setOwn(group, FIRST, { $first: '$_id' });
  const shown: ObjectValue = { _id: 0 };
  for (const name of groupBy) setOwn(shown, name, `$_id.${name}`);
  for (const [name] of wanted) setOwn(shown, name, 1);
  const order = orderOf(statement);
  const stages: Value[] = [
    { $match: getOwn(statement, 'where') },
    { $sort: { _id: 1 } },
    { $group: group },
    { $sort: { [FIRST]: 1 } },
    { $project: shown },
  ];
  if (order.length > 0) stages.push({ $sort: sortOf(statement) });
  const path = `${resourcePath(space, resource)}/aggregate`;
  const rows = rowsIn(await send({ method: 'POST', path, body: json(stages, true) }));
  const ordered = rows.map((row) =>
    Object.fromEntries([...groupBy, ...wanted.map(([name]) => name)].map((name) => [name, isObject(row) ? own(row, name) : null])),
  );
  const found = rows.length === 0 && groupBy.length === 0 ? await aggregateRows(resource, none, wanted, groupBy) : ordered;
  return cutTo(statement, found);
}

function accumulator(fn: string, path: string | null): Value {
  if (path === null) return { $sum: 1 };
  if (fn === 'count') return { $sum: { $cond: [{ $gt: [`$${path}`, null] }, 1, 0] } };
  return { [ACCUMULATORS[fn] ?? '$sum']: `$${path}` };
}

function cutTo(statement: ObjectValue, rows: Value[]): Value[] {
  const single = ['one', 'exactlyOne'].includes(text(statement, 'cardinality'));
  const [limit, skip] = [whole(statement, 'limit'), whole(statement, 'skip') ?? 0];
  return single ? rows.slice(0, 1) : rows.slice(skip, limit === null ? undefined : skip + limit);
}
