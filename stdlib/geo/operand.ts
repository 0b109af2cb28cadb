// Operands of geo operators: `{"$geometry": …, "$maxDistance": m, "$minDistance": m}`, names also without `$` (language.md W7).
import { getOwn, isNumber, isObject, numberOf, type ObjectValue, type Value } from '../values/index.ts';
import { toGeoJson } from '../convert/index.ts';
import { CascadeError } from '../errors.ts';
import { type Geometry, geometryOf } from './geometry.ts';

export interface GeoOperand {
  readonly point: Geometry;
  /** Metres. */
  readonly minDistance: number;
  readonly maxDistance: number;
}

/** Null when the operand is not of that form. */
export function parseShapeOperand(operand: Value): Geometry | null {
  const members = membersOf(operand, ['geometry']);
  return members && shapeOf(members.geometry as Value);
}

/** Null when the operand is not of that form, or its geometry is no Point. */
export function parseNearOperand(operand: Value): GeoOperand | null {
  const members = membersOf(operand, ['geometry', 'minDistance', 'maxDistance']);
  const point = members && shapeOf(members.geometry as Value);
  if (!members || point?.type !== 'Point') return null;
  const minDistance = metres(members.minDistance as Value, 0);
  const maxDistance = metres(members.maxDistance as Value, Number.POSITIVE_INFINITY);
  return minDistance === null || maxDistance === null ? null : { point, minDistance, maxDistance };
}

/** The members by their names without `$`; null for an unknown one, or the same twice. */
function membersOf(operand: Value, names: readonly string[]): ObjectValue | null {
  if (!isObject(operand)) return null;
  const members: ObjectValue = Object.fromEntries(names.map((name) => [name, null]));
  const seen = new Set<string>();
  for (const name of Object.keys(operand)) {
    const plain = name.startsWith('$') ? name.slice(1) : name;
    if (!names.includes(plain) || seen.has(plain)) return null;
    seen.add(plain);
    members[plain] = getOwn(operand, name);
  }
  return members;
}

function metres(value: Value, absent: number): number | null {
  if (value === null) return absent;
  const number = isNumber(value) ? numberOf(value) : Number.NaN;
  return Number.isFinite(number) && number >= 0 ? number : null;
}

function shapeOf(value: Value): Geometry | null {
  try {
    return geometryOf(toGeoJson(value));
  } catch (error) {
    if (error instanceof CascadeError) return null; // not GeoJSON: the caller names the operator
    throw error;
  }
}
