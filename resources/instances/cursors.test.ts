import { beforeEach, expect, test } from 'vitest';
import { RestartRun } from '../../runtime/context/actor.ts';
import { Cursors } from './cursors.ts';
import type { WalkPage } from './select.ts';

let cursors: Cursors;
beforeEach(() => {
  cursors = new Cursors();
});

test('a cursor whose query failed does not report its end: the next request for a page restarts the run', async () => {
  async function* pages(): AsyncGenerator<WalkPage> {
    yield { rows: ['1', '2'], isLast: false };
    throw new Error('the store is away');
  }
  const { cursor } = JSON.parse(await cursors.open(pages())) as { cursor: string };
  await expect(cursors.next(cursor)).rejects.toThrow('the store is away');
  await expect(cursors.next(cursor)).rejects.toBeInstanceOf(RestartRun);
});

test('a result of one page leaves no cursor open, and a replay may be answered with the page', async () => {
  let isClosed = false;
  async function* pages(): AsyncGenerator<WalkPage> {
    try {
      yield { rows: ['1', '2'], isLast: true };
    } finally {
      isClosed = true;
    }
  }
  expect(JSON.parse(await cursors.open(pages()))).toMatchObject({ rows: [1, 2], done: true });
  expect(isClosed).toBe(true);
});

test('of more than two thousand the one that was opened first is closed', async () => {
  let closed = 0;
  async function* pages(): AsyncGenerator<WalkPage> {
    try {
      for (;;) yield { rows: ['1'], isLast: false };
    } finally {
      closed++;
    }
  }
  const open = async (): Promise<string> => (JSON.parse(await cursors.open(pages())) as { cursor: string }).cursor;
  const first = await open();
  expect(cursors.areMany).toBe(false);
  for (let n = 1; n < 2_000; n++) await open();
  expect([closed, cursors.areMany]).toEqual([0, true]);
  await open();
  expect(closed).toBe(1);
  await expect(cursors.next(first)).rejects.toBeInstanceOf(RestartRun);
});
