// SELECT of instances of a type for clients (resources-and-api.md 2.2, 2.3) and for programs (language.md 5.7).

import type { Document, FindOptions } from 'mongodb';
import { isInteger, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import { parseProps, parseSort, type Predicate, toFilter, toProjection, toSort } from '../../conditions/index.ts';
import { fault } from '../../faults.ts';
import { instanceFromBson, type Spelling, transcoder } from '../../values/index.ts';
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

export interface Selected {
  /** JSON text of the array. */
  readonly json: string;
  readonly count?: number;
  readonly truncated: boolean;
}

/** The rows of a request as REST text. */
export async function selectPage(
  space: Namespace,
  resource: InstanceResource,
  parameters: Readonly<Record<string, Value>>,
  actor: Actor,
): Promise<Selected> {
  const predicate = condition(resource, parameters['where'] ?? {}, actor);
  const sort = orderOf(resource, predicate, parameters['sort']);
  const props = parameters['props'] === undefined ? null : parseProps(parameters['props']);
  const page = pageOf(parameters);
  const window = { sort, skip: page.skip, limit: page.capped ? page.limit + 1 : page.limit };
  const [rows, count] = await Promise.all([
    rawRows(space, resource, toFilter(predicate), window, props),
    parameters['count'] === true ? countOf(space, resource, predicate) : undefined,
  ]);
  const truncated = page.capped && rows.length > page.limit;
  const write = transcoder(resource.type, 'rest', props ? { props } : {});
  const json = `[${(truncated ? rows.slice(0, page.limit) : rows).map(write).join(',')}]`;
  return count === undefined ? { json, truncated } : { json, count, truncated };
}

type Order = Document | undefined;

/** The order of the rows: as asked, else nearest first where there is a `$near`, else the resource's own. */
function orderOf(resource: InstanceResource, predicate: Predicate, sort: Value | undefined): Order {
  if (sort !== undefined) return toSort(parseSort(sort, resource.type));
  return predicate.near ? undefined : resource.defaultSort;
}

/** With `$near` the store cannot count; then the rows within the distance are read by their ids alone. */
async function countOf(space: Namespace, resource: InstanceResource, predicate: Predicate): Promise<number> {
  const collection = space.db.collection(resource.collection);
  if (!predicate.near) return collection.countDocuments(toFilter(predicate));
  return (await collection.find(toFilter(predicate), { projection: { _id: 1 } }).toArray()).length;
}

interface Window {
  readonly sort: Order;
  readonly skip: number;
  readonly limit: number;
}

async function rawRows(
  space: Namespace,
  resource: InstanceResource,
  filter: Document,
  window: Window,
  props: readonly string[] | null,
): Promise<Uint8Array[]> {
  const projection = toProjection(props, resource.type);
  const rows = await space.db
    .collection(resource.collection)
    .find(filter, { ...findOptions(window), ...(projection ? { projection } : {}) })
    .toArray();
  return rows as unknown as Uint8Array[];
}

const findOptions = ({ sort, skip, limit }: Window): FindOptions => ({ raw: true, skip, limit, ...(sort ? { sort: sort } : {}) });

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
    const raw = await rawRows(space, resource, toFilter(predicate), window, null);
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
  const options = { ...findOptions({ sort, skip: query.skip, limit: query.limit }), batchSize: 500 };
  const cursor = space.db.collection(resource.collection).find(toFilter(predicate), options);
  const write = transcoder(resource.type, INNER, query.props ? { props: query.props } : {});
  try {
    let page: string[] = [];
    let bytes = 0;
    for await (const row of cursor) {
      if (actor.reading) remember(resource, [instanceFromBson(resource.type, row)], actor);
      const text = write(row as unknown as Uint8Array);
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
    await cursor.close();
  }
}
