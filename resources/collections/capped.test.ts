// Two processes that trim one capped type at the same moment, as in the moments of a handover.
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../catalog/types.ts';
import { FeatureStates } from '../states.ts';
import { trimCapped } from './capped.ts';

let client: MongoClient;
beforeAll(async () => {
  client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
});
afterAll(() => client.close());

const KEPT = 300;
const TYPE = { name: 'Capped', collection: 't.capped', maxStorage: 1_000_000_000, maxObjects: KEPT } as TypeDefinition;

test('two processes that trim at once remove each surplus instance once', async () => {
  const db = client.db(`cascade_capped_${process.pid}`);
  const stored = db.collection<{ _id: number }>(TYPE.collection);
  const processes = Array.from({ length: 4 }, () => ({ storage: { db }, states: new FeatureStates() }) as unknown as Namespace);
  try {
    for (let round = 0, next = 0; round < 30; round++) {
      await stored.insertMany(Array.from({ length: 700 }, () => ({ _id: next++ })));
      await Promise.all(processes.map((space) => trimCapped(space, TYPE)));
      const left = await stored.find().sort({ _id: 1 }).toArray();
      expect(left.map(({ _id }) => _id)).toEqual(Array.from({ length: KEPT }, (_, n) => next - KEPT + n));
    }
  } finally {
    await db.dropDatabase();
  }
});
