// What a value weighs that is about to cross the border: characters, and something for each value.
import { isObject, MAX_DEPTH, type Value } from '../values/index.ts';
import { VALUE_WEIGHT } from './limits.ts';

export const isHeavier = (value: Value, than: number): boolean =>
  typeof value === 'object' && value !== null ? weigh(value, than, 0) < 0 : typeof value === 'string' && value.length > than;

/** @returns what is left of the weight, below 0 when it does not suffice; a cycle is left to the encoder, which tells of it */
function weigh(value: Value, left: number, depth: number): number {
  if (typeof value === 'string') return left - value.length;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return left;
  let rest = left - VALUE_WEIGHT;
  if (Array.isArray(value))
    for (let i = 0; i < value.length && rest >= 0; i++) rest = weigh(value[i] ?? null, rest - VALUE_WEIGHT, depth + 1);
  else if (isObject(value))
    for (const key in value) {
      if (rest < 0) break;
      rest = weigh(value[key] ?? null, rest - VALUE_WEIGHT - key.length, depth + 1);
    }
  return rest;
}
