// Definitions that change under load: a rule is made, changed, deactivated and deleted, and a type renamed, deleted and made again, while clients
// insert. An event has the effect of the rule that was in force: of the one before or the one after where the two overlap.
import type { Document } from 'mongodb';
import type { ObjectValue } from '../../../stdlib/values/index.ts';
import { CascadeError } from '../../../stdlib/errors.ts';
import { deleteDefinition, putDefinition } from '../../../resources/definitions/operations.ts';
import { RULES } from '../../../features/rules/rules-kind.ts';
import type { Part } from './part.ts';
import type { Program } from './sandbox.ts';
import type { SimulatedService } from './service.ts';

/** Instances that clients insert meanwhile, of the type that stays and of the one that is renamed. */
const INSERTS = 6;
/** A client that has heard nothing for so long looks whom else it can ask; one that was refused asks again after a pause. */
const PATIENCE_MS = 2_000;
const PAUSE_MS = 100;

/** What is asked of a definition, and what of the rule is in force once that is done: a text, or none. */
interface Step {
  readonly ask: (service: SimulatedService) => Promise<unknown>;
  readonly text: string | null;
}

/** From when a step may hold, and from when it must. */
interface Held {
  readonly text: string | null;
  readonly begunAt: number;
  doneAt: number;
}

interface Inserted {
  readonly begunAt: number;
  doneAt: number;
}

/** The text of a rule whose program says `version`. */
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

const isGone = (error: unknown): boolean => error instanceof CascadeError && error.code === 'cascade.resource.not.found';

function pause(ms: number): Promise<false>;
function pause<T>(ms: number, value: T): Promise<T>;
function pause(ms: number, value: unknown = false): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, ms, value));
}

/** What the program of such a text does. */
export const changedRule = (text: string): Program =>
  function* ({ value }) {
    yield {
      kind: 'insert',
      type: 'Trace',
      value: { tag: `${String((value as ObjectValue)['tag'])} changing ${VERSION.exec(text)?.[1] ?? text}`, n: 1 },
      tail: true,
    };
  };

export function changingDefinitions(): Part {
  const waiting = new Set<string>();
  /** Moments in the order in which they were noticed. */
  let moments = 0;
  const held: Held[] = [{ text: null, begunAt: 0, doneAt: 0 }];
  const inserted = new Map<string, Inserted>();

  /** Asks until it is done; again when it was refused, or when who was asked does not serve any more: what that one had begun is not done by then, or never. */
  const untilDone = async (serving: () => SimulatedService | null, { ask }: Step): Promise<void> => {
    for (;;) {
      const service = serving();
      if (!service) {
        await pause(PATIENCE_MS);
        continue;
      }
      const answer = ask(service).then(
        () => true,
        (error: unknown) => isGone(error) || pause(PAUSE_MS),
      );
      for (;;) {
        const heard = await Promise.race([answer, pause(PATIENCE_MS, null)]);
        if (heard === true) return;
        if (heard === false || serving() !== service) break;
      }
    }
  };
  return {
    tasks: (serving) => [
      () => {
        waiting.add('rules');
        const edit = async (): Promise<void> => {
          for (const change of STEPS) {
            const step: Held = { text: change.text, begunAt: ++moments, doneAt: Number.POSITIVE_INFINITY };
            held.push(step);
            await untilDone(serving, change);
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
    unfinished: () => [...waiting].map((what) => `the definitions of ${what} are not changed yet`),
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
