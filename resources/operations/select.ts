// SELECT of programs: instances, definitions and what the installation keeps, as rows or as groups of rows (language.md 5.7).

import type { AggregateName } from '../../stdlib/isolate/index.ts';
import { encodeInner, getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { parseSort } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Held } from '../../platform/mongo/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { aggregateRows } from '../aggregate/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { compareBy, matching } from '../definitions/index.ts';
import { CURSORS, innerText, notFoundBy, type ProgramQuery, selectPages, selectRows, type WalkPage } from '../instances/index.ts';
import { keepOfRows, projected } from '../representation/index.ts';
import { readable, type Selectable } from './addressed.ts';

/** Bound of the rows that a SELECT reads into an array (language.md E3). */
const ARRAY_ROWS = 1_000;
const MOST_ARRAY_ROWS = 10_000;
/** Length of the text of the rows that are grouped at once, and of the groups that a cursor gives at a time. */
const GROUPED_LENGTH = 256 * 1024;
const GROUPS_LENGTH = 64 * 1024;

export async function select(space: Namespace, asked: ObjectValue, actor: Actor): Promise<Answer> {
  const [resource, payload, partOf] = readable(space, asked, 'select', actor.identity);
  const cardinality = getOwn(payload, 'cardinality');
  const single = cardinality === 'one' || cardinality === 'exactlyOne';
  const limit = wholeOption(payload, 'limit') ?? ARRAY_ROWS;
  if (limit > MOST_ARRAY_ROWS) throw apiError('cascade.query.limit.range', 'limit', 0, MOST_ARRAY_ROWS);
  using kept = keepOfRows(space.storage.rows);
  const groups = await groupsOf(space, resource, payload, partOf, actor, kept);
  const query = { ...queryOf(payload, single ? 2 : limit), partOf };
  const rows = groups ?? (limit === 0 ? [] : await rowsOf(space, resource, query, actor));
  if (!single) return { list: groups ? await innerText(space, within(groups, payload, limit)) : `[${rows.join(',')}]` };
  if (rows.length > 1) throw apiError('cascade.query.not.unique', resource.name);
  if (rows.length === 0 && cardinality === 'exactlyOne') throw await notFoundBy(space, resource, getOwn(asked, 'where'), actor, false);
  const [row = 'null'] = rows;
  return { ok: typeof row === 'string' ? row : await innerText(space, row) };
}

function queryOf(payload: ObjectValue, limit: number): ProgramQuery {
  const props = getOwn(payload, 'props');
  return {
    where: getOwn(payload, 'where'),
    props: Array.isArray(props) ? (props as string[]) : null,
    orderBy: getOwn(payload, 'orderBy') as [string, boolean][],
    skip: wholeOption(payload, 'skip') ?? 0,
    limit,
    forChange: Object.hasOwn(payload, 'forChange') && getOwn(payload, 'forChange') === true,
  };
}

/** The options `limit` and `skip`: whole and not negative (language.md E11). */
function wholeOption(payload: ObjectValue, name: string): number | undefined {
  const value = Object.hasOwn(payload, name) ? getOwn(payload, name) : null;
  if (value === null) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw apiError('cascade.query.limit.range', name, 0, MOST_ARRAY_ROWS);
  return value;
}

async function rowsOf(space: Namespace, resource: Selectable, query: ProgramQuery, actor: Actor): Promise<string[]> {
  if (!('kind' in resource)) {
    const found = await resource.matching(space, query.where, actor.identity);
    return inMemory(found, resource.type, query).map(encodeInner);
  }
  if (resource.kind === 'instances') return selectRows(space, resource, query, actor);
  return inMemory(matching(space, resource, query.where, actor), resource.type, query).map(encodeInner);
}

function inMemory(found: ObjectValue[], type: TypeDefinition, query: ProgramQuery): ObjectValue[] {
  const order: ObjectValue = Object.fromEntries(query.orderBy.map(([path, descending]) => [path, descending ? -1 : 1] as const));
  const rows = found.sort(compareBy(parseSort(order, type))).slice(query.skip, query.limit > 0 ? query.skip + query.limit : undefined);
  const { props } = query;
  return props ? rows.map((row) => projected(row, props)) : rows;
}

export async function open(space: Namespace, asked: ObjectValue, actor: Actor): Promise<Answer> {
  const [resource, payload, partOf] = readable(space, asked, 'select', actor.identity);
  const limit = wholeOption(payload, 'limit');
  const kept = keepOfRows(space.storage.rows);
  let groups: ObjectValue[] | null = null;
  try {
    groups = await groupsOf(space, resource, payload, partOf, actor, kept);
  } finally {
    if (!groups) kept[Symbol.dispose]();
  }
  if (groups) return { ok: await space.states.get(CURSORS).open(groupPages(space, within(groups, payload, limit), kept), actor) };
  const query = { ...queryOf(payload, limit ?? 0), partOf };
  if (limit === 0) return { ok: await space.states.get(CURSORS).open(onePage([]), actor) }; // a query takes 0 for no limit
  const pages =
    'kind' in resource && resource.kind === 'instances'
      ? selectPages(space, resource, query, actor)
      : onePage(await rowsOf(space, resource, query, actor));
  return { ok: await space.states.get(CURSORS).open(pages, actor) };
}

/** Groups are written when they are asked for. @param kept is disposed of with them */
async function* groupPages(space: Namespace, groups: readonly ObjectValue[], kept: Held): AsyncGenerator<WalkPage> {
  using _kept = kept;
  let rows: string[] = [];
  let length = 0;
  for (const group of groups) {
    const text = await innerText(space, group);
    rows.push(text);
    length += text.length;
    if (length < GROUPS_LENGTH) continue;
    yield { rows, isLast: false };
    [rows, length] = [[], 0];
  }
  yield { rows, isLast: true };
}

async function* onePage(rows: string[]): AsyncGenerator<WalkPage> {
  yield { rows, isLast: true };
}

/** The groups of a SELECT with aggregates or GROUP BY, as many as there are; null: it gives instances. */
async function groupsOf(
  space: Namespace,
  resource: Selectable,
  payload: ObjectValue,
  partOf: string | undefined,
  actor: Actor,
  kept: Held,
): Promise<ObjectValue[] | null> {
  const aggregates = Object.hasOwn(payload, 'aggregates') ? (getOwn(payload, 'aggregates') as ObjectValue) : null;
  const groupBy = (Object.hasOwn(payload, 'groupBy') ? getOwn(payload, 'groupBy') : []) as string[];
  if (!aggregates && groupBy.length === 0) return null;
  const wanted = Object.entries(aggregates ?? {}) as [string, [AggregateName, string | null]][];
  const read = [...groupBy, ...wanted.flatMap(([, [, path]]) => path ?? [])].map((path) => path.split('.', 1)[0] ?? path);
  const props = read.length > 0 ? read : ['_id'];
  const query: ProgramQuery = { ...queryOf(payload, 0), partOf, skip: 0, props }; // limit and skip apply to the groups
  const pages =
    'kind' in resource && resource.kind === 'instances'
      ? selectPages(space, resource, query, { ...actor, readSet: null }, GROUPED_LENGTH)
      : onePage(await rowsOf(space, resource, query, actor));
  return aggregateRows(space, resource.name, pages, wanted, groupBy, kept);
}

/** Of the groups those that the options `skip` and `limit` leave. */
function within(groups: ObjectValue[], payload: ObjectValue, limit = wholeOption(payload, 'limit') ?? groups.length): ObjectValue[] {
  const from = wholeOption(payload, 'skip') ?? 0;
  return groups.slice(from, from + limit);
}
