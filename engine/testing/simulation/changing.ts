// A rule that is created, changed, deactivated and deleted while clients insert: an event has the effect of the rule in force, or of the
// one before or after where the two overlap.
import type { Document } from 'mongodb';
import type { ObjectValue } from '../../../stdlib/values/index.ts';
import { deleteDefinition } from '../../../resources/definitions/delete.ts';
import { putDefinition } from '../../../resources/definitions/operations.ts';
import { RULES } from '../../../features/rules/rules-kind.ts';
import { isGone, type Part, untilDone } from './part.ts';
import type { Program } from './sandbox.ts';
import type { SimulatedService } from './service.ts';

/** Number of instances that clients insert meanwhile. */
const INSERTS = 6;

/** A change of the definition, and the text that is in force afterwards, if any. */
interface Step {
  readonly ask: (service: SimulatedService) => Promise<unknown>;
  readonly text: string | null;
}

/** The moment from which a step may be in force, and the one from which it must be. */
interface InForce {
  readonly text: string | null;
  readonly begunAt: number;
  doneAt: number;
}

interface Inserted {
  readonly begunAt: number;
  doneAt: number;
}

/** The text of a rule whose program logs `version`. */
const ruleText = (version: string): string => `RULE changing WHEN EVENT OCCURS ON "/types/Noted/insert" AS e log.info("${version}")`;
const VERSION = /log\.info\("(\w+)"\)$/;

const put = (version: string, active = true): Step => ({
  ask: (service) => putDefinition(service.space, RULES, { ruleText: ruleText(version), active }, service.asClient(), false),
  text: active ? version : null,
});
const removed: Step = {
  ask: (service) => deleteDefinition(service.space, RULES, 'changing', service.asClient()),
  text: null,
};

const STEPS: readonly Step[] = [put('v1'), put('v2'), put('v2', false), put('v3'), removed, put('v4'), put('v1')];

/** The simulated program of such a text. */
export const changedRule = (text: string): Program =>
  function* ({ value }) {
    yield {
      kind: 'insert',
      type: 'Trace',
      value: { tag: `${String((value as ObjectValue)['tag'])} changing ${VERSION.exec(text)?.[1] ?? text}`, n: 1 },
      tail: true,
    };
  };

export function changingRule(): Part {
  const waiting = new Set<string>();
  /** A counter that orders the observed moments. */
  let moments = 0;
  const held: InForce[] = [{ text: null, begunAt: 0, doneAt: 0 }];
  const inserted = new Map<string, Inserted>();

  return {
    tasks: (serving) => [
      () => {
        waiting.add('rules');
        const edit = async (): Promise<void> => {
          for (const change of STEPS) {
            const step: InForce = { text: change.text, begunAt: ++moments, doneAt: Number.POSITIVE_INFINITY };
            held.push(step);
            await untilDone(serving, change.ask, isGone);
            step.doneAt = ++moments;
          }
          waiting.delete('rules');
        };
        void edit();
      },
      ...Array.from({ length: INSERTS }, (_, index) => (service: SimulatedService) => {
        const tag = `d${index}`;
        const known: Inserted = { begunAt: ++moments, doneAt: Number.POSITIVE_INFINITY };
        inserted.set(tag, known);
        service.insert('Noted', { tag }).then(
          () => (known.doneAt = ++moments),
          () => undefined,
        );
      }),
    ],
    unfinished: () => [...waiting].map((what) => `not all changes of ${what} are done`),
    wrong(store) {
      const stored = new Set(store.rows('t.Noted').map(({ tag }) => String(tag)));
      return [...inserted].flatMap(([tag, { begunAt, doneAt }]) => {
        if (!stored.has(tag)) return doneAt === Number.POSITIVE_INFINITY ? [] : [`${tag} is lost`];
        const may = held
          .filter((step, index) => step.begunAt <= doneAt && (held[index + 1]?.doneAt ?? Number.POSITIVE_INFINITY) >= begunAt)
          .map(({ text }) => text);
        const effects = store
          .rows('t.Trace')
          .map((row: Document) => String(row['tag']).split(' '))
          .filter(([of, by]) => of === tag && by === 'changing')
          .map(([, , version]) => version as string);
        if (effects.length === 0 && may.includes(null)) return [];
        if (effects.length === 1 && may.includes(effects[0] as string)) return [];
        return [
          `${tag}: effects of ${effects.join(', ') || 'no rule'} where ${may.map((text) => text ?? 'none').join(', ')} may be in force`,
        ];
      });
    },
  };
}
