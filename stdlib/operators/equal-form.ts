// What is the same for equal values (deep-equals.ts) and different for others, as a value and as a text: so that equal ones are found by a
// Map, where each would have to be compared with all before it.
import { fail } from '../errors.ts';
import {
  Currency,
  Decimal,
  encodeInner,
  failDeep,
  integer,
  isObject,
  MAX_DEPTH,
  MAX_ELEMENTS,
  type ObjectValue,
  Real,
  real,
  setOwn,
  typeOf,
  type Value,
} from '../values/index.ts';

/** The inner JSON of `equalForm`; all values that are no numbers (NaN) are one. */
export const equalText = (value: Value): string => encodeInner(equalForm(value));

/** Members by name, numbers by value, Decimals without zeros at their end. @throws for cycles and giants */
export function equalForm(value: Value): Value {
  return form(value, 0, { whole: value, left: MAX_ELEMENTS });
}

interface Budget {
  readonly whole: Value;
  /** Elements that may still be looked at: one part may stand at many places of a value. */
  left: number;
}

function form(value: Value, depth: number, budget: Budget): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) failDeep('the value', budget.whole);
  if (--budget.left < 0) fail('cascade.execution.memory', typeOf(value), MAX_ELEMENTS);
  if (Array.isArray(value)) return value.map((element) => form(element, depth + 1, budget));
  if (value instanceof Real) return numberForm(value.value);
  if (value instanceof Decimal) return decimalForm(value);
  if (value instanceof Currency) return new Currency(value.code, decimalForm(value.amount));
  if (!isObject(value)) return value;
  const members: ObjectValue = {};
  for (const key of Object.keys(value).sort()) setOwn(members, key, form(value[key] as Value, depth + 1, budget));
  return members;
}

/** An Integer wherever there is one of this value. */
function numberForm(value: number): Value {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63 ? integer(value) : real(value);
}

function decimalForm({ unscaled, scale }: Decimal): Decimal {
  let [digits, left] = [unscaled, scale];
  for (; left > 0 && digits % 10n === 0n; left--) digits /= 10n;
  return new Decimal(digits, left);
}
