import { expect, test } from 'vitest';
import { Decimal } from '../stdlib/values/index.ts';
import type { IsolateState, LaneRun } from './isolate-state.ts';
import { LaneQueue } from './lane-queue.ts';
import { Run } from './run.ts';
import type { Program, RunEvent, RunRequest } from './types.ts';
import { usedCpuMs } from './used-cpu.ts';
import type { BatchHeader, BatchReply } from './wire.ts';

const newRun = (id: string, more: Partial<RunRequest> = {}): LaneRun =>
  new Run<IsolateState>(
    {
      id,
      namespace: 'n',
      program: null,
      argsJson: '[]',
      at: 1,
      seed: '',
      opts: { namespace: 'n', username: '', resource: '' },
      observer: { op: () => {}, log: () => {}, done: () => {}, fail: () => {} },
      ...more,
    },
    { held: 0, most: 1e9 },
  );

function openLane(batches = 8, runsPerBatch = 256) {
  const sent: { header: BatchHeader; items: unknown[] }[] = [];
  const evicted: string[] = [];
  const lane = new LaneQueue(
    { batches, runsPerBatch, memoryBytes: 1_000 },
    {
      send: (header, items) => sent.push({ header, items: items === '' ? [] : (JSON.parse(items) as unknown[]) }),
      pumpSoon: () => {},
      evicted: (isolate) => evicted.push(isolate.key),
    },
  );
  const reply = (batch: number, cpuMs = 1): void => {
    const more: BatchReply = { kind: 'batch', batch, cpuMs, heap: 0 };
    const done = lane.replied(more);
    if (done) lane.settled(done.isolate);
  };
  const push = (key: string, count: number): void => {
    for (let i = 0; i < count; i += 1) lane.isolate(key, key).push({ runs: [newRun(`${key}${i}`)], text: `"${key}${i}"` });
  };
  return { lane, sent, evicted, reply, push };
}

test('at most so many batches are under way, and batches grow while they are quick', () => {
  const { lane, sent, reply, push } = openLane();
  push('a', 2000);
  lane.pump();
  expect(sent.map(({ items }) => items.length)).toEqual(Array.from({ length: 8 }, () => 32));
  for (let batch = 1; batch <= 4; batch += 1) reply(batch);
  lane.pump();
  expect(sent.slice(8).map(({ items }) => items.length)).toEqual([256, 256, 256, 256]);
});

test('batches shrink when they are slow, and only two slow ones are under way', () => {
  const { lane, sent, reply, push } = openLane();
  push('a', 2000);
  lane.pump();
  for (let batch = 1; batch <= 8; batch += 1) reply(batch, 400);
  lane.pump();
  expect(sent.slice(8).map(({ items }) => items.length)).toEqual([1, 1]);
});

test('a namespace that has used much waits for those that have used little', () => {
  const { lane, sent, reply, push } = openLane(1);
  push('greedy', 100);
  lane.pump();
  reply(1, 50);
  push('modest', 40);
  lane.pump();
  reply(2, 1);
  lane.pump();
  expect(sent.map(({ header }) => header.isolate)).toEqual(['greedy', 'modest', 'modest']);
});

test('modules, constants and events go along with the first item that needs them', () => {
  const { lane, sent } = openLane();
  const isolate = lane.isolate('n', 'n');
  const program = { id: 'P', module: { hash: 'M', source: 'S' }, constantsJson: '[1]' };
  const other = { ...program, id: 'Q', constantsJson: '[2]' };
  const event = { key: 'E', binds: 'value' as const, json: '{"v":1}' };
  const start = (of: Program, resource: string, key = 'E'): void => {
    const run = newRun(resource, {
      program: of,
      event: { ...event, key },
      at: 1,
      seed: 's',
      opts: { namespace: 'n', username: '', resource },
    });
    run.begin(isolate, 7);
    isolate.pushStart(run);
  };
  start(program, '/rules/a');
  start(other, '/rules/b');
  start(other, '/rules/b', 'F');
  lane.pump();
  start(program, '/rules/a');
  isolate.push({ runs: [newRun('1')], text: '"start 1"', program: { ...program, id: 'R' } });
  lane.pump();
  const bound = (name: string, constants: number[]) => ['bind', name, 'M', constants];
  const settings = ['settings', 0, { memory: 1_000, namespace: 'n', username: '', binds: 'value' }];
  const run = (frame: number): unknown[] => [7, frame, 's'];
  expect(sent[0]?.header.load).toEqual([['M', 'S']]);
  expect(sent[0]?.items).toEqual([
    bound('p0', [1]),
    settings,
    ['frame', 0, 'p0', 0, '/rules/a'],
    bound('p1', [2]),
    ['frame', 1, 'p1', 0, '/rules/b'],
    ['runs', 1, 0, [...run(0), ...run(~1), ...run(1)], [{ v: 1 }, { v: 1 }]],
  ]);
  expect(sent[1]?.header.load).toBeUndefined();
  expect(sent[1]?.items).toEqual([bound('p2', [1]), ['runs', 1, 0, run(0), [{ v: 1 }]], 'start 1']);
});

test('a program that reads members of an event is sent these alone, where the event is an Object at hand', () => {
  const { lane, sent } = openLane();
  const isolate = lane.isolate('n', 'n');
  const program = { id: 'P', module: { hash: 'M', source: 'S', reads: ['a', 'b'] }, constantsJson: '[1]' };
  const opts = { namespace: 'n', username: '', resource: '/rules/a' };
  const start = (event: Partial<RunEvent>, at: number): void => {
    const run = newRun('1', { program, at, seed: 's', opts, event: { key: 'E', binds: 'event', json: '{"value":7}', ...event } });
    run.begin(isolate, 7);
    isolate.pushStart(run);
  };
  start({ value: { c: 1, b: '\u0001x', a: new Decimal(15n, 1) }, length: 10 }, 1);
  start({ value: { b: { d: 2 } }, length: 10 }, 1);
  start({ value: 7 }, 2);
  start({}, 2);
  lane.pump();
  const settings = { memory: 1_000, namespace: 'n', username: '', binds: 'event' };
  expect(sent[0]?.items).toEqual([
    ['bind', 'p0', 'M', [1]],
    ['settings', 0, { ...settings, members: ['a', 'b'] }],
    ['frame', 0, 'p0', 0, '/rules/a'],
    ['settings', 1, settings],
    ['frame', 1, 'p0', 1, '/rules/a'],
    ['runs', 1, 0, [7, 0, 's', '\u0001d1.5', '\u0001s\u0001x', 7, 0, 's', null, { d: 2 }], []],
    ['runs', 2, 0, [7, 1, 's', 7, ~1, 's'], [{ value: 7 }]],
  ]);
});

test('the isolate used least recently makes room, never one that something is under way to', () => {
  const { lane, sent, evicted, reply, push } = openLane(8);
  for (let i = 0; i < 64; i += 1) {
    push(`n${i}`, 1);
    lane.pump();
    reply(i + 1);
  }
  push('n0', 1);
  lane.pump();
  push('new', 1);
  lane.pump();
  expect(evicted).toEqual(['n1']);
  expect(sent.at(-1)?.header).toMatchObject({ isolate: 'new', close: ['n1'] });
  expect(lane.stats().isolates).toBe(64);
});

test('a retired isolate ends when its last batch is answered; the next of its name is another', () => {
  const { lane, sent, evicted, reply, push } = openLane();
  push('a', 1);
  lane.pump();
  lane.isolate('a', 'a').retire();
  push('a', 1);
  lane.pump();
  expect([sent.length, evicted.length]).toEqual([1, 0]);
  reply(1);
  expect(evicted).toEqual(['a']);
  push('a', 1);
  lane.pump();
  expect(sent[1]?.header).toMatchObject({ isolate: 'a', generation: 2, close: ['a'] });
});

test('a batch hangs when its process has had the time, and not when the machine had none for it', () => {
  const limit = { turns: 3, cpuMs: 100 };
  const begin = (): LaneQueue => {
    const { lane, push } = openLane();
    push('a', 1);
    lane.pump();
    lane.marked(1);
    return lane;
  };
  /** How many turns pass until the batch hangs, when its process uses so much between two of them. */
  const turnsUntilHung = (eachMs: number | null, lane = begin()): number => {
    for (let turn = 1; turn < 100; turn += 1) if (lane.watch(limit, () => eachMs && 5_000 + turn * eachMs)) return turn;
    return 100;
  };
  expect(turnsUntilHung(50)).toBe(4);
  // A loaded machine: it takes as long until the process has had the time.
  expect(turnsUntilHung(10)).toBe(12);
  // It stands still: some day that is a hang, too.
  expect(turnsUntilHung(0)).toBe(31);
  // Where nobody tells, time that passes decides.
  expect(turnsUntilHung(null)).toBe(4);
  // What is not begun waits for others.
  const { lane, push } = openLane();
  push('a', 1);
  lane.pump();
  expect(turnsUntilHung(50, lane)).toBe(100);
});

test.runIf(process.platform === 'linux')('what this process has used of the processor grows while it works', () => {
  const before = usedCpuMs(process.pid)!;
  while (usedCpuMs(process.pid)! < before + 20);
  expect(usedCpuMs(2 ** 30)).toBeNull();
});
