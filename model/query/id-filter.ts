// Conditions on `_id`: text of 24 hexadecimal digits outside, an ObjectId in the store.
import type { Document } from 'mongodb';
import { idToBson } from '../values/index.ts';
import { passes } from './matches.ts';
import type { Constant, Test } from './types.ts';

const NOTHING: Document = { _id: { $in: [] } };

/** A text that is no id of ours is equal to none, and neither before nor after any. */
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
    case 'lte': {
      const [id] = ids([test.value]);
      return id === undefined ? NOTHING : { [at]: { [`$${test.op}`]: id } };
    }
    case 'regex':
      return { $expr: { $regexMatch: { input: { $toString: `$${at}` }, regex: test.pattern.pcre } } };
    default:
      return passes(test, 'Id', { values: [''], positioned: [], missing: false }, 'path') ? {} : NOTHING;
  }
}

const ids = (values: readonly Constant[]): unknown[] => values.map(idToBson).filter((id) => typeof id === 'object' && id !== null);
