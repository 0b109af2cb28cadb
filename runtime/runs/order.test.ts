// resources-and-api.md 8.1: events of one instance reach one rule in the order of their commits.

import { expect, test } from 'vitest';
import type { StoredEvent } from '../transactions/index.ts';
import type { RunRequest } from '../../sandbox/index.ts';
import { Contention, ErrorBreaker, ExecutionTimes, NO_LIMITS, Backpressure, type RunHost, Runner } from './index.ts';
import type { Executable } from '../programs/executable.ts';

const executable: Executable = {
  resource: '/rules/mirror',
  name: 'mirror',
  program: { id: 'p', module: { hash: 'h', source: '' }, constantsJson: '[]' },
  map: '',
  service: null,
  identity: { username: 'ann', namespace: 'main', profiles: [] },
};

/** A runner whose runs stay open until they are told to end. */
function opened(mostOpen: number) {
  const begun: string[] = [];
  const open = new Map<string, () => void>();
  const sandbox = {
    start: ({ id, observer }: RunRequest) => {
      const name = id.slice(0, id.indexOf('/'));
      begun.push(name);
      open.set(name, () => observer.done('null'));
      return { isOpen: true };
    },
    drop: () => undefined,
    answer: () => undefined,
  };
  const host = {
    namespace: 'main',
    clock: { now: () => 0 },
    sandbox,
    committer: { markDone: () => undefined },
    contention: new Contention(),
    executionTimes: new ExecutionTimes(),
    errorBreaker: new ErrorBreaker(() => 0),
    limits: () => NO_LIMITS,
    holdsLocks: () => false,
    release: () => undefined,
    takeRecorded: () => [],
    isTraced: () => false,
    logLevel: () => 20,
    serviceOf: () => null,
  } as unknown as RunHost;
  const runner = new Runner({
    host,
    find: () => executable,
    backpressure: new Backpressure(),
    refuse: () => false,
    lost: () => undefined,
    mostOpen,
  });
  return { runner, begun, end: (name: string) => open.get(name)?.() };
}

const ID = ['6b01180ea1fc451960000000', '6b01180ea1fc451960000001'] as const;
const event = (uuid: string, depth: number, id: string, more: Partial<StoredEvent> = {}): StoredEvent => ({
  uuid,
  path: '/types/X/update',
  value: `{"_id":"${id}","n":1}`,
  at: new Date(0),
  by: 'ann',
  chain: { root: uuid, depth },
  runs: [{ rule: 'mirror', program: 'p', binds: 'value' }],
  ...more,
});

test('what a chain has begun does not overtake an earlier event of the same instance', () => {
  const { runner, begun, end } = opened(2);
  runner.begin([event('busy1', 0, '6b01180ea1fc45196000000a'), event('busy2', 0, '6b01180ea1fc45196000000b')]);
  runner.begin([event('client', 0, ID[0])]);
  runner.begin([event('rule', 1, ID[0]), event('other', 1, ID[1])]);
  end('busy1');
  end('busy2');
  expect(begun).toEqual(['busy1', 'busy2', 'other', 'client']);
  end('other');
  expect(begun).toHaveLength(4);
  end('client');
  expect(begun[4]).toBe('rule');
});

test('one run of a rule and an instance is open at a time; those of other instances and of messages are not held up', () => {
  const { runner, begun, end } = opened(100);
  const message = (uuid: string) => event(uuid, 0, ID[0], { path: '/topics/t/publish' });
  runner.begin([
    event('v1', 0, ID[0], { path: '/types/X/insert' }),
    event('v2', 0, ID[0]),
    event('w1', 0, ID[1]),
    message('m1'),
    message('m2'),
  ]);
  expect(begun).toEqual(['v1', 'w1', 'm1', 'm2']);
  end('v1');
  expect(begun).toEqual(['v1', 'w1', 'm1', 'm2', 'v2']);
  for (const name of ['v2', 'w1', 'm1', 'm2']) end(name);
  expect(runner.pending).toBe(0);
});
