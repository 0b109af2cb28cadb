// What a value weighs that is about to cross the border: characters, and something for each value.
import { isObject, MAX_DEPTH, type Value, VALUE_WEIGHT } from '../values/index.ts';

/** What keeps a value from crossing; null: nothing. A cycle is too deep. */
export function misfit(value: Value, most: number): 'deep' | 'heavy' | null {
  const left = weigh(value, most, 0);
  return Number.isNaN(left) ? 'deep' : left < 0 ? 'heavy' : null;
}

/** @returns what is left of the weight, below 0 when it does not suffice; NaN where the value is too deep */
function weigh(value: Value, left: number, depth: number): number {
  if (typeof value === 'string') return left - value.length;
  if (typeof value !== 'object' || value === null) return left;
  if (depth > MAX_DEPTH) return Number.NaN;
  let rest = left - VALUE_WEIGHT;
  if (Array.isArray(value))
    for (let i = 0; i < value.length && rest >= 0; i++) rest = weigh(value[i] ?? null, rest - VALUE_WEIGHT, depth + 1);
  else if (isObject(value))
    for (const key in value) {
      if (!(rest >= 0)) break;
      rest = weigh(value[key] ?? null, rest - VALUE_WEIGHT - key.length, depth + 1);
    }
  return rest;
}
