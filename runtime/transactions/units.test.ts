import { Long, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { UnitOfWork, Write } from './types.ts';
import { sizeOf } from './units.ts';

const id = new ObjectId();
const document = { _id: id, ars_version: Long.ONE };
const unit = (write: Write): UnitOfWork => ({ writes: [write], events: [] });

test.each<[string, Write, number]>([
  ['an insert', { collection: 'c', op: 'insert', document, mostBytes: 70_000 }, 70_000],
  ['a replacement', { collection: 'c', op: 'replace', id, version: 1n, document, bytes: 70_000 }, 70_000],
  ['one of which nothing is known', { collection: 'c', op: 'replace', id, version: 1n, document }, 500],
  ['a removal', { collection: 'c', op: 'delete', id, version: 1n }, 0],
])('%s counts with what it weighs', (_, write, bytes) => {
  expect(sizeOf(unit(write))).toBe(bytes);
});
