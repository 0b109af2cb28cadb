// Options of a SELECT on a node (language.md E11).
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { own } from '../../resources/operations/index.ts';

const MOST_ROWS = 10_000;

/** The value of `limit` or `skip`; null: not given. @throws cascade.query.limit.range */
export function whole(statement: ObjectValue, name: string): number | null {
  const value = own(statement, name);
  if (value === null) return null;
  const isLimit = name === 'limit';
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || (isLimit && value > MOST_ROWS))
    throw apiError('cascade.query.limit.range', name, 0, MOST_ROWS);
  return value;
}
