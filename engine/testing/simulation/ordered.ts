// A rule that keeps a copy of an instance: it gets the changes in the order of their commits, so that the copy is right in the end.
import { Long, ObjectId } from 'mongodb';
import { type Part, unheard } from './part.ts';
import type { Program } from './sandbox.ts';

const SLOT = { name: 'slot' };
const CHANGES = 4;

const copied: Program = function* ({ name, n }) {
  yield { kind: 'upsert', type: 'Copy', value: { key: name!, n: n! } };
};

export function orderedChanges(): Part {
  return {
    rules: [{ name: 'copied', timing: 'when', path: '/types/Slot/update', program: copied }],
    furnish: (db) => [
      db.collection('t.Slot').insertOne({ _id: new ObjectId(), ars_version: Long.fromNumber(1), ...SLOT, n: Long.fromNumber(0) }),
    ],
    tasks: () => Array.from({ length: CHANGES }, () => (service) => unheard(service.count('Slot', SLOT, 'n'))),
    wrong(store) {
      const [last, copy] = [store.rows('t.Slot')[0]?.['n'] ?? 0, store.rows('t.Copy')[0]?.['n'] ?? 0].map(Number);
      return last === copy ? [] : [`the copy is ${copy} instead of ${last}`];
    },
  };
}
