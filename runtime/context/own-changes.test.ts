import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { Write } from '../transactions/index.ts';
import { OwnChanges } from './own-changes.ts';

const ID = new ObjectId();
const replaced = (collection: string): Write => ({ collection, op: 'replace', id: ID, version: 1n, document: {} });

test('only changes of watched instances count, for each change that waits', () => {
  const outer = new OwnChanges(undefined).watch('a', ID.toHexString());
  const inner = new OwnChanges(outer).watch('b', ID.toHexString());
  inner.stored([replaced('a'), replaced('b'), replaced('c'), { collection: 'a', op: 'delete', id: ID, version: 2n }]);
  outer.stored([replaced('b')]);
  const counts = (one: OwnChanges) => ['a', 'b', 'c'].map((collection) => one.countOf(collection, ID.toHexString()));
  expect(counts(outer)).toEqual([2n, 0n, 0n]);
  expect(counts(inner)).toEqual([0n, 1n, 0n]);
});
