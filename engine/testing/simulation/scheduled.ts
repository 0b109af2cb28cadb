// Scheduled events, single and periodic: each is delivered once at each of its times, whoever dies meanwhile.
import { type Long, ObjectId } from 'mongodb';
import { DateTime, type ObjectValue } from '../../../stdlib/values/index.ts';
import { DEFINITIONS, definitionWrite } from '../../../resources/catalog/definition-store.ts';
import { countedBy, type Part } from './part.ts';
import type { Program } from './sandbox.ts';
import { steadyClock } from './timers.ts';

const TOPIC = '/tick';
/** First due times, from the beginning; and the interval of the periodic one, longer than a world is quiet at its end. */
const ONCE_MS = [0, 3_000, 9_000];
const FIRST_MS = 1_000;
const INTERVAL_MS = 30_000;
const PERIODIC = 'periodic';

const ticked: Program = function* (message) {
  yield { kind: 'insert', type: 'Trace', value: { tag: `${String(message['tag'])} ticked`, n: 1 }, tail: true };
};

function definition(name: string, afterMs: number, periodic: boolean): ObjectValue {
  const now = new DateTime(steadyClock.now());
  return {
    _id: new ObjectId().toHexString(),
    ars_version: 1,
    ars_createdAt: now,
    ars_createdBy: 'ann',
    name,
    periodic,
    occursAt: new DateTime(now.ms + afterMs),
    ...(periodic && { interval: INTERVAL_MS }),
    topic: TOPIC,
    message: { tag: name },
    active: true,
    isTransient: false,
  };
}

export function scheduledEvents(): Part {
  const once = ONCE_MS.map((afterMs) => ({ name: `once${afterMs}`, afterMs }));
  return {
    rules: [{ name: 'ticked', timing: 'when', path: `/topics${TOPIC}/publish`, program: ticked }],
    furnish: (db) =>
      [...once.map(({ name, afterMs }) => definition(name, afterMs, false)), definition(PERIODIC, FIRST_MS, true)].map((object) => {
        const write = definitionWrite('scheduledevents', String(object['name']), object, null);
        return db.collection(DEFINITIONS).insertOne('document' in write ? { ...write.document } : {});
      }),
    unfinished: (store) =>
      store
        .rows(DEFINITIONS)
        .flatMap(({ kind, name }) =>
          kind !== 'scheduledevents' || name === PERIODIC ? [] : [`the scheduled event ${String(name)} has not been delivered`],
        ),
    wrong(store) {
      const ticks = countedBy(store.rows('t.Trace'), ({ tag }) => String(tag));
      const [row] = store.rows(DEFINITIONS).filter(({ name }) => name === PERIODIC);
      // Each delivery makes a new version.
      const wanted = new Map([...once.map(({ name }) => [name, 1] as const), [PERIODIC, (row?.['ars_version'] as Long).toNumber() - 1]]);
      return [...wanted].flatMap(([name, times]) => {
        const is = ticks.get(`${name} ticked`) ?? 0;
        return is === times ? [] : [`the scheduled event ${name}: ${is} effects instead of ${times}`];
      });
    },
  };
}
