// Scheduled events whose delivery fails: the delivery is retried whatever the error, and made once.
import { BSON, type Db, ObjectId } from 'mongodb';
import { pino } from 'pino';
import { beforeEach, expect, test, vi } from 'vitest';
import { DateTime, getOwn, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import { VirtualClock } from '../../platform/clock/index.ts';
import { Fenced, type UnitOfWork, VersionConflict } from '../../runtime/transactions/index.ts';
import { toBson } from '../../model/values/index.ts';
import { DefinitionStore } from '../../resources/catalog/definition-store.ts';
import { Schedule } from './schedule.ts';
import type { Namespace } from '../../resources/catalog/types.ts';

const publish = vi.hoisted(() => vi.fn<(space: Namespace, topic: string, value: Value, actor: Actor) => Promise<void>>());
vi.mock('../topics/publish.ts', () => ({ publishTopic: publish }));

const runs = vi.hoisted(() => vi.fn<(host: unknown, call: { caller: { signal: AbortSignal } }) => Promise<string>>());
vi.mock('../../runtime/runs/index.ts', async (original) => ({ ...(await original<object>()), runDirect: runs }));
vi.mock('../../resources/access/index.ts', async (original) => ({
  ...(await original<object>()),
  ...{ calledAs: () => ({}), creatorOf: async () => ({}) },
}));

const KIND = 'scheduledevents';
const START = Date.UTC(2026, 0, 1);
const ID = '0123456789abcdef01234567';

/** An event every ten seconds, first after ten. */
function scheduledEvent(version = 1, dueMs = START + 10_000): ObjectValue {
  const object: ObjectValue = { _id: ID, name: 'tick', periodic: true, interval: 10_000, topic: '/tick', message: null, active: true };
  setOwn(object, 'isTransient', false);
  setOwn(object, 'occursAt', new DateTime(dueMs));
  setOwn(object, 'ars_version', version);
  setOwn(object, 'ars_createdBy', 'ann');
  setOwn(object, 'ars_createdAt', new DateTime(START));
  return object;
}

interface World {
  readonly clock: VirtualClock;
  readonly schedule: Schedule;
  readonly space: Namespace;
  /** The stored units, by the second of their commit. */
  readonly stored: { readonly second: number; readonly writes: number; readonly events: number }[];
  /** Errors for the next attempts to store a unit; null lets one succeed. */
  readonly failures: (Error | null)[];
  /** The event as the store has it. */
  inStore: ObjectValue;
  pass(ms: number): Promise<void>;
}

function newWorld(): World {
  const clock = new VirtualClock(START);
  const definitions = new DefinitionStore();
  definitions.put(KIND, 'tick', scheduledEvent());
  const row = (object: ObjectValue) => BSON.serialize({ _id: new ObjectId(ID), kind: KIND, name: 'tick', object: toBson(object) });
  const world: World = {
    clock,
    schedule: new Schedule(() => space),
    get space() {
      return space;
    },
    stored: [],
    failures: [],
    inStore: scheduledEvent(),
    pass: (ms) => clock.advanceTo(clock.now() + ms, () => world.schedule.settled()),
  };
  const space = {
    name: 'main',
    clock,
    catalog: { definitions },
    log: pino({ level: 'silent' }),
    execution: { runs: { backpressure: { whenRelieved: async () => undefined } } },
    storage: { db: { collection: () => ({ findOne: async () => row(world.inStore) }) } as unknown as Db },
    transactions: {
      submit: async ({ writes, events }: UnitOfWork) => {
        const failure = world.failures.shift();
        if (failure) throw failure;
        world.stored.push({ second: (clock.now() - START) / 1_000, writes: writes.length, events: events.length });
      },
    },
    events: { subscribers: { gone: () => undefined }, deliveries: { gone: () => undefined } },
    get schedule() {
      return world.schedule;
    },
  } as unknown as Namespace;
  world.schedule.start();
  return world;
}

const EVENT = {} as UnitOfWork['events'][number];

let world: World;
beforeEach(() => {
  world = newWorld();
  publish.mockImplementation((_space, _topic, _value, actor) => actor.commit({ writes: [], events: [EVENT] }));
});

test('a permanent error delays the delivery with back-off, and the next delivery is on time', async () => {
  world.failures.push(new Error('no'), new Error('no'), new Error('no'));
  await world.pass(30_000);
  expect(world.stored.map(({ second }) => second)).toEqual([13.5, 20, 30]); // after 0.5, 1 and 2 seconds
});

test('an event that another process has delivered continues with its next time, without a notice of the change', async () => {
  world.inStore = scheduledEvent(2, START + 20_000);
  world.failures.push(new VersionConflict('resources', new ObjectId(ID)));
  await world.pass(20_000);
  expect(world.stored.map(({ second }) => second)).toEqual([20]);
});

test('a delivery with a version conflict is retried if the stored event is unchanged', async () => {
  const missed = new VersionConflict('resources', new ObjectId(ID));
  world.failures.push(missed);
  await world.pass(20_000); // the store has the same version as the schedule
  expect(world.stored.map(({ second }) => second)).toEqual([10.5, 20]);
});

test('each attempt to store a delivery includes the event’s next time', async () => {
  publish.mockImplementation(async (_space, _topic, _value, actor) => {
    const unit = { writes: [], events: [EVENT] };
    await actor.commit(unit).catch(() => actor.commit(unit)); // retries as an atomic change of several instances does
  });
  world.failures.push(new VersionConflict('t.ArsTrack', new ObjectId()));
  await world.pass(10_000);
  expect(world.stored).toEqual([{ second: 10, writes: 1, events: 1 }]);
});

test('a unit after the delivery is stored without a change of the event', async () => {
  publish.mockImplementation(async (_space, _topic, _value, actor) => {
    for (let i = 0; i < 2; i++) await actor.commit({ writes: [], events: [EVENT] });
  });
  await world.pass(10_000);
  expect(world.stored.map(({ writes }) => writes)).toEqual([1, 0]);
});

test('the delivery of an event with an unknown zone is retried until the zone is known, and delays no other event', async () => {
  const { definitions } = world.space.catalog;
  const lost: ObjectValue = { ...scheduledEvent(), _id: 'fedcba987654321001234567', name: 'lost', cron: '* * * * *', zone: 'Mars/Olympus' };
  definitions.put(KIND, 'lost', lost);
  world.schedule.put('lost', lost);
  await world.pass(65_000);
  expect(world.stored.map(({ second }) => second)).toEqual([10, 20, 30, 40, 50, 60]);
  const found = { ...lost, zone: 'UTC' };
  definitions.put(KIND, 'lost', found);
  definitions.remove(KIND, 'tick');
  await world.pass(60_000);
  expect(world.stored.slice(6).map(({ second }) => second)).toEqual([73.5, 120]); // 63.5 s after the first attempt, then the full minute
});

test('an event that was deleted during its delivery is not due again', async () => {
  world.failures.push(new Error('no'));
  publish.mockImplementationOnce(async (space, _topic, _value, actor) => {
    expect(getOwn(space.catalog.definitions.get(KIND, 'tick') ?? {}, 'name')).toBe('tick');
    space.catalog.definitions.remove(KIND, 'tick');
    world.schedule.remove('tick');
    await actor.commit({ writes: [], events: [EVENT] });
  });
  await world.pass(60_000);
  expect(world.stored).toEqual([]);
});

// spec: integrations.md 10.4
test('a delivery has the same uuids in each attempt, and every delivery others', async () => {
  const attempts: (string | undefined)[][] = [];
  publish.mockImplementation((_space, _topic, _value, actor) => {
    attempts.push([actor.eventUuids?.(), actor.eventUuids?.()]); // as of a message that is unwound
    return actor.commit({ writes: [], events: [EVENT] });
  });
  world.failures.push(new Error('no'), null, null);
  await world.pass(20_000);
  const [failed, first, second] = attempts;
  expect(attempts).toHaveLength(3);
  expect(failed).toEqual(first);
  expect(new Set(attempts.flat()).size).toBe(4);
  for (const uuid of [...(first ?? []), ...(second ?? [])])
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('a scheduled procedure that runs when its namespace is closed ends then, however long it would take, and has not failed', async () => {
  runs.mockImplementation(
    (_host, { caller: { signal } }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  const { definitions } = world.space.catalog;
  definitions.put('procedures', 'Night.copy', { name: 'Night.copy' });
  world.schedule.putService('Night', { name: 'Night', scheduledProcedures: { copy: 60_000 } });
  await world.clock.advanceTo(START + 60_000, () => Promise.resolve());
  await vi.waitFor(() => expect(runs).toHaveBeenCalled());
  await world.schedule[Symbol.asyncDispose]();
  expect(runs.mock.calls[0]?.[1].caller.signal.reason).toBeInstanceOf(Fenced);
});
