import { beforeEach, expect, test, vi } from 'vitest';
import { RestartRun } from '../../../runtime/context/actor.ts';
import { Cursors, type WalkPage } from './cursors.ts';

const ofRun = (run: string) => ({ state: { run, within: undefined, keep: () => undefined } });
const RUN = ofRun('run');

let cursors: Cursors;
beforeEach(() => {
  cursors = new Cursors();
});

test('a cursor whose query failed does not report its end: the next request for a page restarts the run', async () => {
  async function* pages(): AsyncGenerator<WalkPage> {
    yield { rows: ['1', '2'], isLast: false };
    throw new Error('the store is away');
  }
  const { cursor } = JSON.parse(await cursors.open(pages(), RUN)) as { cursor: string };
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
  expect(JSON.parse(await cursors.open(pages(), RUN))).toMatchObject({ rows: [1, 2], done: true });
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
  const open = async (): Promise<string> => (JSON.parse(await cursors.open(pages(), RUN)) as { cursor: string }).cursor;
  const first = await open();
  expect(cursors.areMany).toBe(false);
  for (let n = 1; n < 2_000; n++) await open();
  expect([closed, cursors.areMany]).toEqual([0, true]);
  await open();
  expect(closed).toBe(1);
  await expect(cursors.next(first)).rejects.toBeInstanceOf(RestartRun);
});

test('a cursor is open as long as its run, and closed with it', async () => {
  const closed: string[] = [];
  async function* pages(name: string): AsyncGenerator<WalkPage> {
    try {
      for (;;) yield { rows: ['1'], isLast: false };
    } finally {
      closed.push(name);
    }
  }
  vi.useFakeTimers();
  try {
    const open = async (name: string, run: string) =>
      (JSON.parse(await cursors.open(pages(name), ofRun(run))) as { cursor: string }).cursor;
    const [, second] = [await open('first', 'a'), await open('second', 'b'), await open('third', 'a')];
    await vi.advanceTimersByTimeAsync(115 * 60_000);
    expect([JSON.parse(await cursors.next(second)), closed]).toEqual([{ rows: [1], done: false }, []]);
    cursors.release('a');
    await vi.advanceTimersByTimeAsync(115 * 60_000);
    expect([JSON.parse(await cursors.next(second)), closed.sort()]).toEqual([{ rows: [1], done: false }, ['first', 'third']]);
    await cursors.closeAll();
    expect(closed).toContain('second');
  } finally {
    vi.useRealTimers();
  }
});

test('a run that leaves two thousand open makes room with its own', async () => {
  async function* pages(): AsyncGenerator<WalkPage> {
    for (;;) yield { rows: ['1'], isLast: false };
  }
  const open = async (run: string) => (JSON.parse(await cursors.open(pages(), ofRun(run))) as { cursor: string }).cursor;
  const [others, own] = [await open('another'), await open('run')];
  for (let n = 0; n < 2_000; n++) await open('run');
  expect(JSON.parse(await cursors.next(others))).toEqual({ rows: [1], done: false });
  await expect(cursors.next(own)).rejects.toBeInstanceOf(RestartRun);
});
