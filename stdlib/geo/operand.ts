// Operands of geo operators: `{"$geometry": …, "$maxDistance": m, "$minDistance": m}`, names also without `$` (language.md W7).
import { getOwn, isNumber, isObject, numberOf, type Value } from '../values/index.ts';
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
  return members && shapeOf(members['geometry']);
}

/** Null when the operand is not of that form, or its geometry is no Point. */
export function parseNearOperand(operand: Value): GeoOperand | null {
  const members = membersOf(operand, ['geometry', 'minDistance', 'maxDistance']);
  const point = members && shapeOf(members['geometry']);
  if (!members || point?.type !== 'Point') return null;
  const minDistance = metres(members['minDistance'], 0);
  const maxDistance = metres(members['maxDistance'], Number.POSITIVE_INFINITY);
  return minDistance === null || maxDistance === null ? null : { point, minDistance, maxDistance };
}

type Members = Record<string, Value | undefined>;

/** The members by their names without `$`; null for an unknown one, or the same twice. */
function membersOf(operand: Value, names: readonly string[]): Members | null {
  if (!isObject(operand)) return null;
  const members: Members = {};
  for (const name of Object.keys(operand)) {
    const plain = name.startsWith('$') ? name.slice(1) : name;
    if (!names.includes(plain) || members[plain] !== undefined) return null;
    members[plain] = getOwn(operand, name);
  }
  return members;
}

/** Null for what is no distance, and null is none. */
function metres(value: Value | undefined, absent: number): number | null {
  if (value === undefined) return absent;
  const number = isNumber(value) ? numberOf(value) : Number.NaN;
  return Number.isFinite(number) && number >= 0 ? number : null;
}

function shapeOf(value: Value | undefined): Geometry | null {
  if (value === undefined) return null;
  try {
    return geometryOf(toGeoJson(value));
  } catch (error) {
    if (error instanceof CascadeError) return null; // not GeoJSON: the caller names the operator
    throw error;
  }
}
