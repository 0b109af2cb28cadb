// SELECT of instances of a type for clients (resources-and-api.md 2.2, 2.3) and for programs (language.md 5.7).

import type { Document } from 'mongodb';
import { isInteger, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor, ReadSet } from '../../runtime/context/index.ts';
import { matches, parseProps, parseSort, type Predicate, toFilter, toProjection, toSort } from '../../model/query/index.ts';
import type { ApiReply } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { type Find, type Rows, timeLimit } from '../../platform/mongo/index.ts';
import { instanceFromBson, instanceHead } from '../../model/values/index.ts';
import { AHEAD_BYTES, LARGE_RESULTS, readAhead, idOf } from '../representation/index.ts';
import { type RankedOrder, rankedOrder, type RowForm, writeRows, writeSeenRows } from '../scalars/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { CURSORS, type WalkPage } from './cursors/index.ts';
import { condition, remember } from './find.ts';
import { keyText } from './natural-key.ts';
import { pendingInstance } from './pending-instances.ts';

/** Rows of a result without `limit`, and the largest limit. */
export const CAP = 10_000;
const PAGE_WITHOUT_LIMIT = 1_000;
/** Size of a cursor's page, as text. */
const PAGE_BYTES = 64 * 1024;

export interface Page {
  readonly skip: number;
  readonly limit: number;
  /** Whether rows beyond the limit make the result truncated, rather than a page. */
  readonly capped: boolean;
}

/** Parses `page` and `limit` of a request (resources-and-api.md 2.2). */
export function pageOf(parameters: Readonly<Record<string, Value>>): Page {
  const page = wholeNumber(parameters, 'page');
  const limit = wholeNumber(parameters, 'limit');
  if (page !== undefined && page < 1) throw apiError('cascade.query.page.range', 'page', 1, Number.MAX_SAFE_INTEGER);
  const most = mostRowsOf(parameters);
  if (limit !== undefined && (limit < 0 || limit > most)) throw apiError('cascade.query.limit.range', 'limit', 1, most);
  if (page === undefined && !limit) return { skip: 0, limit: most, capped: true };
  const size = limit || Math.min(PAGE_WITHOUT_LIMIT, most);
  return { skip: Math.min(((page ?? 1) - 1) * size, Number.MAX_SAFE_INTEGER), limit: size, capped: false };
}

/** Bound of the rows that an answer gives. */
export const mostRowsOf = (parameters: Readonly<Record<string, Value>>): number =>
  Math.min(wholeNumber(parameters, 'mostRows') ?? CAP, CAP);

function wholeNumber(parameters: Readonly<Record<string, Value>>, name: string): number | undefined {
  const value = parameters[name];
  if (value === undefined || value === null) return undefined;
  if (!isInteger(value)) throw apiError('cascade.request.parameter.invalid', name, value);
  return Number(value);
}

/** A page of rows in memory. */
export interface Selected {
  /** The JSON text of the array. */
  readonly json: string;
  readonly count?: number;
  readonly truncated: boolean;
}

/** The rows of a request as text for a client: whole, or in pieces where the result is long and `streams` allows it. */
export async function selectPage(
  space: Namespace,
  resource: InstanceResource,
  parameters: Readonly<Record<string, Value>>,
  actor: Actor,
  { streams, form, isGone }: { streams: boolean; form: RowForm; isGone?: (() => boolean) | undefined },
): Promise<Pick<ApiReply, 'body' | 'pieces' | 'count' | 'truncated'>> {
  const predicate = await condition(space, resource, parameters['where'] ?? {}, actor);
  const order = await orderOf(space, resource, predicate, parameters['sort'], actor);
  const props = parameters['props'] === undefined ? null : parseProps(parameters['props']);
  const page = pageOf(parameters);
  const window = { skip: page.skip, limit: page.capped ? page.limit + 1 : page.limit };
  // The store projects parts of properties; whole properties are projected when the rows are written.
  const isWhole = !props?.some((name) => name.includes('.'));
  if (page.capped && isWhole && order === resource.defaultSort && parameters['count'] !== true) {
    const shared = await sharedRows(space, resource, toFilter(predicate), page.limit);
    if (shared) return { body: `[${(await writeRows(space, resource.type, form, props, actor)(shared)).join(',')}]` };
  }
  const rows = rowsOf(space, resource, predicate, order, { ...window, isGone }, toProjection(props, resource.type));
  const counting = parameters['count'] === true ? countOf(space, resource, predicate) : undefined;
  counting?.catch(() => undefined); // awaited below; the handler keeps an early failure from being reported as unhandled
  const ahead = await readAhead(space.storage.rows, rows, streams ? AHEAD_BYTES : null);
  try {
    const count = await counting;
    const isMore = ahead.isAll
      ? ahead.rows.length > page.limit
      : page.capped && (await hasMore(space, resource, predicate, count, page.limit));
    const news = { ...(count === undefined ? {} : { count }), ...(isMore ? { truncated: true } : {}) };
    const write = writeRows(space, resource.type, form, props, actor);
    if (ahead.isAll && (!streams || ahead.bytes <= AHEAD_BYTES))
      return { body: `[${(await write(isMore ? ahead.rows.slice(0, page.limit) : ahead.rows)).join(',')}]`, ...news };
    const elements = {
      first: await write(ahead.rows),
      next: async () => write(await rows.next()),
      most: page.limit,
      write: (text: string) => text,
      close: () => rows.close(),
    };
    return { pieces: await space.states.get(LARGE_RESULTS).begin(elements), ...news };
  } catch (error) {
    await rows.close();
    throw error;
  }
}

/** Whether there are more rows than the cap: a header says so, before the rows are read. Rows that are inserted meanwhile do not count. */
async function hasMore(
  space: Namespace,
  resource: InstanceResource,
  predicate: Predicate,
  count: number | undefined,
  cap: number,
): Promise<boolean> {
  return (count ?? (await countOf(space, resource, predicate, cap + 1))) > cap;
}

/** The rows of an equality of a property with a text, where they are few and read together with others; null for other conditions. */
async function sharedRows(
  space: Namespace,
  { type, collection, defaultSort }: InstanceResource,
  filter: Document,
  cap: number,
): Promise<Uint8Array[] | null> {
  const [path, second] = Object.keys(filter);
  const property = path === undefined ? undefined : type.properties.get(path);
  if (!property || second !== undefined || property.base !== 'String' || property.multi || property.encrypted) return null;
  if (!('_id' in defaultSort)) return null; // shared reads give rows in the order of ids
  const text = textIn(filter[property.name]);
  const rows = text === null ? null : await space.storage.equals.read(collection, property.name, text);
  return rows && rows.length <= cap && sizeOf(rows) <= AHEAD_BYTES ? rows : null;
}

/** The text that an equality of the store compares with. */
function textIn(test: unknown): string | null {
  if (typeof test === 'string') return test;
  if (typeof test !== 'object' || test === null) return null;
  const entries = Object.entries(test);
  return entries.length === 1 && entries[0]?.[0] === '$eq' && typeof entries[0][1] === 'string' ? entries[0][1] : null;
}

const sizeOf = (rows: readonly Uint8Array[]): number => rows.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** A sort document, or the ranks that a scalar's comparator gives the rows. */
type Order = Document | RankedOrder | undefined;

const isRanked = (order: Order): order is RankedOrder => order !== undefined && 'ranks' in order;

/** The order of the rows: the requested one, else nearest first where there is a `$near`, else the resource's own. */
async function orderOf(
  space: Namespace,
  resource: InstanceResource,
  predicate: Predicate,
  sort: Value | undefined,
  actor: Actor,
): Promise<Order> {
  if (sort === undefined) return predicate.near ? undefined : resource.defaultSort;
  const keys = parseSort(sort, resource.type);
  const ranked = await rankedOrder(space, resource, keys, actor);
  if (ranked && predicate.near) throw apiError('cascade.query.sort.unsupported', keys[0]?.path.text ?? '');
  return ranked ?? toSort(keys);
}

/** The rows of a condition in an order, in their stored form. */
function rowsOf(
  space: Namespace,
  { collection }: InstanceResource,
  predicate: Predicate,
  order: Order,
  { skip, limit, isGone, batchBytes, isKept }: Pick<Find, 'skip' | 'limit' | 'isGone' | 'batchBytes' | 'isKept'>,
  projection?: Document,
): Rows {
  const filter = toFilter(predicate);
  const time = { ...timeLimit(filter), isGone, isKept };
  if (!isRanked(order)) return space.storage.rows.find(collection, { filter, sort: order, projection, skip, limit, batchBytes, ...time });
  const stages: Document[] = [{ $match: filter }, { $addFields: order.ranks }, { $sort: order.sort }];
  if (skip !== undefined && skip > 0) stages.push({ $skip: skip });
  if (limit > 0) stages.push({ $limit: limit });
  stages.push(projection ? { $project: projection } : { $unset: [...order.names] });
  return space.storage.rows.aggregate(collection, stages, time);
}

/** Counts the rows. With `$near` the store cannot count, so the ids within the distance are read. */
async function countOf(space: Namespace, resource: InstanceResource, predicate: Predicate, most = 0): Promise<number> {
  const filter = toFilter(predicate);
  if (!predicate.near) return space.storage.rows.count(resource.collection, filter, { most, ...timeLimit(filter) });
  const ids = space.storage.rows.find(resource.collection, { filter, projection: { _id: 1 }, limit: most, ...timeLimit(filter) });
  let count = 0;
  while (!ids.isDone) count += (await ids.next()).length;
  return count;
}

export interface ProgramQuery {
  readonly where: Value;
  readonly props: readonly string[] | null;
  readonly orderBy: readonly (readonly [string, boolean])[];
  readonly skip: number;
  readonly limit: number;
  /** The row is read for a computed change (computed-change.ts) and used for nothing else. */
  readonly forChange?: boolean;
  /** The user who sees a part of each instance only (`seen` of the resource); absent: all of it is seen. */
  readonly partOf?: string | undefined;
}

/**
 * Rows for a program as inner JSON, one text for each. A rule's run adds them to its read set, and waits for its turn for contended ones.
 */
export async function selectRows(space: Namespace, resource: InstanceResource, query: ProgramQuery, actor: Actor): Promise<string[]> {
  const predicate = await condition(space, resource, query.where, actor);
  const order = await orderOf(space, resource, predicate, sortObject(query.orderBy), actor);
  for (;;) {
    const isForChange = query.forChange && actor.readSet?.mayCompute === true;
    const shared =
      isForChange && order === resource.defaultSort ? await sharedRows(space, resource, toFilter(predicate), query.limit) : null;
    let raw = shared ?? (await readAhead(space.storage.rows, rowsOf(space, resource, predicate, order, query), null)).rows;
    if (isForChange && actor.readSet) {
      const [row, second] = raw.map((one) => instanceFromBson(resource.type, one));
      if (row && !second) {
        remember(resource, [row], actor);
        actor.readSet.recordForChange(resource.collection, idOf(row), { predicate, row });
      }
    }
    if (actor.readSet && !(isForChange && raw.length > 0)) {
      let rows = raw.map(instanceHead);
      const turn = await actor.readSet.turn(resource.collection, rows.map(idOf));
      if (turn === 'read again') continue;
      if (turn !== 'go on') {
        // A pending change counts only where the instance is the only candidate: otherwise the store decides which rows match.
        const shown = rows.length === 1 && query.skip === 0 ? pendingInstance(resource, turn) : null;
        if (!shown || !matches(predicate, shown.instance)) {
          await turn.settled();
          continue;
        }
        actor.readSet.follow(turn);
        [rows, raw] = [[shown.instance], [shown.row]];
      }
      remember(resource, rows, actor);
      noteKey(resource, predicate, query, rows, actor.readSet);
    }
    return writeSeenRows(space, resource, query, actor)(raw);
  }
}

/** The run has looked for an instance by its key: in vain, or it has found the one that it missed before. */
function noteKey(
  { type, collection }: InstanceResource,
  predicate: Predicate,
  { skip }: ProgramQuery,
  { length }: readonly ObjectValue[],
  readSet: ReadSet,
): void {
  if (length > 1 || skip > 0 || (length === 1 && !readSet.hasMissed(collection))) return;
  const key = keyText(predicate, type);
  if (key === null) return;
  if (length === 0) readSet.record(collection, key, 0n);
  else if (readSet.expected(collection, key) === 0n) readSet.record(collection, key, 1n);
}

function sortObject(orderBy: ProgramQuery['orderBy']): ObjectValue | undefined {
  if (orderBy.length === 0) return undefined;
  const sort: ObjectValue = {};
  for (const [path, descending] of orderBy) sort[path] = descending ? -1 : 1;
  return sort;
}

/** Reads all rows of a condition, a page at a time (language.md E1: a SELECT as sequence). */
export async function* selectPages(
  space: Namespace,
  resource: InstanceResource,
  query: ProgramQuery,
  actor: Actor,
  pageBytes = PAGE_BYTES,
): AsyncGenerator<WalkPage> {
  const predicate = await condition(space, resource, query.where, actor);
  const order = await orderOf(space, resource, predicate, sortObject(query.orderBy), actor);
  const batchBytes = space.states.get(CURSORS).areMany ? pageBytes : undefined;
  const rows = rowsOf(space, resource, predicate, order, { ...query, batchBytes, isKept: true });
  const write = writeSeenRows(space, resource, query, actor);
  try {
    let page: string[] = [];
    let bytes = 0;
    while (!rows.isDone) {
      const batch = await rows.next();
      if (actor.readSet) remember(resource, batch.map(instanceHead), actor);
      for (const text of await write(batch)) {
        page.push(text);
        bytes += text.length;
        if (bytes >= pageBytes) {
          yield { rows: page, isLast: false };
          page = [];
          bytes = 0;
        }
      }
    }
    yield { rows: page, isLast: true };
  } finally {
    await rows.close();
  }
}
