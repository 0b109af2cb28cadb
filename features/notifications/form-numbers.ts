// Numbers of forms and of their answers, compared with all their digits: two Integers beyond 2^53 may be one double.
import { isNumber, Real, type Value } from '../../stdlib/values/index.ts';

/** One form for each number, to be compared by `===` and `<`: an integral Real is the Integer of its value. */
export function exactOf(number: number | bigint | Real): number | bigint {
  const plain = number instanceof Real ? number.value : number;
  return typeof plain === 'number' && Number.isInteger(plain) && !Number.isSafeInteger(plain) ? BigInt(plain) : plain;
}

/** Equal for values that are equal: a list of choices may be long, so that it is compared by keys. */
export const keyOf = (value: Value): Value => (isNumber(value) ? exactOf(value) : value);

export const isSame = (a: Value, b: Value): boolean => keyOf(a) === keyOf(b);
