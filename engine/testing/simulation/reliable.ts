// A reliable topic: each message is delivered until its rule acknowledges it, or becomes a dead letter; each delivery has its effect once.
import type { Document } from 'mongodb';
import type { ObjectValue } from '../../../stdlib/values/index.ts';
import { DEAD_LETTERS } from '../../../features/delivery/delivery-types.ts';
import { countedBy, type Part, unheard } from './part.ts';
import type { Program } from './sandbox.ts';

const TOPIC = '/sure';
/** Number of deliveries until each message is acknowledged; 0: it never is. */
const NEEDS = { s1: 1, s2: 2, s0: 0 };

const delivered: Program = function* (message) {
  const attempt = yield { kind: 'attempt', type: '' };
  yield { kind: 'insert', type: 'Trace', value: { tag: `${String(message['tag'])} delivered`, n: attempt } };
  const needs = Number(message['needs']);
  if (needs > 0 && Number(attempt) >= needs) yield { kind: 'ack', type: '' };
};

export function reliableTopic(): Part {
  const known = new Map<string, 'promised' | 'perhaps'>();
  return {
    rules: [{ name: 'delivered', timing: 'when', path: `/topics${TOPIC}/publish`, program: delivered }],
    topics: { [TOPIC]: { name: TOPIC, isReliable: true, redeliveryFrequency: 2, redeliveryTTL: 7 } },
    tasks: () =>
      Object.entries(NEEDS).map(([tag, needs]) => (service) => {
        known.set(tag, 'perhaps');
        unheard(service.publish(TOPIC, { tag, needs }).then(() => known.set(tag, 'promised')));
      }),
    unfinished: (store) =>
      store.rows('deliveries').map(({ event, nextAt }) => `a delivery of ${String(event.value)} is due at ${String(nextAt)}`),
    wrong(store) {
      const traces = countedBy(store.rows('t.Trace'), ({ tag, n }) => `${String(tag)} ${String(n)}`);
      const letters = countedBy(store.rows(DEAD_LETTERS.collection), tagOf);
      return Object.entries(NEEDS).flatMap(([tag, needs]) => {
        const attempts = [...traces]
          .filter(([trace]) => trace.startsWith(`${tag} delivered `))
          .map(([trace, times]) => [Number(trace.split(' ')[2]), times]);
        const doubled = attempts
          .filter(([, times]) => times !== 1)
          .map(([attempt, times]) => `delivery ${attempt} of ${tag}: ${times} effects`);
        const last = Math.max(0, ...attempts.map(([attempt]) => attempt as number));
        const lost = attempts.length < last ? [`of ${last} deliveries of ${tag} ${attempts.length} had their effect`] : [];
        const dead = letters.get(tag) ?? 0;
        const isAcknowledged = needs > 0 && last >= needs;
        const isLost = last + dead > 0 ? !isAcknowledged && dead !== 1 : known.get(tag) === 'promised';
        const ended = isLost ? [`${tag}: neither acknowledged nor a dead letter (${last} deliveries, ${dead} letters)`] : [];
        return [...doubled, ...lost, ...ended, ...(dead > 1 ? [`${tag}: ${dead} dead letters`] : [])];
      });
    },
  };
}

function tagOf(letter: Document): string {
  const { value } = letter['event'] as { value: ObjectValue };
  return String(value['tag']);
}
