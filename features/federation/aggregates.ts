// Aggregates of a SELECT on a node (language.md D8): an aggregation pipeline computes them on the node. Where its result would differ from
// a program's (builtins.md 16: nulls, currencies, values of mixed kinds), they are computed here from the node's rows.
import type { AggregateName } from '../../stdlib/isolate/index.ts';
import { encodeInner, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { equalText } from '../../stdlib/operators/index.ts';
import { aggregateRows } from '../../resources/aggregate/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { keepOfRows } from '../../resources/representation/index.ts';
import { own } from '../../resources/operations/index.ts';
import { whole } from './options.ts';

export interface NodeRows {
  /** A page of the SELECT's rows, after `skip` rows. */
  readonly page: (statement: ObjectValue, skip: number) => Promise<Value[]>;
  /** The size of a page; a shorter one is the last. */
  readonly pageRows: number;
  readonly pipeline: (stages: Value[]) => Promise<Value[]>;
  /** The order of the statement, as a `$sort`. */
  readonly order: ObjectValue;
}

type Wanted = readonly (readonly [name: string, [fn: AggregateName, path: string | null]])[];

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Name of the position of each group's first instance, since groups are ordered by their first appearance. */
const FIRST = 'ars_first';
const ROWS = 'ars_rows';
const kindsOf = (index: number): string => `ars_kinds_${index}`;

const ACCUMULATORS: Readonly<Record<string, string>> = {
  sum: '$sum',
  avg: '$avg',
  min: '$min',
  max: '$max',
  first: '$first',
  last: '$last',
};
const NUMBERS: ReadonlySet<string> = new Set(['int', 'long', 'double']);
const ABSENT: ReadonlySet<string> = new Set(['null', 'missing', 'undefined']);
/** Kinds for which a pipeline's least and greatest are those of programs, where all values are of one kind. */
const ORDERED: ReadonlySet<string> = new Set(['string', 'date', 'decimal']);

/** The groups: of a SELECT ONE all there are. @throws errors of `page` and `pipeline`; cascade.query.aggregate.value, cascade.query.limit.range */
export async function aggregated(space: Namespace, statement: ObjectValue, rows: NodeRows): Promise<Value[]> {
  const groupBy = (own(statement, 'groupBy') ?? []) as string[];
  const wanted = Object.entries(own(statement, 'aggregates') ?? {}) as unknown as Wanted;
  const found = (await byPipeline(wanted, groupBy, statement, rows)) ?? (await byRows(space, wanted, groupBy, statement, rows));
  const single = ['one', 'exactlyOne'].includes(String(own(statement, 'cardinality')));
  const [limit, skip] = [whole(statement, 'limit'), whole(statement, 'skip') ?? 0];
  return single ? found : found.slice(skip, limit === null ? undefined : skip + limit);
}

/** Computes the aggregates from all rows of the node, reading only the properties that they need. */
async function byRows(
  space: Namespace,
  wanted: Wanted,
  groupBy: readonly string[],
  statement: ObjectValue,
  { page, pageRows }: NodeRows,
): Promise<Value[]> {
  const paths = [...groupBy, ...wanted.flatMap(([, [, path]]) => path ?? [])];
  const props = [...new Set(paths.map((path) => path.split('.')[0] ?? path))];
  const query = { ...statement, props: props.length > 0 ? props : ['_id'] };
  const pages = (async function* () {
    for (let at = 0; ; at += pageRows) {
      const found = await page(query, at);
      yield { rows: found.map(encodeInner), isLast: found.length < pageRows };
      if (found.length < pageRows) return;
    }
  })();
  using kept = keepOfRows(space.storage.rows);
  return await aggregateRows(space, String(own(statement, 'resource')), pages, wanted, groupBy, kept);
}

/** Computes the aggregates by a pipeline; null: the rows themselves are needed. */
async function byPipeline(
  wanted: Wanted,
  groupBy: readonly string[],
  statement: ObjectValue,
  { pipeline, order }: NodeRows,
): Promise<Value[] | null> {
  const names = [...wanted.map(([name]) => name), ...groupBy];
  const isPlain = wanted.every(([, [fn, path]]) => path === null || fn === 'count' || Object.hasOwn(ACCUMULATORS, fn));
  if (!isPlain || names.some((name) => !NAME.test(name))) return null;
  const ordered = Object.keys(order);
  if (groupBy.length > 0 && ordered.some((path) => !groupBy.includes(path))) return null; // grouping would lose the order of the rows
  // What was never set is one group with what is null (language.md D8 E8): the store would leave it out of the key.
  const key: ObjectValue = Object.fromEntries(groupBy.map((name): [string, Value] => [name, { $ifNull: [`$${name}`, null] }]));
  const group: ObjectValue = { _id: groupBy.length === 0 ? null : key };
  for (const [index, [name, [fn, path]]] of wanted.entries()) {
    setOwn(group, name, accumulator(fn, path));
    if (isJudged(fn, path)) setOwn(group, kindsOf(index), { $addToSet: { $type: `$${path}` } });
  }
  setOwn(group, FIRST, { $first: '$_id' });
  setOwn(group, ROWS, { $sum: 1 });
  const stages: Value[] = [{ $match: own(statement, 'where') ?? {} }, { $sort: { ...order, _id: 1 } }, { $group: group }];
  if (groupBy.length > 0) {
    const byKeys = Object.fromEntries(ordered.map((path) => [`_id.${path}`, own(order, path)] as const));
    stages.push({ $sort: { ...byKeys, [FIRST]: 1 } });
  }
  const found = (await pipeline(stages)).filter(isObject);
  if (found.length === 0 && groupBy.length === 0) return [rowOfNone(wanted)];
  if (found.some((row) => !wanted.every(([name, [fn, path]], index) => isAsProgramsDo(row, { name, fn, path, index })))) return null;
  // The store tells Objects apart by the order of their members.
  if (new Set(found.map((row) => equalText(own(row, '_id') ?? null))).size < found.length) return null;
  return found.map((row) => {
    const keys = own(row, '_id');
    const shown: ObjectValue = {};
    for (const name of groupBy) setOwn(shown, name, isObject(keys) ? own(keys, name) : null);
    for (const [name] of wanted) setOwn(shown, name, own(row, name));
    return shown;
  });
}

function accumulator(fn: string, path: string | null): Value {
  if (path === null) return { $sum: 1 };
  if (fn === 'count') return { $sum: { $cond: [{ $gt: [`$${path}`, null] }, 1, 0] } };
  return { [ACCUMULATORS[fn] ?? '$sum']: `$${path}` };
}

/** Whether the result depends on the kinds of the values. */
const isJudged = (fn: string, path: string | null): boolean => path !== null && ['sum', 'avg', 'min', 'max'].includes(fn);

/** The result over no rows (builtins.md 16). */
function rowOfNone(wanted: Wanted): ObjectValue {
  const row: ObjectValue = {};
  for (const [name, [fn, path]] of wanted) setOwn(row, name, path === null || fn === 'count' ? 0 : null);
  return row;
}

interface Asked {
  readonly name: string;
  readonly fn: string;
  readonly path: string | null;
  readonly index: number;
}

/** Whether the pipeline's result equals that of the built-in of the same name. */
function isAsProgramsDo(row: ObjectValue, { name, fn, path, index }: Asked): boolean {
  if (!isJudged(fn, path)) return true;
  const kinds = own(row, kindsOf(index));
  if (!Array.isArray(kinds)) return false;
  const given = kinds.map(String);
  const result = own(row, name);
  if (fn === 'min' || fn === 'max') {
    const present = given.filter((kind) => !ABSENT.has(kind));
    return present.every((kind) => NUMBERS.has(kind)) || (present.length === 1 && ORDERED.has(present[0] ?? ''));
  }
  if (fn === 'avg') return given.every((kind) => NUMBERS.has(kind));
  if (given.length === 1 && given[0] === 'decimal') return true;
  // The store converts a sum of Integers that overflows to a Real.
  return given.every((kind) => NUMBERS.has(kind)) && (given.includes('double') || isInteger(result));
}
