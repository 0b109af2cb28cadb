import { type Db, MongoNetworkError } from 'mongodb';
import { expect, test } from 'vitest';
import { apiError, CascadeErrors } from '../../model/errors/api-errors.ts';
import type { MongoIndex, TypeDefinition } from '../../model/types/index.ts';
import { IndexBuilds } from './index-builds.ts';

const TYPE = { name: 'T', collection: 't.1' } as TypeDefinition;
const INDEX: MongoIndex = { name: 'unique:n:1:Integer', key: { n: 1, s: -1, place: '2dsphere' }, unique: true };
const open = (answerWithinMs: number): IndexBuilds => new IndexBuilds({} as Db, answerWithinMs);

test('a change is answered before its index is built, and then takes effect', async () => {
  const builds = open(1);
  let finish = (): void => undefined;
  const work = new Promise<void>((resolve) => (finish = resolve));
  const change = builds.during(TYPE, INDEX, () => work).then(() => 'changed');
  expect(await builds.answering(change, TYPE.collection)).toBeNull();
  expect(builds.shown(TYPE)).toEqual([{ keys: ['n', '-s', '#place'], unique: true, state: 'building', progress: null }]);
  finish();
  expect(await change).toBe('changed');
  expect(builds.shown(TYPE)).toBeNull();
});

test('a failure after the answer is shown until the next attempt; one before the answer is thrown', async () => {
  const builds = open(1);
  let fail = (_: Error): void => undefined;
  const work = new Promise<void>((_, reject) => (fail = reject));
  const change = builds.during(TYPE, INDEX, () => work);
  expect(await builds.answering(change, TYPE.collection)).toBeNull();
  fail(apiError('cascade.type.index.duplicate', 'T', 'n'));
  await expect(change).rejects.toThrow();
  expect(builds.shown(TYPE)).toEqual([{ state: 'failed', error: 'cascade.type.index.duplicate' }]);
  const refused = builds.during(TYPE, INDEX, () => Promise.reject(apiError('cascade.type.index.duplicate', 'T', 'n')));
  await expect(open(60_000).answering(refused, TYPE.collection)).rejects.toMatchObject({ code: 'cascade.type.index.duplicate' });
  expect(builds.shown(TYPE)).toBeNull();
});

test('a failure has a code that is known: of several errors that of the first, of no refusal that of an unexpected condition', async () => {
  for (const [reason, error] of [
    [
      new CascadeErrors([apiError('cascade.type.index.invalid', 'T', 'n'), apiError('cascade.type.index.duplicate', 'T', 'n')]),
      'cascade.type.index.invalid',
    ],
    [new Error('the store is gone'), 'cascade.server.error'],
  ] as const) {
    const builds = open(1);
    let fail = (_: Error): void => undefined;
    const work = new Promise<void>((_, reject) => (fail = reject));
    const change = builds.during(TYPE, INDEX, () => work);
    expect(await builds.answering(change, TYPE.collection)).toBeNull();
    fail(reason);
    await expect(change).rejects.toThrow();
    expect(builds.shown(TYPE)).toEqual([{ state: 'failed', error }]);
  }
});

test('work goes on behind such that failed, and is repeated while the store is away; a failure is shown until such work succeeds', async () => {
  const builds = open(1);
  const order: string[] = [];
  const failing = builds.inLine(TYPE.collection, () => Promise.reject(apiError('cascade.type.index.duplicate', 'T', 'n')));
  let tries = 0;
  const behind = builds.inLine(TYPE.collection, async () => {
    order.push(`try ${++tries}`, JSON.stringify(builds.shown(TYPE)));
    if (tries === 1) throw new MongoNetworkError('the primary has changed');
  });
  await expect(failing).rejects.toMatchObject({ code: 'cascade.type.index.duplicate' });
  await behind;
  const failed = JSON.stringify([{ state: 'failed', error: 'cascade.type.index.duplicate' }]);
  expect(order).toEqual(['try 1', failed, 'try 2', failed]);
  expect(builds.shown(TYPE)).toBeNull();
});

test('a namespace that is closed leaves what waits to the next owner', async () => {
  const builds = open(1);
  let fail = (): void => undefined;
  const away = new Promise<void>((_, reject) => (fail = () => reject(new MongoNetworkError('away'))));
  let begun = 0;
  let begin = (): void => undefined;
  const hasBegun = new Promise<void>((resolve) => (begin = resolve));
  const work = builds.inLine(TYPE.collection, () => {
    begun++;
    begin();
    return away;
  });
  const behind = builds.inLine(TYPE.collection, async () => void begun++);
  await hasBegun;
  builds.close();
  fail();
  await expect(work).rejects.toThrow('away');
  await behind;
  expect(begun).toBe(1);
});

test('the answer waits for a change without an index build', async () => {
  const change = new Promise((resolve) => setTimeout(() => resolve('changed'), 20));
  expect(await open(1).answering(change, TYPE.collection)).toBe('changed');
});
