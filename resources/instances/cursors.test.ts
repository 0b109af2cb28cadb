import { expect, test } from 'vitest';
import { RestartRun } from '../../runtime/context/actor.ts';
import { cursors } from './cursors.ts';
import type { WalkPage } from './select.ts';

test('a walk that broke off is not taken for one that has come to its end: who asks for more begins again', async () => {
  async function* pages(): AsyncGenerator<WalkPage> {
    yield { rows: ['1', '2'], isLast: false };
    throw new Error('the store is away');
  }
  const { cursor } = JSON.parse(await cursors.open(pages())) as { cursor: string };
  await expect(cursors.next(cursor)).rejects.toThrow('the store is away');
  await expect(cursors.next(cursor)).rejects.toBeInstanceOf(RestartRun);
});

test('a walk of one page is over with it: nothing stays open, and a repetition may be answered with it', async () => {
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
