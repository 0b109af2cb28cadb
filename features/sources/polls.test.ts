import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Polls } from './polls.ts';

const sure = (): boolean => true;
const WANTED = new AbortController().signal;

test('notes taken at the same time are written in one batch, and resolve only after it', async () => {
  const written: [string, number][][] = [];
  const polls = new Polls(async (began) => {
    await sleep(20);
    written.push([...began]);
  }, sure);
  const first = polls.note('a', 1);
  await sleep(1);
  const others = Promise.all([polls.note('b', 2), polls.note('c', 3), polls.note('b', 4)]);
  await first;
  expect(written).toEqual([[['a', 1]]]);
  await others;
  expect(written).toEqual([
    [['a', 1]],
    [
      ['b', 4],
      ['c', 3],
    ],
  ]);
});

test('a failed write rejects the notes of its batch, and the next batch is written', async () => {
  let isAway = true;
  const polls = new Polls(async () => {
    if (isAway) throw new Error('away');
  }, sure);
  await expect(polls.note('a', 1)).rejects.toThrow('away');
  isAway = false;
  await polls.note('a', 2);
});

test('at most 64 polls run at once; the others follow in order', async () => {
  const polls = new Polls(async () => undefined, sure);
  const begun: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const all = Array.from({ length: 70 }, (_, n) =>
    polls
      .run(WANTED, () => {
        begun.push(n);
        return new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve())));
      })
      .catch(() => undefined),
  );
  await sleep(1);
  expect(begun).toHaveLength(64);
  ends[3]?.(new Error('it failed'));
  ends[7]?.();
  await sleep(1);
  expect(begun.slice(64)).toEqual([64, 65]);
  for (let n = 0; n < ends.length; n++) {
    ends[n]?.();
    await sleep(0);
  }
  await Promise.all(all);
  expect(begun).toHaveLength(70);
});

// spec: integrations.md 1.10
test('a process that may have lost the namespace does not poll, even when it notices while the beginning is stored', async () => {
  const steps: string[] = [];
  let isSure = true;
  const polls = new Polls(
    async () => void steps.push('stored'),
    () => isSure,
  );
  const poll = (): Promise<boolean> =>
    polls.poll(
      'a',
      () => 1,
      WANTED,
      async () => void steps.push('polled'),
    );
  expect(await poll()).toBe(true);
  const noticed = poll();
  isSure = false;
  expect([await noticed, await poll()]).toEqual([false, false]);
  expect(steps).toEqual(['stored', 'polled', 'stored']);
});

// spec: integrations.md 1.2 2.8
test('a poll of a closed source leaves the queue, whose next poll has its turn, and does not begin while its beginning is stored', async () => {
  const closing = new AbortController();
  const steps: string[] = [];
  const stored = Promise.withResolvers<void>();
  const polls = new Polls(() => stored.promise, sure);
  const poll = (name: string, unwanted: AbortSignal): Promise<boolean> =>
    polls.poll(
      name,
      () => 1,
      unwanted,
      async () => void steps.push(name),
    );
  const storing = poll('storing', closing.signal);
  const ends: (() => void)[] = [];
  const full = Array.from({ length: 63 }, () => polls.run(WANTED, () => new Promise<void>((resolve) => ends.push(resolve))));
  const queued = poll('queued', closing.signal);
  const last = poll('last', WANTED);
  closing.abort();
  await queued;
  await poll('late', closing.signal);
  stored.resolve();
  await Promise.all([storing, last]);
  expect(steps).toEqual(['last']);
  for (const end of ends) end();
  await Promise.all(full);
});
