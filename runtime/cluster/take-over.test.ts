// Unfinished work of a dead process is copied into rows of this one, however much it is.
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { storedRow } from '../transactions/row-form.ts';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine } from '../../engine/testing/engine.ts';

const DEAD = 999;
const LONG = 'x'.repeat(900_000);

test('a run with more steps than a row holds is taken over', async () => {
  await using database = await openOwnDatabase();
  const before = await openTestEngine({ mongoUri: database.uri });
  const { namespace } = before.identity;
  await database.register(namespace);
  await before.type('Row', { n: { type: 'Integer' } });
  await before.program('procedures', 'PROCEDURE later() INSERT Row(n: 1)');
  await before[Symbol.asyncDispose]();

  const client = await new MongoClient(database.uri).connect();
  const at = new Date();
  await client
    .db('cascade')
    .collection<{ _id: number }>('processes')
    .insertOne({ _id: DEAD, host: 'gone', pid: 1, startedAt: at, leaseUntil: new Date(0) } as { _id: number });
  const uuid = '11111111-1111-4111-8111-111111111111';
  const runs = [{ rule: 'later', program: 'async', binds: 'value' as const }];
  const event = {
    uuid,
    path: '/procedures/later',
    value: '{"args":[],"named":null}',
    at,
    by: 'ann',
    chain: { root: uuid, depth: 0 },
    runs,
  };
  const rows = Array.from({ length: 20 }, (_, nth) => {
    const reads = [{ site: 'r', nth, at, answer: { ok: JSON.stringify(LONG) } }];
    const step = { run: `${uuid}/later/1`, site: 's', nth, at, startedAt: at, answer: { ok: '1' }, reads };
    return storedRow({
      _id: { epoch: DEAD, slot: 0, seq: nth },
      order: nth + 1,
      events: nth === 0 ? [event] : [],
      steps: [step],
      done: [],
    });
  });
  await client.db(`cascade_ns_${namespace}`).collection<{ _id: object }>('journal').insertMany(rows);
  await client.close();

  await using after = await openTestEngine({ mongoUri: database.uri, namespace });
  expect(await after.eventually('Row', {}, 1)).toMatchObject([{ n: 1 }]);
});
