// Why a value does not convert: `cascade.lang.conversion` with the reason that the callers put into their own error.
import { CascadeError, langError } from '../errors.ts';
import { cutText, isObject, LocalValue, text, type Value } from '../values/index.ts';

/** `format`: not that kind of value or text; the others as in resources-and-api.md 5. */
export type Reason = 'format' | 'range' | 'fraction' | 'currency.code' | 'ring.open' | 'surrogate';

export class ConversionError extends CascadeError {
  readonly reason: Reason;
  constructor(value: Value, type: string, reason: Reason) {
    const params = [shown(value), type];
    super('cascade.lang.conversion', langError('cascade.lang.conversion', ...params).message, params, 400);
    this.reason = reason;
  }
}

/** The value as the error tells it: short, and never failing. */
function shown(value: Value): string {
  if (Array.isArray(value)) return 'List';
  if (isObject(value)) return 'Object';
  if (value instanceof LocalValue) return value.typeName;
  const whole = text(value);
  return whole.length > 100 ? `${cutText(whole, 100)}…` : whole;
}

export function unconvertible(value: Value, type: string, reason: Reason = 'format'): never {
  throw new ConversionError(value, type, reason);
}
