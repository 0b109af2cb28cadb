// For tests of values and operators: values in short, and a result that may be an error's code.
import { CascadeError } from '../../errors.ts';
import { type Currency, type DateTime, type Decimal, parseCurrency, parseDateTime, parseDecimal } from '../index.ts';

export const d = (digits: string): Decimal => must(parseDecimal(digits), digits);
export const c = (amount: string): Currency => must(parseCurrency(amount), amount);
export const t = (iso: string): DateTime => must(parseDateTime(iso), iso);

function must<T>(value: T | null, text: string): T {
  if (value === null) throw new Error(`not a value: ${text}`);
  return value;
}

/** What the call gives, or the code of what it raises, without `cascade.lang.`. */
export function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof CascadeError) return error.code.replace('cascade.lang.', '');
    throw error;
  }
}
