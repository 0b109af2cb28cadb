// SELECT of instances of a type for clients (resources-and-api.md 2.2, 2.3) and for programs (language.md 5.7).

import type { Document, FindOptions } from 'mongodb';
import { isInteger, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import { parseProps, parseSort, type Predicate, toFilter, toProjection, toSort } from '../../conditions/index.ts';
import type { ApiReply } from '../../api.ts';
import { fault } from '../../faults.ts';
import { instanceFromBson, restTranscoder, type Spelling, transcoder } from '../../values/index.ts';
import { AHEAD_BYTES, readAhead } from '../large-results.ts';
import { idOf } from '../stamp.ts';
import type { InstanceResource, Namespace } from '../types.ts';
import { condition, remember } from './find.ts';
import { keyText } from './natural-key.ts';

/** Rows of a result without `limit`, and the most that a limit may ask for. */
export const CAP = 10_000;
const PAGE_WITHOUT_LIMIT = 1_000;
/** Of a walk, as text. */
const PAGE_BYTES = 64 * 1024;

export interface Page {
  readonly skip: number;
  readonly limit: number;
  /** More rows than the limit are a cut result, not a page. */
  readonly capped: boolean;
}

/** `page` and `limit` of a request (resources-and-api.md 2.2). */
export function pageOf(parameters: Readonly<Record<string, Value>>): Page {
  const page = wholeNumber(parameters, 'page');
  const limit = wholeNumber(parameters, 'limit');
  if (page !== undefined && page < 1) throw fault('cascade.query.page.range', 'page', 1, Number.MAX_SAFE_INTEGER);
  const most = Math.min(wholeNumber(parameters, 'mostRows') ?? CAP, CAP);
  if (limit !== undefined && (limit < 0 || limit > most)) throw fault('cascade.query.limit.range', 'limit', 1, most);
  if (page === undefined && !limit) return { skip: 0, limit: most, capped: true };
  const size = limit || Math.min(PAGE_WITHOUT_LIMIT, most);
  return { skip: Math.min(((page ?? 1) - 1) * size, Number.MAX_SAFE_INTEGER), limit: size, capped: false };
}

function wholeNumber(parameters: Readonly<Record<string, Value>>, name: string): number | undefined {
  const value = parameters[name];
  if (value === undefined || value === null) return undefined;
  if (!isInteger(value)) throw fault('cascade.request.parameter.invalid', name, value);
  return Number(value);
}

/** A page of what is in memory. */
export interface Selected {
  /** JSON text of the array. */
  readonly json: string;
  readonly count?: number;
  readonly truncated: boolean;
}

/** The rows of a request as REST text: whole, or as pieces where it is long and `streams` allows it. */
export async function selectPage(
  space: Namespace,
  resource: InstanceResource,
  parameters: Readonly<Record<string, Value>>,
  actor: Actor,
  streams: boolean,
): Promise<Pick<ApiReply, 'body' | 'pieces' | 'count' | 'truncated'>> {
  const predicate = condition(resource, parameters['where'] ?? {}, actor);
  const sort = orderOf(resource, predicate, parameters['sort']);
  const props = parameters['props'] === undefined ? null : parseProps(parameters['props']);
  const page = pageOf(parameters);
  const rows = space.rows.find(resource.collection, {
    filter: toFilter(predicate),
    sort,
    projection: toProjection(props, resource.type),
    skip: page.skip,
    limit: page.capped ? page.limit + 1 : page.limit,
  });
  const counting = parameters['count'] === true ? countOf(space, resource, predicate) : undefined;
  counting?.catch(() => undefined); // awaited below; this only keeps an early failure from being called unhandled
  const ahead = await readAhead(rows, streams ? AHEAD_BYTES : Infinity);
  try {
    const count = await counting;
    const isMore = ahead.isAll ? ahead.rows.length > page.limit : page.capped && (await hasMore(space, resource, predicate, count));
    const news = { ...(count === undefined ? {} : { count }), ...(isMore ? { truncated: true } : {}) };
    const write = props ? transcoder(resource.type, 'rest', { props }) : restTranscoder(resource.type);
    if (ahead.isAll && (!streams || ahead.bytes <= AHEAD_BYTES))
      return { body: `[${(isMore ? ahead.rows.slice(0, page.limit) : ahead.rows).map(write).join(',')}]`, ...news };
    const elements = { first: ahead.rows, next: () => rows.next(), most: page.limit, write, close: () => rows.close() };
    return { pieces: await space.largeResults.begin(elements), ...news };
  } catch (error) {
    await rows.close();
    throw error;
  }
}

/** Whether there are more rows than the cap: a header says so, before the rows are read. What is inserted meanwhile comes too late for it. */
async function hasMore(space: Namespace, resource: InstanceResource, predicate: Predicate, count: number | undefined): Promise<boolean> {
  return (count ?? (await countOf(space, resource, predicate, CAP + 1))) > CAP;
}

type Order = Document | undefined;

/** The order of the rows: as asked, else nearest first where there is a `$near`, else the resource's own. */
function orderOf(resource: InstanceResource, predicate: Predicate, sort: Value | undefined): Order {
  if (sort !== undefined) return toSort(parseSort(sort, resource.type));
  return predicate.near ? undefined : resource.defaultSort;
}

/** With `$near` the store cannot count; then the rows within the distance are read by their ids alone. */
async function countOf(space: Namespace, resource: InstanceResource, predicate: Predicate, most = 0): Promise<number> {
  const collection = space.db.collection(resource.collection);
  if (!predicate.near) return collection.countDocuments(toFilter(predicate), most > 0 ? { limit: most } : {});
  const ids = space.rows.find(resource.collection, { filter: toFilter(predicate), projection: { _id: 1 }, limit: most });
  let count = 0;
  while (!ids.isDone) count += (await ids.next()).length;
  return count;
}

interface Window {
  readonly sort: Order;
  readonly skip: number;
  readonly limit: number;
}

async function rawRows(space: Namespace, resource: InstanceResource, filter: Document, window: Window): Promise<Uint8Array[]> {
  const { sort, skip, limit } = window;
  const options: FindOptions = { raw: true, skip, limit, ...(sort ? { sort } : {}) };
  return (await space.db.collection(resource.collection).find(filter, options).toArray()) as unknown as Uint8Array[];
}

export interface ProgramQuery {
  readonly where: Value;
  readonly props: readonly string[] | null;
  readonly orderBy: readonly (readonly [string, boolean])[];
  readonly skip: number;
  readonly limit: number;
}

/** Rows for a program as inner JSON, one text a row. In a rule's run they are remembered, and contended ones wait for their turn. */
export async function selectRows(space: Namespace, resource: InstanceResource, query: ProgramQuery, actor: Actor): Promise<string[]> {
  const predicate = condition(resource, query.where, actor);
  const sort = orderOf(resource, predicate, sortObject(query.orderBy));
  const window = { sort, skip: query.skip, limit: query.limit };
  for (;;) {
    const raw = await rawRows(space, resource, toFilter(predicate), window);
    if (actor.reading) {
      const rows = raw.map((row) => instanceFromBson(resource.type, row));
      if ((await actor.reading.turn(resource.collection, rows.map(idOf))) === 'read again') continue;
      remember(resource, rows, actor);
      const key = rows.length === 0 ? keyText(predicate, resource.type) : null;
      if (key !== null) actor.reading.saw(resource.collection, key, 0n);
    }
    const write = transcoder(resource.type, INNER, query.props ? { props: query.props } : {});
    return raw.map(write);
  }
}

const INNER: Spelling = 'inner';

function sortObject(orderBy: ProgramQuery['orderBy']): ObjectValue | undefined {
  if (orderBy.length === 0) return undefined;
  const sort: ObjectValue = {};
  for (const [path, descending] of orderBy) sort[path] = descending ? -1 : 1;
  return sort;
}

/** A walk over all rows of a condition, a page at a time (language.md E1: a SELECT as sequence). */
export async function* selectPages(
  space: Namespace,
  resource: InstanceResource,
  query: ProgramQuery,
  actor: Actor,
  pageBytes = PAGE_BYTES,
): AsyncGenerator<string[]> {
  const predicate = condition(resource, query.where, actor);
  const sort = orderOf(resource, predicate, sortObject(query.orderBy));
  const rows = space.rows.find(resource.collection, { filter: toFilter(predicate), sort, skip: query.skip, limit: query.limit });
  const write = transcoder(resource.type, INNER, query.props ? { props: query.props } : {});
  try {
    let page: string[] = [];
    let bytes = 0;
    while (!rows.isDone)
      for (const row of await rows.next()) {
        if (actor.reading) remember(resource, [instanceFromBson(resource.type, row)], actor);
        const text = write(row);
        page.push(text);
        bytes += text.length;
        if (bytes >= pageBytes) {
          yield page;
          page = [];
          bytes = 0;
        }
      }
    yield page;
  } finally {
    await rows.close();
  }
}
