// The trigger index alone: events a second with 10 to 100,000 rules on one type of which one matches each event, beside testing every
// rule's condition in turn. Equality and two-sided ranges.

import type { ConditionData, TriggerSpec } from '../compiler/index.ts';
import type { ObjectValue } from '../stdlib/values/index.ts';
import { conditionOf, type IndexedRule, TriggerIndex } from '../runtime/triggers/index.ts';
import { parseType, type TypeDefinition } from '../model/types/index.ts';
import type { Figure } from './report/index.ts';

const PATH = '/types/Reading/insert';
const COUNTS = [10, 1_000, 10_000, 100_000];
const ROUNDS = 5;
const ROUND_MS = 300;

const type: TypeDefinition = parseType(
  { name: 'Reading', properties: { meter: { type: 'Integer' }, site: { type: 'String' }, rate: { type: 'Real' } } },
  { types: new Map(), scalars: new Map() },
);
const outside = { typeOf: () => type, builtin: () => undefined, namespace: 'main' };

const compare = (operator: '==' | '>=' | '<', v: number): ConditionData => ({
  op: 'compare',
  operator,
  left: { k: 'path', root: 'r', p: ['meter'] },
  right: { k: 'const', v },
});

/** The condition of rule `i`: met by the events of meter `10 * i` (to `10 * i + 9`, for ranges). */
const CONDITIONS: Readonly<Record<string, (i: number) => ConditionData>> = {
  equality: (i) => compare('==', 10 * i),
  ranges: (i) => ({ op: 'and', terms: [compare('>=', 10 * i), compare('<', 10 * i + 10)] }),
};

function rulesOf(count: number, condition: (i: number) => ConditionData): IndexedRule[] {
  return Array.from({ length: count }, (_, i) => {
    const trigger: TriggerSpec = { paths: [PATH], variable: 'r', binds: 'value', condition: condition(i) };
    return { name: `rule${i}`, baseName: `rule${i}`, version: null, triggers: [trigger], where: null, payload: i };
  });
}

/** Events that meet rules spread over all of them. */
const eventsOf = (count: number): ObjectValue[] =>
  Array.from({ length: 4_096 }, (_, i) => ({ meter: 10 * ((i * 7_919) % count), site: 'north', rate: 0.5 + i }));

/** Events a second of a function that tells how many rules an event met. */
function measure(events: readonly ObjectValue[], met: (event: ObjectValue) => number): number {
  const end = performance.now() + ROUND_MS;
  const begun = performance.now();
  let done = 0;
  for (let now = begun; now < end; now = performance.now()) {
    const batch = Math.min(events.length, Math.max(1, done));
    for (let i = 0; i < batch; i++) if (met(events[i] as ObjectValue) !== 1) throw new Error('one rule matches each event');
    done += batch;
  }
  return (1_000 * done) / (performance.now() - begun);
}

export function triggerIndex(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [kind, condition] of Object.entries(CONDITIONS)) {
    for (const count of COUNTS) {
      const rules = rulesOf(count, condition);
      const events = eventsOf(count);
      const index = new TriggerIndex({ ...outside, onError: () => undefined });
      const begun = performance.now();
      for (const rule of rules) index.add(rule);
      const buildMs = performance.now() - begun;
      const tests = rules.map(({ triggers }, i) => conditionOf(condition(i), triggers, outside));
      const none = (): ObjectValue => ({});
      const contestants = {
        index: (event: ObjectValue) => index.match(PATH, event, none).length,
        'every rule in turn': (event: ObjectValue) => {
          const context = { payload: () => event, event: none };
          let met = 0;
          for (const test of tests) if (test(context)) met++;
          return met;
        },
      };
      const rounds: Record<string, number[]> = {};
      for (let round = -1; round < ROUNDS; round++) {
        for (const [name, met] of Object.entries(contestants)) {
          const perSecond = measure(events, met);
          if (round >= 0) (rounds[name] ??= []).push(perSecond); // the first round warms
        }
      }
      figures.push({
        name: `trigger index, ${kind}, ${count.toLocaleString('en')} rules`,
        unit: 'events/s',
        rounds,
        besides: { index: { buildMs } },
      });
    }
  }
  return Promise.resolve(figures);
}
