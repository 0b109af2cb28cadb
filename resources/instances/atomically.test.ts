import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { Actor } from '../../runtime/context/index.ts';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { atomically } from './atomically.ts';

test('a change within a change is part of its unit, and waits for nobody, not even for the change that it is part of', async () => {
  const lines = new Map<string, Promise<unknown>>();
  const space = { states: { get: () => lines } } as unknown as Namespace;
  const committed: UnitOfWork[] = [];
  const actor = { commit: async (unit: UnitOfWork) => void committed.push(unit) } as unknown as Actor;
  const written = (n: number): UnitOfWork => ({
    writes: [{ collection: 'c', op: 'insert', document: { _id: new ObjectId(), n } }],
    events: [],
  });
  await atomically(space, 'one', actor, async (outer) => {
    await outer.commit(written(1), { ok: 'null' });
    await atomically(space, 'one', outer, async (inner) => {
      await inner.commit(written(2), { ok: 'null' });
      return null;
    });
    return null;
  });
  expect(committed.map(({ writes }) => writes.map((write) => 'document' in write && write.document['n']))).toEqual([[1, 2]]);
  expect(lines.size).toBe(0);
});
