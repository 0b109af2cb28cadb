// The store's filter, rebuilt from a checked condition: no object of a caller is in it. It means what matches.ts says, which a test holds.
// Negations are `$nor` around the positive filter, so that they are true for what is missing, too.
import type { Document } from 'mongodb';
import { toBson } from '../values/index.ts';
import { elementFilter, type Fields, fieldsOf } from './composite.ts';
import { bothNames, elementOperators, inEitherOrder, referenceForms } from './element-operators.ts';
import { geometryToBson, SHAPE_TYPES } from './geo/to-bson.ts';
import { idFilter } from './id-filter.ts';
import { passes } from './matches.ts';
import { isMoneyText, moneyOperands, moneyPatterns } from './money-text.ts';
import { arraySchema, hasOneOrder, sameDataFilter, schemaFilter } from './same-data.ts';
import { storedName } from './stored-names.ts';
import type { Condition, ConditionPath, Constant, Predicate, Test } from './types.ts';

/** Matches nothing, and costs nothing. */
export const NOTHING: Document = { _id: { $in: [] } };

export interface FilterOptions {
  /** Leaves `$near` out: for `$geoNear` and for counting, where it stands elsewhere. */
  readonly withoutNear?: boolean;
}

export function toFilter({ condition }: Predicate, options: FilterOptions = {}): Document {
  return conditionFilter(condition, options);
}

function conditionFilter(condition: Condition, options: FilterOptions): Document {
  if (condition.op === 'property') return all(condition.tests.map((test) => testFilter(test, condition.path, options)));
  const terms = condition.terms.map((term) => conditionFilter(term, options));
  return condition.op === 'and' ? all(terms) : { [`$${condition.op}`]: terms };
}

/** All of the filters; `{}` when there are none. */
export function all(filters: readonly Document[]): Document {
  const real = filters.filter((filter) => Object.keys(filter).length > 0);
  return real.length > 1 ? { $and: real } : (real[0] ?? {});
}

const not = (filter: Document): Document => ({ $nor: [filter] });

function testFilter(test: Test, path: ConditionPath, options: FilterOptions): Document {
  if (!path.known) return passes(test, path.kind, { values: [], positioned: [], missing: true }, 'path') ? {} : NOTHING;
  const at = storedName(path.stored);
  switch (test.op) {
    case 'ne':
      return not(testFilter({ op: 'eq', value: test.value }, path, options));
    case 'nin':
      return not(testFilter({ op: 'in', values: test.values }, path, options));
    case 'not':
      return not(all(test.tests.map((inner) => testFilter(inner, path, options))));
    case 'near':
      return options.withoutNear ? {} : nearFilter(test, at);
    case 'exists':
      return { [at]: { $exists: test.exists } };
    case 'size':
      return test.size > 0x7fffffff ? NOTHING : { [at]: { $size: test.size } };
    case 'elementWhere':
      return { [at]: { $elemMatch: conditionFilter(test.where, options) } };
    default: {
      if (path.kind === 'Id') return idFilter(test, at);
      if (isMoneyText(path)) return moneyFilter(test, path, at);
      const fields = path.asData ? null : fieldsOf(path.kind);
      return fields ? compositeFilter(test, path, at, fields) : plainFilter(test, path, at);
    }
  }
}

type ValueTest = Exclude<Test, { op: 'ne' | 'nin' | 'not' | 'near' | 'exists' | 'size' | 'elementWhere' }>;

/** Values that are one BSON value each. */
function plainFilter(test: ValueTest, path: ConditionPath, at: string): Document {
  switch (test.op) {
    case 'eq':
      return equality(test.value, path, at);
    case 'in': {
      const simple = test.values.filter((value) => isSimple(value, path));
      const others = test.values.filter((value) => !isSimple(value, path)).map((value) => equality(value, path, at));
      if (others.length === 0) return { [at]: { $in: operands(simple, path) } };
      return { $or: simple.length > 0 ? [{ [at]: { $in: operands(simple, path) } }, ...others] : others };
    }
    case 'all':
      return test.values.length === 0
        ? NOTHING
        : all(test.values.map((value) => (value === null ? { [at]: { $elemMatch: { $eq: null } } } : equality(value, path, at))));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { [at]: { [`$${test.op}`]: toBson(test.value) } };
    case 'regex':
      return { [at]: { $regex: test.pattern.pcre } };
    case 'element':
      return { [at]: { $elemMatch: elementOperators(test.tests, path) } };
    case 'geoIntersects':
    case 'geoWithin': {
      const filter = { [at]: { [`$${test.op}`]: { $geometry: geometryToBson(test.shape) } } };
      return path.kind === 'Json' ? { $and: [{ [`${at}.type`]: { $in: SHAPE_TYPES } }, filter] } : filter;
    }
  }
}

const isSimple = (value: Constant, { kind }: ConditionPath): boolean =>
  value !== null && (kind === 'ResourceReference' ? !Array.isArray(value) : hasOneOrder(value));

const operands = (values: readonly Constant[], { kind }: ConditionPath): unknown[] => {
  if (kind === 'ResourceName') return values.flatMap(bothNames);
  return kind === 'ResourceReference' ? values.flatMap(referenceForms) : values.map(toBson);
};

function equality(value: Constant, path: ConditionPath, at: string): Document {
  if (value === null) return nullFilter(path, at);
  if (path.kind === 'ResourceName') return { [at]: { $in: bothNames(value) } };
  if (path.kind !== 'ResourceReference') return sameDataFilter(at, value) ?? { [at]: { $eq: toBson(value) } };
  if (!Array.isArray(value)) return { [at]: { $in: referenceForms(value) } };
  return schemaFilter(at, arraySchema(value.map((element) => ({ enum: element === null ? [null] : inEitherOrder(element) }))));
}

/** Currencies inside Objects, and their parts: texts there. */
function moneyFilter(test: ValueTest, path: ConditionPath, at: string): Document {
  const equalTo = (value: Constant): Document => moneyFilter({ op: 'eq', value }, path, at);
  switch (test.op) {
    case 'eq':
      if (test.value === null) return nullFilter(path, at);
      return Array.isArray(test.value) ? wholeMoneyArray(test.value, path, at) : matching(test, path, at);
    case 'in': {
      const others = test.values.filter((value) => value === null || Array.isArray(value)).map(equalTo);
      return others.length === 0 ? matching(test, path, at) : { $or: [matching(test, path, at), ...others] };
    }
    case 'all':
      return test.values.length === 0 || test.values.includes(null) ? NOTHING : all(test.values.map(equalTo));
    case 'element':
      return { [at]: { $elemMatch: elementOperators(test.tests, path) } };
    default:
      return matching(test, path, at);
  }
}

function matching(test: ValueTest, path: ConditionPath, at: string): Document {
  const operands = moneyOperands(test, path);
  return operands.length === 0 ? NOTHING : { [at]: { $in: operands } };
}

function wholeMoneyArray(values: readonly Constant[], path: ConditionPath, at: string): Document {
  const elements = values.map((value): Document => {
    const [pattern] = moneyPatterns({ op: 'eq', value }, path);
    return pattern === undefined ? { enum: value === null ? [null] : [] } : { bsonType: 'string', pattern };
  });
  return elements.some(({ enum: none }) => Array.isArray(none) && none.length === 0) ? NOTHING : schemaFilter(at, arraySchema(elements));
}

/** Null, or not there. Where arrays may be on the way, the store's own `null` would miss an empty one. */
function nullFilter(path: ConditionPath, at: string): Document {
  if (path.indexed) return { $or: [{ [at]: { $exists: false } }, { [at]: { $type: 'null' } }] };
  if (path.steps.length === 1 && path.part === null) return { [at]: null };
  return { $or: [{ [at]: null }, { [at]: { $exists: false } }] };
}

/** Currencies and references: two members each, of one and the same element. */
function compositeFilter(test: ValueTest, path: ConditionPath, at: string, fields: Fields): Document {
  if (test.op === 'eq' && test.value === null) return nullFilter(path, at);
  if (test.op === 'eq' && Array.isArray(test.value)) return wholeArray(test.value, path, at, fields);
  if (test.op === 'in' && test.values.some((value) => value === null || Array.isArray(value)))
    return { $or: test.values.map((value) => compositeFilter({ op: 'eq', value }, path, at, fields)) };
  if (test.op === 'all')
    return test.values.length === 0 || test.values.includes(null)
      ? NOTHING
      : all(test.values.map((value) => compositeFilter({ op: 'eq', value }, path, at, fields)));
  if (test.op === 'element') return { [at]: { $elemMatch: all(test.tests.map((inner) => elementFilter(inner, fields))) } };
  const filter = elementFilter(test, fields);
  return path.multi ? { [at]: { $elemMatch: filter } } : prefixed(filter, at);
}

function wholeArray(values: readonly Constant[], path: ConditionPath, at: string, fields: Fields): Document {
  const elements = values.map((value, i) =>
    value === null ? NOTHING : prefixed(elementFilter({ op: 'eq', value }, fields), `${at}.${i}`),
  );
  return path.multi ? all([{ [at]: { $size: values.length } }, ...elements]) : NOTHING;
}

/** The filter for members of an element, for those of the value at a path. */
function prefixed(filter: Document, at: string): Document {
  return Object.fromEntries(
    Object.entries(filter).map(([name, operand]) =>
      name.startsWith('$')
        ? [name, (operand as Document[]).map((inner) => prefixed(inner, at))]
        : [name === '_id' ? name : `${at}.${name}`, operand],
    ),
  );
}

function nearFilter({ point, minDistance, maxDistance }: Extract<Test, { op: 'near' }>, at: string): Document {
  const bounds: Document = { $geometry: geometryToBson(point) };
  if (minDistance > 0) bounds['$minDistance'] = minDistance;
  if (Number.isFinite(maxDistance)) bounds['$maxDistance'] = maxDistance;
  return { [at]: { $nearSphere: bounds } };
}
