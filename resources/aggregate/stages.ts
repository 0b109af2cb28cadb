// The stages of a pipeline, each checked and rebuilt (resources-and-api.md 3.6). A stage returns the shape of its documents.

import type { Document } from 'mongodb';
import { isInteger, isNumber, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type ConditionContext, dataScope, instanceScope, parseWhereIn, toFilter } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { coerceProperty } from '../../model/types/index.ts';
import type { Holder } from '../scalars/index.ts';
import { propertyToBson } from '../../model/values/index.ts';
import { type Budget, expression, literal, refused } from './expressions.ts';
import { geoNear, withoutNear } from './geo-near.ts';
import { lookup, type RemovedFrom, type TypeNamed, type VisibleOf } from './lookup.ts';
import { giving, type Meaning, meaningOf, membersOf, objectOf as holderOf, rootOf } from './meaning.ts';
import { withoutParts, withParts } from './currency-parts.ts';
import { orderOf } from './money-text.ts';
import { fieldAt, keeping, newName, type Shape, untyped, without, requireObject } from './shape.ts';

export interface PipelineContext {
  readonly budget: Budget;
  readonly condition: ConditionContext;
  readonly typeNamed: TypeNamed;
  readonly visible: VisibleOf;
  readonly removedFrom: RemovedFrom;
  /** Conditions that the service adds for every document. */
  readonly front: Document;
  /** Whether the stage is inside a $facet. */
  readonly nested: boolean;
}

export interface Built {
  readonly stages: readonly Document[];
  readonly shape: Shape;
}

const MOST_STAGES = 50;
/** A member that rows have while they are sorted. */
const SORT_KEY = 'ars_sort_key_';
const MOST_SAMPLES = 10_000;

type Build = (operand: Value, shape: Shape, context: PipelineContext) => Built;

const STAGES: Readonly<Record<string, Build>> = {
  $match: (operand, shape, { condition }) => {
    const scope = (text: string) => (shape.typed.has(text.split('.', 1)[0] as string) ? instanceScope(shape.type)(text) : dataScope(text));
    return kept({ $match: toFilter(withoutNear(parseWhereIn(operand, idAsText(shape, scope), condition))) }, shape);
  },
  $group: (operand, shape, { budget }) => {
    const body = objectOf(operand, '$group');
    if (!Object.hasOwn(body, '_id')) throw invalid('_id', '$group');
    const stage: Document = { _id: expression(body['_id'] as Value, shape, budget, '$group') };
    Object.assign(stage, accumulators(body, '$group', shape, budget, ['_id']));
    const meanings = [['_id', meaningOf(body['_id'] as Value, shape)] as const, ...accumulated(body, shape)];
    return { stages: [{ $group: stage }], shape: giving(untyped(shape), meanings) };
  },
  $bucket: (operand, shape, { budget }) => {
    const body = only(objectOf(operand, '$bucket'), ['groupBy', 'boundaries', 'default', 'output'], '$bucket');
    const stage: Document = {
      groupBy: expression(body['groupBy'] ?? null, shape, budget, '$bucket'),
      boundaries: boundaries(body, shape),
    };
    if (Object.hasOwn(body, 'default')) stage['default'] = literal(body['default'] as Value);
    if (!Object.hasOwn(body, 'output')) return { stages: [{ $bucket: stage }], shape: untyped(shape) };
    const output = objectOf(body['output'] as Value, '$bucket');
    stage['output'] = accumulators(output, '$bucket', shape, budget);
    return { stages: [{ $bucket: stage }], shape: giving(untyped(shape), accumulated(output, shape)) };
  },
  $bucketAuto: (operand, shape, { budget }) => {
    const body = only(objectOf(operand, '$bucketAuto'), ['groupBy', 'buckets', 'output', 'granularity'], '$bucketAuto');
    const stage: Document = {
      groupBy: expression(body['groupBy'] ?? null, shape, budget, '$bucketAuto'),
      buckets: wholeNumber(body['buckets'] ?? null, 1, MOST_SAMPLES, '$bucketAuto'),
    };
    if (Object.hasOwn(body, 'granularity')) stage['granularity'] = textOf(body['granularity'] as Value, '$bucketAuto');
    const bound = meaningOf(body['groupBy'] ?? null, shape);
    const between = bound === null || bound === 'constant' ? null : withMembers(['min', 'max'], bound);
    const output = Object.hasOwn(body, 'output') ? objectOf(body['output'] as Value, '$bucketAuto') : null;
    if (output) stage['output'] = accumulators(output, '$bucketAuto', shape, budget);
    const meanings = [['_id', between] as const, ...accumulated(output ?? {}, shape)];
    return { stages: [{ $bucketAuto: stage }], shape: giving(untyped(shape), meanings) };
  },
  $sortByCount: (operand, shape, { budget }) => ({
    stages: [{ $sortByCount: expression(operand, shape, budget, '$sortByCount') }],
    shape: giving(untyped(shape), [['_id', meaningOf(operand, shape)]]),
  }),
  $count: (operand, shape) => ({ stages: [{ $count: newName(operand, '$count') }], shape: untyped(shape) }),
  $project: project,
  $addFields: addFields,
  $set: addFields,
  $unset: (operand, shape) => {
    const names = (Array.isArray(operand) ? operand : [operand]).map((name) => textOf(name, '$unset'));
    if (names.length === 0) throw invalid('', '$unset');
    return excluding(names, shape, (paths) => ({ $unset: paths }), '$unset');
  },
  $replaceRoot: (operand, shape, { budget }) => {
    const body = only(objectOf(operand, '$replaceRoot'), ['newRoot'], '$replaceRoot');
    requireObject(body['newRoot'] ?? null, shape, '$replaceRoot');
    const newRoot = expression(body['newRoot'] ?? null, shape, budget, '$replaceRoot');
    return { stages: [{ $replaceRoot: { newRoot } }], shape: replaced(body['newRoot'] ?? null, shape) };
  },
  $replaceWith: (operand, shape, { budget }) => {
    requireObject(operand, shape, '$replaceWith');
    return { stages: [{ $replaceWith: expression(operand, shape, budget, '$replaceWith') }], shape: replaced(operand, shape) };
  },
  $sort: (operand, shape) => {
    const stage: Document = {};
    const keys: Document = {}; // a Currency inside an Object is ordered by its parts, which are taken out of its text
    for (const [name, direction] of Object.entries(objectOf(operand, '$sort'))) {
      if (direction !== 1 && direction !== -1) throw invalid(name, '$sort');
      const { path, money } = fieldAt(shape, name, '$sort');
      const key = money ? `${SORT_KEY}${Object.keys(keys).length}` : path;
      if (money) keys[key] = orderOf(money);
      stage[key] = direction;
    }
    if (Object.keys(stage).length === 0) throw invalid('', '$sort');
    const names = Object.keys(keys);
    if (names.length === 0) return kept({ $sort: stage }, shape);
    return { stages: [{ $addFields: keys }, { $sort: stage }, { $unset: names }], shape };
  },
  $limit: (operand, shape) => kept({ $limit: wholeNumber(operand, 1, Number.MAX_SAFE_INTEGER, '$limit') }, shape),
  $skip: (operand, shape) => kept({ $skip: wholeNumber(operand, 0, Number.MAX_SAFE_INTEGER, '$skip') }, shape),
  $sample: (operand, shape) => {
    const { size = null } = only(objectOf(operand, '$sample'), ['size'], '$sample');
    return kept({ $sample: { size: wholeNumber(size, 1, MOST_SAMPLES, '$sample') } }, shape);
  },
  $unwind: unwind,
  $facet: (operand, shape, context) => {
    const stage: Document = {};
    const meanings: [string, Meaning][] = [];
    for (const [name, pipeline] of Object.entries(objectOf(operand, '$facet'))) {
      const built = buildPipeline(pipeline, shape, { ...context, nested: true });
      stage[newName(name, '$facet')] = built.stages;
      meanings.push([name, rootOf(built.shape)]);
    }
    if (Object.keys(stage).length === 0) throw invalid('', '$facet');
    return { stages: [{ $facet: stage }], shape: giving(untyped(shape), meanings) };
  },
  $lookup: (operand, shape, context) => lookup(objectOf(operand, '$lookup'), shape, context),
  $geoNear: (operand, shape, { condition, front }) => geoNear(objectOf(operand, '$geoNear'), shape, condition, front),
};

/** @throws cascade.query.stage.forbidden, and what the stages throw */
export function buildPipeline(pipeline: Value, shape: Shape, context: PipelineContext): Built {
  if (!Array.isArray(pipeline)) throw apiError('cascade.request.body.invalid', 'a pipeline is an array of stages', 0);
  if (pipeline.length > MOST_STAGES) throw apiError('cascade.query.too.expensive', 'stages');
  const startsNear = !context.nested && isObject(pipeline[0] ?? null) && Object.hasOwn(pipeline[0] as ObjectValue, '$geoNear');
  const stages: Document[] = startsNear || context.nested || Object.keys(context.front).length === 0 ? [] : [{ $match: context.front }];
  let current = shape;
  for (const [at, stage] of pipeline.entries()) {
    context.budget.node(1);
    const [name, second] = isObject(stage) ? Object.keys(stage) : [];
    if (!isObject(stage) || name === undefined || second !== undefined)
      throw apiError('cascade.request.body.invalid', `stage ${at} is no object of one member`, 0);
    const build = Object.hasOwn(STAGES, name) ? STAGES[name] : undefined;
    const misplaced = (name === '$geoNear' && (at > 0 || context.nested)) || (name === '$facet' && context.nested);
    if (!build || misplaced) throw apiError('cascade.query.stage.forbidden', name);
    const built = build(stage[name] as Value, current, context);
    stages.push(...built.stages);
    current = built.shape;
  }
  if (stages.length > MOST_STAGES + 10) throw apiError('cascade.query.too.expensive', 'stages');
  return { stages, shape: current };
}

const kept = (stage: Document, shape: Shape): Built => ({ stages: [stage], shape });
const invalid = (path: string, operator: string) => apiError('cascade.query.operand.invalid', path, operator);

/** An `_id` that is stored as text is not an instance's ObjectId. */
function idAsText(shape: Shape, scope: ReturnType<typeof instanceScope>): ReturnType<typeof instanceScope> {
  return shape.textId ? (text) => (text === '_id' ? dataScope(text) : scope(text)) : scope;
}

const ACCUMULATORS = new Set([
  '$sum',
  '$avg',
  '$min',
  '$max',
  '$first',
  '$last',
  '$push',
  '$addToSet',
  '$stdDevPop',
  '$stdDevSamp',
  '$count',
]);
/** Those whose value is one of the values, or all of them. */
const COLLECTING = new Set(['$first', '$last', '$push', '$addToSet', '$min', '$max']);

/** What the results of accumulators are. */
const accumulated = (body: ObjectValue, shape: Shape): (readonly [string, Meaning])[] =>
  Object.entries(body).flatMap(([name, operand]) => {
    const [accumulator = ''] = isObject(operand) ? Object.keys(operand) : [];
    return COLLECTING.has(accumulator) ? [[name, meaningOf((operand as ObjectValue)[accumulator] as Value, shape)] as const] : [];
  });

const replaced = (root: Value, shape: Shape): Shape => giving(untyped(shape), membersOf(meaningOf(root, shape)));
const withMembers = (names: readonly string[], meaning: Holder): Holder => holderOf(new Map(names.map((name) => [name, meaning])));

const CALCULATING = new Set(['$stdDevPop', '$stdDevSamp']);

function accumulators(body: ObjectValue, stage: string, shape: Shape, budget: Budget, except: readonly string[] = []): Document {
  const result: Document = {};
  for (const [name, operand] of Object.entries(body)) {
    if (except.includes(name)) continue;
    const [accumulator, second] = isObject(operand) ? Object.keys(operand) : [];
    if (!isObject(operand) || accumulator === undefined || second !== undefined) throw invalid(name, stage);
    if (!ACCUMULATORS.has(accumulator)) throw refused(accumulator);
    const given = operand[accumulator] as Value;
    const inner = CALCULATING.has(accumulator) ? '$avg' : accumulator; // these accumulators take the value of a Currency, too
    result[newName(name, stage)] = { [accumulator]: accumulator === '$count' ? {} : expression(given, shape, budget, inner) };
  }
  return result;
}

/** Constants, converted to the type of the property that they divide. */
function boundaries(body: ObjectValue, shape: Shape): unknown[] {
  const given = body['boundaries'];
  if (!Array.isArray(given) || given.length < 2) throw invalid('boundaries', '$bucket');
  const groupBy = body['groupBy'];
  const field = typeof groupBy === 'string' && /^\$[^$]/.test(groupBy) ? fieldAt(shape, groupBy.slice(1), '$bucket') : undefined;
  const property = field?.isWhole && field.base !== 'Currency' ? field.property : undefined;
  if (!property) return given.map(literal);
  return given.map((value) => propertyToBson(property.base, coerceProperty(shape.type, { ...property, multi: false }, value)));
}

function project(operand: Value, shape: Shape, { budget }: PipelineContext): Built {
  const stage: Document = {};
  const kept: string[] = [];
  const left: string[] = [];
  const computed: string[] = [];
  const meanings: [string, Meaning][] = [];
  for (const [name, value] of Object.entries(objectOf(operand, '$project'))) {
    const flag = typeof value === 'boolean' ? value : isNumber(value) ? !(value === 0) : null;
    const field = fieldAt(shape, name, '$project');
    if (flag === null) {
      stage[name] = expression(value, shape, budget, '$project');
      computed.push(name);
      meanings.push([name, meaningOf(value, shape)]);
    } else if (flag && (field.path !== name || field.money?.part)) {
      stage[name] = expression(`$${name}`, shape, budget, '$project'); // a part of a Currency
      computed.push(name);
    } else {
      stage[name] = flag;
      (flag ? kept : left).push(name);
    }
  }
  if (Object.keys(stage).length === 0) throw invalid('', '$project');
  const asFlags = (paths: readonly string[]) => ({ $project: Object.fromEntries(paths.map((path) => [path, false])) });
  if (kept.length === 0 && computed.length === 0) return excluding(left, shape, asFlags, '$project');
  if (left.some((name) => name !== '_id')) throw invalid(left[0] ?? '', '$project');
  const names = [...new Set(['_id', ...kept.map((name) => name.split('.', 1)[0] as string)])].filter(
    (name) => !left.includes(name) && !computed.some((other) => other.split('.', 1)[0] === name),
  );
  // Beside a computed member a kept one makes a new Object with it.
  const beside = kept.filter((name) => name.includes('.') && !names.includes(name.split('.', 1)[0] as string));
  const members = beside.map((name): [string, Meaning] => [name, meaningOf(`$${name}`, shape)]);
  return { stages: [{ $project: stage }], shape: giving(keeping(shape, names), [...members, ...meanings]) };
}

/** @param stage takes stored paths away */
function excluding(names: readonly string[], shape: Shape, stage: (paths: readonly string[]) => Document, operator: string): Built {
  const paths = new Map(names.map((name) => [name, fieldAt(shape, name, operator).path]));
  const { stages, changed, others } = withoutParts(shape, names);
  const first = others.length > 0 ? [stage(others.map((name) => paths.get(name) as string))] : [];
  const none = changed.map((path): [string, Meaning] => [path, null]);
  return { stages: [...first, ...stages], shape: giving(leaving(shape, others), none) };
}

/** The shape after a stage that takes these names away: what only members are taken of stays what it is, where it has members. */
function leaving(shape: Shape, names: readonly string[]): Shape {
  const hasMembers = (name: string): boolean => shape.computed.has(name) || shape.type.properties.get(name)?.base === 'Object';
  return without(
    shape,
    names.filter((name) => !name.includes('.') || !hasMembers(name.split('.', 1)[0] as string)),
  );
}

function addFields(operand: Value, shape: Shape, { budget }: PipelineContext): Built {
  const given = new Map<string, unknown>();
  const meanings = Object.entries(objectOf(operand, '$addFields')).map(([name, value]): [string, Meaning] => {
    fieldAt(shape, name, '$addFields');
    given.set(name, expression(value, shape, budget, '$addFields'));
    return [name, meaningOf(value, shape)];
  });
  if (meanings.length === 0) throw invalid('', '$addFields');
  const stage = Object.fromEntries([...withParts(shape, given)].map(([name, value]) => [fieldAt(shape, name, '$addFields').path, value]));
  return { stages: [{ $addFields: stage }], shape: giving(shape, meanings) };
}

function unwind(operand: Value, shape: Shape): Built {
  const body = isObject(operand)
    ? only(operand, ['path', 'includeArrayIndex', 'preserveNullAndEmptyArrays'], '$unwind')
    : { path: operand };
  const path = textOf(body['path'] ?? null, '$unwind');
  if (!/^\$[^$]/.test(path)) throw invalid(path, '$unwind');
  const stage: Document = { path: `$${fieldAt(shape, path.slice(1), '$unwind').path}` };
  const { includeArrayIndex: index = null, preserveNullAndEmptyArrays: preserve = null } = body;
  if (preserve !== null) {
    if (typeof preserve !== 'boolean') throw invalid('preserveNullAndEmptyArrays', '$unwind');
    stage['preserveNullAndEmptyArrays'] = preserve;
  }
  if (index === null) return kept({ $unwind: stage }, shape);
  stage['includeArrayIndex'] = newName(index, '$unwind');
  return { stages: [{ $unwind: stage }], shape: without(shape, [stage['includeArrayIndex'] as string]) };
}

function objectOf(value: Value, operator: string): ObjectValue {
  if (!isObject(value)) throw invalid('', operator);
  return value;
}

function only(body: ObjectValue, names: readonly string[], operator: string): ObjectValue {
  const stranger = Object.keys(body).find((name) => !names.includes(name));
  if (stranger !== undefined) throw invalid(stranger, operator);
  return body;
}

function textOf(value: Value, operator: string): string {
  if (typeof value !== 'string') throw invalid('', operator);
  return value;
}

function wholeNumber(value: Value, min: number, max: number, operator: string): number {
  if (!isInteger(value) || value < min || value > max) throw invalid('', operator);
  return Number(value);
}
