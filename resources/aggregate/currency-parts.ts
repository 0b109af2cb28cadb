// Taking `.code` or `.value` of a Currency away in a pipeline (resources-and-api.md 3.6): the store has no members of these names, so the
// Currency becomes an Object of what is left of it.

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
    const end = name.lastIndexOf('.');
    const part = name.slice(end + 1);
    const path = name.slice(0, Math.max(end, 0));
    const way = part === 'code' || part === 'value' ? wayTo(shape, path) : null;
    if (!way) others.push(name);
    else taken.set(path, { way, parts: (taken.get(path)?.parts ?? new Set()).add(part as Part) });
  }
  const stages = [...taken.values()].map(({ way, parts }) => {
    const [top, ...rest] = way as [PropertyDefinition, ...PropertyDefinition[]];
    return { $addFields: { [top.name]: changed(`$${top.name}`, top, rest, parts) } };
  });
  return { stages, changed: [...taken.keys()], others };
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
    const isStored = base === 'Currency' && depth === 0; // one inside an Object is a text
    const left = (['code', 'value'] as const).filter((part) => !parts.has(part));
    const leftOf = (part: Part): unknown =>
      isStored ? `${value}.${part === 'code' ? 'c' : 'v'}` : partOf({ path: value.slice(1), part: null, arrays: 0 }, part);
    const object = left.length > 0 ? Object.fromEntries(left.map((part) => [part, leftOf(part)])) : { $literal: {} };
    return ifType(value, isStored ? 'object' : 'string', object);
  };
  if (!multi) return one(input);
  const as = `element${depth}`;
  return { $cond: [{ $isArray: input }, { $map: { input, as, in: one(`$$${as}`) } }, one(input)] };
}

const ifType = (value: string, type: string, then: Document): Document => ({ $cond: [{ $eq: [{ $type: value }, type] }, then, value] });
