import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Fenced } from '../transactions/index.ts';
import { newId } from '../../model/types/index.ts';
import type { Clocks } from './lease-time.ts';
import { Owners } from './owners.ts';
import { openProcess, type ServiceProcess, WatchedLeases } from './process.ts';

const uri = process.env['CASCADE_TEST_MONGO'] ?? '';
let client: MongoClient;

beforeAll(async () => {
  client = await new MongoClient(uri).connect();
});
afterAll(() => client.close());
afterEach(() => vi.useRealTimers());

const openOne = (installation: Db, onTaken: () => void = () => undefined, clocks?: Clocks): Promise<ServiceProcess> =>
  openProcess({
    installation,
    client: 'one of a test',
    exclusive: false,
    hasBus: true,
    onTaken,
    onError: (error) => expect.unreachable(String(error)),
    ...(clocks && { clocks }),
  });

test('a process that was declared dead learns of it when it renews its lease', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const db = client.db(`process_${process.pid}`);
  const records = db.collection<{ _id: number }>('processes');
  let taken = 0;
  await using own = await openOne(db, () => taken++);
  const renewed = async (): Promise<Date> => ((await records.findOne({ _id: own.epoch })) as unknown as { leaseUntil: Date }).leaseUntil;
  await records.updateOne({ _id: own.epoch }, { $set: { leaseUntil: new Date(0) } });
  vi.advanceTimersByTime(5_000);
  while ((await renewed()).getTime() === 0) await sleep(5);
  expect(taken).toBe(0);
  await records.updateOne({ _id: own.epoch }, { $set: { takenBy: own.epoch + 1 } });
  vi.advanceTimersByTime(5_000);
  while (taken === 0) await sleep(5);
  await db.dropDatabase();
});

test('a process whose machine has slept for longer than its lease is not sure of it, and asks at once', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }); // no renewal of its own
  const db = client.db(`process_asleep_${process.pid}`);
  let sleptMs = 0;
  const clocks = { monotonic: () => performance.now(), wall: () => Date.now() + sleptMs, sinceBoot: () => performance.now() + sleptMs };
  let taken = 0;
  await using own = await openOne(db, () => taken++, clocks);
  expect(own.isSure()).toBe(true);
  sleptMs = 120_000;
  expect(own.isSure()).toBe(false);
  while (!own.isSure()) await sleep(5); // the lease was still there, and is renewed
  await db.collection<{ _id: number }>('processes').updateOne({ _id: own.epoch }, { $set: { takenBy: own.epoch + 1 } });
  sleptMs += 120_000;
  expect(own.isSure()).toBe(false);
  while (taken === 0) await sleep(5);
  expect(own.isSure()).toBe(false);
  await db.dropDatabase();
});

test('all namespaces of a dead process are freed at once, and one of several claimants acquires each, under a new epoch', async () => {
  const db = client.db(`process_claims_${process.pid}`);
  const a = await openOne(db);
  const ownersOfA = new Owners(db, a);
  const names = ['one', 'two', 'three'];
  const held = await Promise.all(names.map((name) => ownersOfA.acquire(name)));
  const [b, c] = [await openOne(db), await openOne(db)];
  const [ownersOfB, ownersOfC] = [new Owners(db, b), new Owners(db, c)];
  expect(await ownersOfB.acquire('one')).toEqual({ owner: a.epoch });
  await a[Symbol.asyncDispose]();
  const claimed = await Promise.all([b.claim(), c.claim()]);
  expect(claimed.filter((epochs) => epochs.length > 0)).toEqual([[a.epoch]]);
  expect((await ownersOfB.abandoned()).toSorted()).toEqual(names.toSorted());
  const [gotB, gotC] = await Promise.all([ownersOfB, ownersOfC].map((owners) => Promise.all(names.map((name) => owners.acquire(name)))));
  for (const [at, before] of held.entries()) {
    const now = [gotB?.[at], gotC?.[at]].flatMap((one) => (one && 'ownership' in one ? [one.ownership] : []));
    expect(now).toHaveLength(1);
    const former = 'ownership' in before ? before.ownership.epoch : Number.NaN;
    expect(now[0]).toMatchObject({ unclosed: [former] });
    expect(now[0]?.epoch).toBeGreaterThan(former);
  }
  for (const one of [b, c]) await one[Symbol.asyncDispose]();
  await db.dropDatabase();
});

test('a process that was declared dead acquires no namespace', async () => {
  const db = client.db(`process_dead_${process.pid}`);
  await using own = await openOne(db);
  await db.collection<{ _id: number }>('processes').updateOne({ _id: own.epoch }, { $set: { takenBy: own.epoch + 1 } });
  await expect(new Owners(db, own).acquire('one')).rejects.toThrow(Fenced);
  await db.dropDatabase();
});

test('the next owner is told the second of the newest id, whether the namespace was released or taken over and released again', async () => {
  const db = client.db(`process_ids_${process.pid}`);
  await using own = await openOne(db);
  const owners = new Owners(db, own);
  const idSecondAtNextOpening = async (): Promise<number> => {
    const acquired = await owners.acquire('one');
    if (!('ownership' in acquired)) throw new Error('the namespace has an owner');
    await owners.closed('one', acquired.ownership);
    return acquired.ownership.idSecond;
  };
  expect(await idSecondAtNextOpening()).toBe(0);
  const second = Number.parseInt(newId().slice(0, 8), 16);
  await idSecondAtNextOpening(); // as after an opening that failed: the former epoch is closed, and this is recorded
  expect(await idSecondAtNextOpening()).toBeGreaterThanOrEqual(second);
  await db.dropDatabase();
});

test('the record of a released namespace says whether work is left to do there', async () => {
  const db = client.db(`process_rest_${process.pid}`);
  await using own = await openOne(db);
  const owners = new Owners(db, own);
  newId();
  for (const [name, isResting] of [
    ['resting', true],
    ['busy', false],
  ] as const) {
    const acquired = await owners.acquire(name);
    if ('ownership' in acquired) await owners.release(name, acquired.ownership.epoch, isResting);
  }
  const again = await owners.acquire('busy');
  expect('ownership' in again && again.ownership.idSecond).toBeGreaterThan(0);
  if ('ownership' in again) await owners.release('busy', again.ownership.epoch, false);
  expect(await owners.abandoned()).toEqual(['busy']);
  expect(await owners.unknown(['resting', 'busy', 'new'])).toEqual(['new']);
  expect(await owners.ownerOf('busy')).toBeNull();
  await db.dropDatabase();
});

test('a lease is over when it has been seen unchanged for its whole length', () => {
  const watched = new WatchedLeases();
  const lease = (ms: number) => ({ _id: 1, leaseUntil: new Date(ms) });
  const away = new WatchedLeases();
  for (const now of [0, 2_000, 40_000]) {
    away.look(now); // the database was unavailable for long
    expect(away.isStale(lease(5), now)).toBe(false);
  }
  expect([watched.isStale(lease(5), 0), watched.isStale(lease(5), 29_999), watched.isStale(lease(5), 30_000)]).toEqual([
    false,
    false,
    true,
  ]);
  expect([watched.isStale(lease(6), 31_000), watched.isStale(lease(6), 60_999), watched.isStale(lease(6), 61_000)]).toEqual([
    false,
    false,
    true,
  ]);
  expect(watched.isStale({ _id: 2, leaseUntil: new Date(0) }, 0)).toBe(true);
});
