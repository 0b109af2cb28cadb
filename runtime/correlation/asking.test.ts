// Rules whose conditions ask programs, where the answer does not come at once: the store is away, or the rule is changed meanwhile.
import { MongoNetworkError } from 'mongodb';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { systemClock } from '../../platform/clock/index.ts';
import { pureBuiltins } from '../../resources/host-context.ts';
import type { RunObserver } from '../../sandbox/index.ts';
import { Correlations } from './correlations.ts';
import type { StoredEvent, UnitOfWork } from '../transactions/index.ts';
import type { CorrelatedRule, CorrelationHost } from './version-group.ts';
import { compiledRule } from './testing/machine.ts';

const RULE = compiledRule(`RULE asking WHEN EVENT OCCURS ON "/topics/a" AS a WHERE isWanted(a.value)
  BEFORE EVENT OCCURS ON "/topics/b" AS b WITHIN 1 hour log.info("x")`);
const RUN = 'e1/~asking/1';

/**
 * @param admit whether the editor may run anything, asked before each question: this may need the store
 * @param answer of the program that is asked
 */
function asking(admit: () => Promise<void>, answer = (observer: RunObserver): void => observer.done('true')) {
  const done: string[] = [];
  const units: UnitOfWork[] = [];
  let begun = 0;
  const committer = {
    markDone: (run: string) => void done.push(run),
    settled: () => Promise.resolve(),
    submit: (unit: UnitOfWork) => Promise.resolve(void units.push(unit)),
  };
  const ignored = (): void => undefined;
  const conditions = { typeOf: () => null, builtin: pureBuiltins(systemClock), namespace: 'main' };
  const runs = {
    namespace: 'main',
    clock: systemClock,
    conditions,
    committer,
    admit,
    limits: () => ({}),
    logLevel: () => 'INFO',
    serviceOf: () => null,
    takeRecorded: () => [],
    isTraced: () => false,
    release: ignored,
    executionTimes: { begin: () => begun++, end: () => begun-- },
    errorBreaker: { ended: ignored },
    sandbox: { drop: ignored, start: ({ observer }: { observer: RunObserver }) => answer(observer) },
  };
  const correlations = new Correlations({
    namespace: 'main',
    clock: systemClock,
    committer,
    conditions,
    cipher: () => null,
    log: pino({ level: 'silent' }),
    failed: ignored,
    runs: () => runs,
    mostOpen: 1_000,
  } as unknown as CorrelationHost);
  const executable = { name: 'asking', resource: '/rules/asking', program: { id: 'p' }, identity: { username: 'ann' } };
  correlations.put({ compiled: RULE, baseName: 'asking', executable: executable as unknown as CorrelatedRule['executable'] });
  correlations.start([]);
  const publish = (uuid: string, topic: string): void => {
    const path = `/topics/${topic}/publish`;
    const chain = { root: uuid, depth: 0 };
    const event: StoredEvent = { uuid, path, value: '1', at: new Date(), by: 'ann', chain, runs: [] };
    correlations.arrive([{ ...event, runs: correlations.match(path, 1, () => ({})) }]);
  };
  return { correlations, publish, done, units, begun: () => begun };
}

test('an event whose answer the store keeps from coming counts when it is back', async () => {
  let refused = 0;
  const admit = () => (refused++ === 0 ? Promise.reject(new MongoNetworkError('away')) : Promise.resolve());
  await using held = disposing(asking(admit));
  held.publish('e1', 'a');
  held.publish('e2', 'b');
  await held.correlations.settled();
  expect(held.units.flatMap(({ events }) => events.map(({ path }) => path))).toEqual(['/rules/asking']);
  expect(held.begun()).toBe(0);
});

test.each([
  ['has been changed', true],
  ['goes on elsewhere', false],
])('K9: the event of an answer that comes when the rule %s', async (_, isChanged) => {
  let answer: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  const held = asking(() => asked);
  held.publish('e1', 'a');
  held.publish('e3', 'a');
  await Promise.resolve(); // the first is asked about, the second is behind it
  if (isChanged) held.correlations.remove('asking', 'asking');
  const stopped = isChanged ? held.correlations.settled() : held.correlations[Symbol.asyncDispose]();
  answer();
  await stopped;
  expect(held.done).toEqual(isChanged ? [RUN, 'e3/~asking/1'] : []);
  expect(held.correlations.open).toBe(0);
  if (isChanged) await held.correlations[Symbol.asyncDispose]();
});

test('a program that a condition asks ends with the namespace, however long it would take, and the next owner asks again', async () => {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const held = asking(
    () => Promise.resolve(),
    () => begin(), // and never an answer
  );
  held.publish('e1', 'a');
  await begun;
  await held.correlations[Symbol.asyncDispose]();
  expect([held.done, held.units, held.begun()]).toEqual([[], [], 0]);
});

const disposing = <T extends ReturnType<typeof asking>>(held: T): T & AsyncDisposable =>
  Object.assign(held, { [Symbol.asyncDispose]: () => held.correlations[Symbol.asyncDispose]() });
