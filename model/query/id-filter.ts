// Conditions on `_id`: text of 24 hexadecimal digits outside, an ObjectId in the store.
import type { Document } from 'mongodb';
import { idToBson } from '../values/index.ts';
import { passes } from './matches.ts';
import type { Constant, RangeOperator, Test } from './types.ts';

const NOTHING: Document = { _id: { $in: [] } };

/** A text that is no id of ours is equal to none, and has its place among them. */
export function idFilter(test: Test, at: string): Document {
  switch (test.op) {
    case 'eq':
      return test.value === null ? { [at]: null } : { [at]: { $in: ids([test.value]) } };
    case 'in':
      return { [at]: { $in: ids(test.values) } };
    case 'all': {
      const same = test.values.every((value) => value === test.values[0]);
      return { [at]: { $in: same ? ids(test.values.slice(0, 1)) : [] } };
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return range(test.op, test.value as string, at);
    case 'regex':
      return { $expr: { $regexMatch: { input: { $toString: `$${at}` }, regex: test.pattern.pcre } } };
    default:
      return passes(test, 'Id', { values: [''], positioned: [], missing: false }, 'path') ? {} : NOTHING;
  }
}

const ids = (values: readonly Constant[]): unknown[] => values.map(idToBson).filter((id) => typeof id === 'object' && id !== null);

function range(op: RangeOperator, text: string, at: string): Document {
  const first = firstFrom(text);
  const isUp = op === 'gt' || op === 'gte';
  if (first === null) return isUp ? NOTHING : {};
  const operator = first === text ? op : isUp ? 'gte' : 'lt';
  return { [at]: { [`$${operator}`]: idToBson(first) } };
}

const DIGITS = '0123456789abcdef';
const LENGTH = 24;

/** The least id that does not come before the text; null: all do. */
function firstFrom(text: string): string | null {
  let same = '';
  while (same.length < LENGTH && same.length < text.length && DIGITS.includes(text[same.length] as string)) same += text[same.length];
  if (same.length === text.length) return same.padEnd(LENGTH, '0');
  const next = same.length === LENGTH ? undefined : [...DIGITS].find((digit) => digit > (text[same.length] as string));
  if (next !== undefined) return (same + next).padEnd(LENGTH, '0');
  const head = same.replace(/f+$/, ''); // the text is beyond all ids that begin like it
  const last = head.at(-1);
  return last === undefined ? null : (head.slice(0, -1) + (DIGITS[DIGITS.indexOf(last) + 1] as string)).padEnd(LENGTH, '0');
}
