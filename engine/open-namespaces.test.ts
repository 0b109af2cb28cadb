// A namespace that cannot be opened blocks neither the service nor another namespace, and its unfinished work is not lost.
import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { storedRow } from '../runtime/transactions/row-form.ts';
import { openOwnDatabase } from './testing/database.ts';
import { openTestEngine } from './testing/engine.ts';

const DEAD = 999;
const databaseOf = (client: MongoClient, namespace: string): Db => client.db(`cascade_ns_${namespace}`);

/** Stores the unfinished run of `EXECUTE ASYNC later()` of a dead process. */
async function leaveRun(client: MongoClient, namespace: string, uuid: string): Promise<void> {
  const runs = [{ rule: 'later', program: 'async', binds: 'value' as const }];
  const value = '{"args":[],"named":null}';
  const event = { uuid, path: '/procedures/later', value, at: new Date(), by: 'ann', chain: { root: uuid, depth: 0 }, runs };
  const row = storedRow({ _id: { epoch: DEAD, slot: 0, seq: 0 }, order: 1, events: [event], steps: [], done: [] });
  await databaseOf(client, namespace).collection<{ _id: object }>('journal').insertOne(row);
}

test('others serve while a namespace cannot be opened; once it can, it takes over the unfinished work', { timeout: 120_000 }, async () => {
  await using database = await openOwnDatabase();
  const client = await new MongoClient(database.uri).connect();
  const processes = client.db('cascade').collection<{ _id: number }>('processes');
  const names: string[] = [];
  for (let n = 0; n < 2; n++) {
    await using before = await openTestEngine({ mongoUri: database.uri });
    names.push(before.identity.namespace);
    await database.register(before.identity.namespace);
    await before.type('Row', { n: { type: 'Integer' } });
    await before.program('procedures', 'PROCEDURE later() INSERT Row(n: 1)');
  }
  const [sound = '', broken = ''] = names;
  await processes.insertOne({ _id: DEAD, host: 'gone', pid: 1, startedAt: new Date(), leaseUntil: new Date(0) } as { _id: number });
  for (const name of names) await leaveRun(client, name, randomUUID());
  // The state of a process that died while it had them open.
  await client
    .db('cascade')
    .collection<{ _id: string }>('owners')
    .updateMany({}, { $set: { isResting: false } });
  // A view in place of a collection: it can be neither indexed nor written.
  await databaseOf(client, broken).collection('logs').drop();
  await databaseOf(client, broken).createCollection('logs', { viewOn: 'journal' });

  await using after = await openTestEngine({ mongoUri: database.uri, namespace: sound });
  expect(after.engine.health()).toEqual({ ready: true, status: 'ok' });
  expect(await after.engine.load()).toMatchObject({ namespacesUnavailable: 1 });
  expect(await after.eventually('Row', {}, 1)).toMatchObject([{ n: 1 }]);
  const select = (namespace: string) =>
    after.engine.execute({ identity: { ...after.identity, namespace }, op: 'select', resourceName: 'Row', custom: true, parameters: {} });
  await expect(select(broken)).rejects.toMatchObject({ code: 'cascade.server.unavailable', status: 500 });
  const left = (): Promise<number> =>
    databaseOf(client, broken)
      .collection('journal')
      .countDocuments({ '_id.epoch': DEAD, closed: { $ne: true } });
  expect(await left()).toBe(1);

  await databaseOf(client, broken).collection('logs').drop();
  await vi.waitFor(async () => expect(JSON.parse((await select(broken)).body ?? '')).toMatchObject([{ n: 1 }]), { timeout: 15_000 });
  expect(await left()).toBe(0);
  expect(await after.engine.load()).toMatchObject({ namespacesUnavailable: 0 });
  expect(await after.rows('Row')).toHaveLength(1);
  await client.close();
});
