// A namespace that cannot be opened blocks neither the service nor another namespace, and its unfinished work is not lost.
import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import type { OpenNamespace } from './namespace.ts';
import { OpenNamespaces } from './open-namespaces.ts';
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

/** Opened under epoch 1, 2 and so on; the first take-over waits until it is released. */
function worldOf() {
  const noted: string[] = [];
  const fences = new Map<number, () => void>();
  let release = (): void => undefined;
  const gathered = new Promise<void>((resolve) => (release = resolve));
  let epoch = 0;
  const spaceOf = (own: number): OpenNamespace => {
    let isClosed = false;
    const space = {
      pending: 0,
      drained: async () => undefined,
      isAtRest: async () => false,
      takeOver: async () => {
        if (isClosed) throw new Error('it is closed');
        noted.push(`${own} takes over`);
      },
      [Symbol.asyncDispose]: async () => {
        isClosed = true;
        noted.push(`${own} is closed`);
      },
    };
    return space as unknown as OpenNamespace;
  };
  const namespaces = new OpenNamespaces({
    acquire: async () => ({ epoch: ++epoch, unclosed: [], idSecond: 0, listeners: [] }),
    open: async (_name, { epoch: own }, onFenced) => {
      fences.set(own, onFenced);
      return spaceOf(own);
    },
    gather: (_name, _space, { epoch: own }) => (own === 1 ? gathered : Promise.resolve()),
    closed: async (_name, { epoch: own }) => void noted.push(`${own} is recorded`),
    closing: async () => void noted.push('listeners move on'),
    release: async (_name, own) => void noted.push(`${own} is released`),
    giveUp: async () => undefined,
    isShared: true,
    log: pino({ level: 'silent' }),
  });
  return { namespaces, noted, release: () => release(), fence: (own: number) => fences.get(own)?.() };
}

test('a namespace that is closed while it is being taken over is not served here, and nothing is recorded of its take-over', async () => {
  const { namespaces, noted, release } = worldOf();
  const opening = namespaces.openAll(['x']);
  const entering = namespaces.enter('x').catch((error: unknown) => error);
  await vi.waitFor(async () => expect(await namespaces.running('x')).toBeDefined());
  await namespaces.close('x');
  release();
  await opening;
  expect(await entering).not.toBeInstanceOf(Error);
  expect(noted).toEqual(['1 is closed', 'listeners move on', '1 is released', '2 takes over', '2 is recorded']); // who waited has acquired it anew
  expect([namespaces.unavailable, namespaces.has('x')]).toEqual([0, true]);
});

test('a former opening that is fenced does not close the namespace that has come back to the process since', async () => {
  const { namespaces, noted, release, fence } = worldOf();
  release();
  await namespaces.openAll(['x']);
  await namespaces.close('x');
  await namespaces.openAll(['x']);
  fence(1);
  await namespaces.running('x');
  await new Promise((resolve) => setImmediate(resolve));
  expect(noted).not.toContain('2 is closed');
  fence(2);
  await vi.waitFor(() => expect(noted.slice(-2)).toEqual(['2 is closed', 'listeners move on']));
});
