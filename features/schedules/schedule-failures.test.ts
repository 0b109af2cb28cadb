// What becomes of a scheduled event whose delivery fails: it is due again, whatever the reason, and is delivered once.
import { BSON, type Db, ObjectId } from 'mongodb';
import { pino } from 'pino';
import { beforeEach, expect, test, vi } from 'vitest';
import { DateTime, getOwn, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import { VirtualClock } from '../../platform/clock/index.ts';
import { type UnitOfWork, VersionConflict } from '../../runtime/transactions/index.ts';
import { toBson } from '../../model/values/index.ts';
import { DefinitionStore } from '../../resources/catalog/definition-store.ts';
import { Schedule } from './schedule.ts';
import type { Namespace } from '../../resources/catalog/types.ts';

const publish = vi.hoisted(() => vi.fn<(space: Namespace, topic: string, value: Value, actor: Actor) => Promise<void>>());
vi.mock('../topics/publish.ts', () => ({ publishTopic: publish }));

const KIND = 'scheduledevents';
const START = Date.UTC(2026, 0, 1);
const ID = '0123456789abcdef01234567';

/** An event that is due every ten seconds, the first time after ten. */
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
  /** What has been stored, by the seconds of the time. */
  readonly stored: { readonly second: number; readonly writes: number; readonly events: number }[];
  /** Thrown instead of storing a unit, each once. */
  readonly failures: (Error | null)[];
  /** What the store holds of the event. */
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

test('an error that does not pass delays the delivery, and the next one comes at its time', async () => {
  world.failures.push(new Error('no'), new Error('no'), new Error('no'));
  await world.pass(30_000);
  expect(world.stored.map(({ second }) => second)).toEqual([13.5, 20, 30]); // after 0.5, 1 and 2 seconds
});

test('an event that another process has delivered goes on with its next time, though nobody has told of it', async () => {
  world.inStore = scheduledEvent(2, START + 20_000);
  world.failures.push(new VersionConflict('resources', new ObjectId(ID)));
  await world.pass(20_000);
  expect(world.stored.map(({ second }) => second)).toEqual([20]);
});

test('what cannot be read again is tried again', async () => {
  const missed = new VersionConflict('resources', new ObjectId(ID));
  world.failures.push(missed);
  await world.pass(20_000); // what the store holds is what was to be delivered
  expect(world.stored.map(({ second }) => second)).toEqual([10.5, 20]);
});

test('each attempt at a delivery has the next time of the event with it', async () => {
  publish.mockImplementation(async (_space, _topic, _value, actor) => {
    const unit = { writes: [], events: [EVENT] };
    await actor.commit(unit).catch(() => actor.commit(unit)); // as a change of several things does that others change, too
  });
  world.failures.push(new VersionConflict('t.ArsTrack', new ObjectId()));
  await world.pass(10_000);
  expect(world.stored).toEqual([{ second: 10, writes: 1, events: 1 }]);
});

test('what is published after the delivery is stored by itself', async () => {
  publish.mockImplementation(async (_space, _topic, _value, actor) => {
    for (let i = 0; i < 2; i++) await actor.commit({ writes: [], events: [EVENT] });
  });
  await world.pass(10_000);
  expect(world.stored.map(({ writes }) => writes)).toEqual([1, 0]);
});

test('an event that was deleted meanwhile is not due again', async () => {
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
