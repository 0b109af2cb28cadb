import { Long, ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { SimulatedService, typesOf } from '../../engine/testing/simulation/service.ts';
import { SimulatedStore } from '../../engine/testing/simulation/index.ts';
import { World } from '../../engine/testing/simulation/world.ts';

test('the unit of a change names the size of the instance to the committer', async () => {
  const world = new World(1);
  const store = new SimulatedStore(world, {});
  const types = typesOf({ Counter: { name: 'String', n: 'Integer' } });
  const service = new SimulatedService(world, store, { alive: true }, 1, { rules: [], correlated: [], types, harm: 0 });
  const submit = vi.spyOn(service.committer, 'submit');
  const done = async (work: Promise<unknown>): Promise<void> => {
    let isOpen = true;
    void work.finally(() => (isOpen = false));
    while (isOpen) {
      await new Promise((resolve) => setImmediate(resolve));
      world.advance();
    }
  };
  const row = { _id: new ObjectId(), ars_version: Long.ONE, name: 'x'.repeat(100_000), n: Long.ZERO };
  await done(store.connect({ alive: true }).db.collection('t.Counter').insertOne(row));
  await done(service.count('Counter', {}, 'n'));
  const [write] = submit.mock.calls[0]?.[0].writes ?? [];
  expect(write).toMatchObject({ op: 'replace' });
  expect(write?.op === 'replace' && write.bytes).toBeGreaterThan(100_000);
  await done(service.committer[Symbol.asyncDispose]());
});
