// Points among data, and how far they are from each other.
import { toGeoJson } from '../../stdlib/convert/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { getOwn, isObject, numberOf, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { systemClock } from '../../platform/clock/index.ts';
import { pureBuiltins } from '../../resources/host-context.ts';

/** Any Object may have the type `Point` and be no place. */
export function isPoint(value: Value): value is ObjectValue {
  if (!isObject(value) || getOwn(value, 'type') !== 'Point') return false;
  try {
    return toGeoJson(value) !== null;
  } catch (error) {
    if (error instanceof CascadeError) return false;
    throw error;
  }
}

const geoDistance = pureBuiltins(systemClock)('geoDistance'); // it does not use the clock

/** Between two Points. */
export const metres = (a: Value, b: Value): number => numberOf(geoDistance?.(a, b) ?? 0);
