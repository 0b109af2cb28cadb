// What stands in the way of a run and goes by itself neither ends it nor is told to its program.
import { MongoNetworkError, MongoServerError } from 'mongodb';
import { pino } from 'pino';
import { test } from 'vitest';
import { type Actor, RestartRun } from '../context/actor.ts';
import { type Answer, Fenced, type StoredEvent, type UnitOfWork } from '../transactions/index.ts';
import { systemClock } from '../../platform/clock/index.ts';
import type { RunRequest } from '../../sandbox/index.ts';
import { Contention, ErrorBreaker, ExecutionTimes, NO_LIMITS, Backpressure, runDirect, type RunHost, Runner } from './index.ts';
import type { Executable } from '../programs/executable.ts';

const conflict = new MongoServerError({ message: 'WriteConflict', code: 112 });
conflict.addErrorLabel('TransientTransactionError');

const raise = (error: Error): never => {
  throw error;
};

const executable: Executable = {
  resource: '/rules/r',
  name: 'r',
  program: { id: 'r', module: { hash: 'r', source: '' }, constantsJson: '[]' },
  map: '',
  service: null,
  identity: { username: 'ann', namespace: 'main', profiles: [] },
};
const event: StoredEvent = {
  uuid: 'e',
  path: '/types/T/insert',
  value: '{}',
  at: new Date(0),
  by: 'ann',
  chain: { root: 'e', depth: 0 },
  runs: [{ rule: 'r', program: 'r', binds: 'value' }],
};

/** Runs of one statement each, which fails once; tells how they began, what their programs were answered, and what was dropped. */
function hostOf(failure: unknown) {
  const reported = { starts: 0, dropped: 0, answers: [] as Answer[] };
  let isFirst = true;
  const open: RunRequest[] = [];
  const host = {
    namespace: 'main',
    clock: systemClock,
    contention: new Contention(),
    backpressure: new Backpressure(),
    log: pino({ level: 'silent' }),
    sandbox: {
      start(request: RunRequest) {
        reported.starts++;
        open.push(request);
        setImmediate(() => request.observer.op('1', 0, 'select', '{}', false));
        return request;
      },
      answer(request: RunRequest, answer: Answer) {
        reported.answers.push(answer);
        setImmediate(() => request.observer.done('null'));
      },
      drop: () => void reported.dropped++,
    },
    committer: { markDone: () => undefined },
    executionTimes: new ExecutionTimes(),
    errorBreaker: new ErrorBreaker(() => 0),
    limits: () => NO_LIMITS,
    holdsLocks: () => false,
    executable: () => executable,
    perform: async () => {
      if (!isFirst) return { ok: '1' };
      isFirst = false;
      throw failure;
    },
    changeAtOnce: () => null,
    release: () => undefined,
    takeRecorded: () => [],
    failure: () => ({ writes: [], events: [] }),
    isTraced: () => false,
    logLevel: () => 20,
    serviceOf: () => null,
    mapOf: () => null,
  } as unknown as RunHost;
  return { host, reported };
}

test.concurrent.for([
  ['a connection that breaks', new MongoNetworkError('reset')],
  ['a conflict with a transaction that nobody ends', conflict],
  ['an index that is being built', new MongoServerError({ message: 'LockTimeout', code: 24 })],
  ['a cursor that went with the database', new MongoServerError({ message: 'CursorNotFound', code: 43 })],
  ['a database that has just begun', new MongoServerError({ message: 'ReadConcernMajorityNotAvailableYet', code: 134 })],
])('%s: the statement of a rule is carried out later', async ([, failure], { expect }) => {
  const { host, reported } = hostOf(failure);
  const runner = new Runner({
    host,
    find: () => executable,
    backpressure: host.backpressure,
    refuse: () => false,
    lost: () => undefined,
  });
  runner.begin([event]);
  await runner.drained();
  expect(reported).toEqual({ starts: 1, dropped: 0, answers: [{ ok: '1' }] });
});

test('a BEFORE rule whose walk is gone has the run that it is a part of start again', async ({ expect }) => {
  const again = new RestartRun('cursor');
  const { host, reported } = hostOf(again);
  const caller = { chain: { root: 'e', depth: 1 }, childRunIds: null, depth: 0, event: { event, rule: 'r' } };
  const call = { executable, body: { program: executable.program }, argsJson: '[]', identity: executable.identity, caller };
  await expect(runDirect(host, { ...call, snapshot: 'never' })).rejects.toBe(again);
  expect(reported).toEqual({ starts: 1, dropped: 1, answers: [] });
});

test('a procedure that a client called, and whose walk is gone, is told that the service was not available', async ({ expect }) => {
  const { host, reported } = hostOf(new RestartRun('cursor'));
  const caller = { chain: { root: 'e', depth: 1 }, childRunIds: null, depth: 0 };
  const call = { executable, body: { program: executable.program }, argsJson: '[]', identity: executable.identity, caller };
  await runDirect(host, { ...call, snapshot: 'never' });
  expect(reported.answers).toMatchObject([{ error: { code: 'cascade.server.unavailable' } }]);
});

test('a procedure that a client called ends with the ownership of its namespace, whatever its program would make of an error', async ({
  expect,
}) => {
  const lost = new Fenced('another process owns it');
  const { host, reported } = hostOf(lost);
  const caller = { chain: { root: 'e', depth: 1 }, childRunIds: null, depth: 0 };
  const call = { executable, body: { program: executable.program }, argsJson: '[]', identity: executable.identity, caller };
  await expect(runDirect(host, { ...call, snapshot: 'never' })).rejects.toBe(lost);
  expect(reported).toEqual({ starts: 1, dropped: 1, answers: [] });
});

test('what a statement takes after its run has ended is given back', async ({ expect }) => {
  const { host } = hostOf(null);
  let answer = (): void => undefined;
  const took: string[] = [];
  const late = {
    ...host,
    record: () => [],
    committer: { submit: async () => undefined },
    perform: () => new Promise((resolve) => (answer = () => (took.push('taken'), resolve({ ok: '1' })))),
    release: () => void took.push('released'),
  } as unknown as RunHost;
  const caller = { chain: { root: 'e', depth: 1 }, childRunIds: null, depth: 0 };
  const call = { executable, body: { program: executable.program }, argsJson: '[]', identity: executable.identity, caller };
  await expect(runDirect(late, { ...call, deadlineMs: 20, snapshot: 'never' })).rejects.toMatchObject({
    code: 'cascade.execution.timeout',
  });
  answer();
  await new Promise((resolve) => setImmediate(resolve));
  expect(took).toEqual(['released', 'taken', 'released']);
});

test.for<[string, object]>([
  ['cannot be told', { failure: () => raise(new RangeError('too deep')) }],
  ['cannot be stored', { committer: { submit: async () => raise(new MongoServerError({ message: 'Overflow', code: 15 })) } }],
])('a failure whose record %s is answered all the same', async ([, broken], { expect }) => {
  const { host } = hostOf(null);
  const caller = { chain: { root: 'e', depth: 1 }, childRunIds: null, depth: 0 };
  const sandbox = {
    start(request: RunRequest) {
      setImmediate(() => request.observer.fail({ code: 'x.y', message: 'm', params: [1], status: 400, frames: [] }));
      return request;
    },
  };
  const kept = { record: () => [], committer: { submit: async () => undefined } };
  const call = { executable, body: { program: executable.program }, argsJson: '[]', identity: executable.identity, caller };
  const failed = runDirect({ ...host, ...kept, ...broken, sandbox } as unknown as RunHost, { ...call, snapshot: 'always' });
  await expect(failed).rejects.toMatchObject({ code: 'x.y', message: 'm', params: [1], status: 400 });
});

test('a run whose time is over while it waits for its turn ends, and whoever has the turn keeps it', { timeout: 20_000 }, async ({
  expect,
}) => {
  const { host } = hostOf(null);
  const contention = new Contention();
  await contention.enter('t/1', 'another');
  const ends: UnitOfWork[] = [];
  const impatient = {
    ...host,
    contention,
    executionTimes: new ExecutionTimes(20, 5),
    record: () => [],
    perform: async (_kind: string, _payload: string, { readSet }: Actor): Promise<Answer> => {
      while ((await readSet?.turn('t', ['1'])) === 'read again' && contention.hasTurn('t/1', 'another')) if (ends.length > 0) break;
      return { ok: '1' };
    },
    committer: { submit: async (unit: UnitOfWork) => void ends.push(unit) },
  } as unknown as RunHost;
  const runner = new Runner({
    host: impatient,
    find: () => executable,
    backpressure: host.backpressure,
    refuse: () => false,
    lost: () => undefined,
  });
  runner.begin([event]);
  setTimeout(() => contention.leave('another'), 200);
  await runner.drained();
  expect(ends.map(({ done }) => done)).toEqual([['e/r/1']]);
});
