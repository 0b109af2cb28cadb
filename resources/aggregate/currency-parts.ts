// Giving and taking `.code` or `.value` of a Currency in a pipeline (resources-and-api.md 3.6): the store has no members of these names. With
// another code or number it is a Currency still, otherwise it becomes an Object of its parts.

import type { Document } from 'mongodb';
import type { PropertyDefinition } from '../../model/types/index.ts';
import { partOf } from './money-text.ts';
import type { Shape } from './shape.ts';

type Part = 'code' | 'value';

interface Taken {
  /** The properties from that of the instance to the Currency. */
  readonly way: readonly PropertyDefinition[];
  readonly parts: Set<Part>;
}

interface Without {
  /** Stages that take the parts away. */
  readonly stages: readonly Document[];
  /** The paths of the Currencies that are none any more. */
  readonly changed: readonly string[];
  /** The names that are no parts of Currencies. */
  readonly others: readonly string[];
}

/** @param names paths that have been checked, in the caller's spelling */
export function withoutParts(shape: Shape, names: readonly string[]): Without {
  const taken = new Map<string, Taken>();
  const others: string[] = [];
  for (const name of names) {
    const found = partAt(shape, name);
    if (!found) others.push(name);
    else taken.set(found.path, { way: found.way, parts: (taken.get(found.path)?.parts ?? new Set()).add(found.part) });
  }
  const stages = [...taken.values()].map(({ way, parts }) => {
    const [top, ...rest] = way as [PropertyDefinition, ...PropertyDefinition[]];
    return { $addFields: { [top.name]: changed(`$${top.name}`, top, rest, parts) } };
  });
  return { stages, changed: [...taken.keys()], others };
}

/**
 * The members of an $addFields stage, with those that are parts of Currencies as new values of these. A part of one inside a list of Objects
 * stays as it is given.
 * @param given expressions by paths that have been checked, in the caller's spelling
 */
export function withParts(shape: Shape, given: ReadonlyMap<string, unknown>): Map<string, unknown> {
  const members = new Map<string, unknown>();
  const changes = new Map<string, { property: PropertyDefinition; parts: Partial<Record<Part, unknown>> }>();
  for (const [name, value] of given) {
    const found = partAt(shape, name);
    if (!found || found.way.slice(0, -1).some(({ multi }) => multi)) members.set(name, value);
    else changes.set(found.path, { property: found.way.at(-1)!, parts: { ...changes.get(found.path)?.parts, [found.part]: value } });
  }
  for (const [path, { property, parts }] of changes)
    members.set(
      path,
      eachOf(`$${path}`, property.multi, 0, (value) => changedBy(value, property, !path.includes('.'), parts)),
    );
  return members;
}

function changedBy(current: string, { scale = 0 }: PropertyDefinition, isStored: boolean, parts: Partial<Record<Part, unknown>>): Document {
  const own = (part: Part): unknown => (Object.hasOwn(parts, part) ? parts[part] : ownPart(current, part, isStored));
  const amount = { $round: [{ $toDecimal: '$$value' }, scale] };
  const currency = isStored ? { c: '$$code', v: amount } : { $concat: ['$$code', ':', { $toString: amount }] };
  const isCurrency = { $and: [{ $eq: [{ $type: '$$code' }, 'string'] }, { $isNumber: '$$value' }] };
  const vars = { code: own('code'), value: own('value') };
  return { $let: { vars, in: { $cond: [isCurrency, currency, { code: '$$code', value: '$$value' }] } } };
}

/** @param isStored it is stored in two members; one inside an Object is a text */
const ownPart = (value: string, part: Part, isStored: boolean): unknown =>
  isStored ? `${value}.${part === 'code' ? 'c' : 'v'}` : partOf({ path: value.slice(1), part: null, arrays: 0 }, part);

/** Null where the name is not that of a part. */
function partAt(shape: Shape, name: string): { path: string; part: Part; way: PropertyDefinition[] } | null {
  const end = name.lastIndexOf('.');
  const part = name.slice(end + 1);
  if (end < 0 || (part !== 'code' && part !== 'value')) return null;
  const path = name.slice(0, end);
  const way = wayTo(shape, path);
  return way && { path, part, way };
}

/** Null where the path is not that of a Currency. */
function wayTo(shape: Shape, path: string): PropertyDefinition[] | null {
  const [name = '', ...steps] = path.split('.');
  let property = shape.typed.has(name) ? shape.type.properties.get(name) : undefined;
  const way: PropertyDefinition[] = [];
  for (const step of [...steps, null]) {
    if (!property) return null;
    way.push(property);
    if (step === null) return property.base === 'Currency' ? way : null;
    property = property.structure?.()?.properties.get(step);
  }
  return null;
}

function changed(
  input: string,
  { multi, base }: PropertyDefinition,
  [next, ...rest]: readonly PropertyDefinition[],
  parts: ReadonlySet<Part>,
  depth = 0,
): Document {
  const one = (value: string): Document => {
    if (next)
      return ifType(value, 'object', {
        $mergeObjects: [value, { [next.name]: changed(`${value}.${next.name}`, next, rest, parts, depth + 1) }],
      });
    const isStored = base === 'Currency' && depth === 0;
    const left = (['code', 'value'] as const).filter((part) => !parts.has(part));
    const object = left.length > 0 ? Object.fromEntries(left.map((part) => [part, ownPart(value, part, isStored)])) : { $literal: {} };
    return ifType(value, isStored ? 'object' : 'string', object);
  };
  return eachOf(input, multi, depth, one);
}

function eachOf(input: string, multi: boolean, depth: number, one: (value: string) => Document): Document {
  if (!multi) return one(input);
  const as = `element${depth}`;
  return { $cond: [{ $isArray: input }, { $map: { input, as, in: one(`$$${as}`) } }, one(input)] };
}

const ifType = (value: string, type: string, then: Document): Document => ({ $cond: [{ $eq: [{ $type: value }, type] }, then, value] });
