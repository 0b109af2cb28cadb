// Constants on scalars in the constraints of profiles and types, in their stored form (resources-and-api.md 3.3). Rights are decided at once, while the
// procedures that convert have to be waited for: they are called when a constraint comes into force, and again when what it depends on has changed.

import { DateTime, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { requireModest, substitute } from '../../model/query/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import { boundedCache } from '../../platform/structures/index.ts';
import { PUBLIC_EXECUTOR, type TypeDefinition } from '../../model/types/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { actionFor, type Constant, convertsConstants, type Outcome, storedConstants, withOpenConstants } from '../scalars/index.ts';
import { StateKey } from '../states.ts';
import type { Timer } from '../../platform/clock/index.ts';
import { COMPILED_RESTRICTIONS } from './compiled.ts';

/** Of refusals that are none of the value: the same conversion may succeed a moment later. */
const PASSING: ReadonlySet<number> = new Set([429, 500, 503]);
/** When a pass is repeated that met one. Each further one waits twice as long. */
const REPEAT_AFTER_MS = 1_000;
const MOST_REPEAT_AFTER_MS = 5 * 60_000;

/** Kinds whose changes decide which constants there are, and those that decide their stored form. */
const GIVE: ReadonlySet<string> = new Set(['profiles', 'types']);
const CONVERT: ReadonlySet<string> = new Set(['scalars', 'procedures']);

/** Bound of the constants that are kept for definitions that are not stored yet. */
const MOST_KEPT = 10_000;

/**
 * How long answers, and the opening of a namespace, wait for users' procedures. An event that comes to a rule before the constants of its editor
 * are known is none for it, so that this is more than a busy machine takes.
 */
const WAITED_MS = 10_000;

/** Stand for what only a request knows: the caller, and the time. */
const UNKNOWN_NAME = '\u0000';
const UNKNOWN_TIME = -8_640_000_000_000_000;

/** A stored form that no pass has taken up yet. */
interface Kept {
  readonly stored: Value;
  /** `#changes` when its conversion began. */
  readonly changes: number;
}

export class ConstraintConstants {
  #stored = new Map<string, Value>();
  readonly #kept = boundedCache<string, Kept>(MOST_KEPT);
  /** Number of changes of what converts. */
  #changes = 0;
  #isStale = false;
  #isDue = false;
  /** The last pass, and the one that follows it. */
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  /** Some met a fault of the moment in the last pass: they mean what they did before until all are asked for again. */
  #isUnsure = false;
  /** The pass that makes up for one that met such a fault. */
  #repeat: Timer | null = null;
  #repeatAfterMs = REPEAT_AFTER_MS;
  #isClosed = false;

  /**
   * The condition with its constants in their stored form. Alternatives with one that is not known are left out.
   * @param where its substitutions are made
   * @returns null: nobody can tell what the condition means
   */
  within(where: ObjectValue, type: TypeDefinition): ObjectValue | null {
    if (!convertsConstants(type)) return where;
    const result: ObjectValue = {};
    for (const name of Object.keys(where)) {
      const known = this.#memberKnown(name, getOwn(where, name), type);
      if (known === undefined) return null;
      setOwn(result, name, known);
    }
    return result;
  }

  #memberKnown(name: string, value: Value, type: TypeDefinition): Value | undefined {
    const isJoin = (name === '$or' || name === '$and') && Array.isArray(value) && value.every(isObject);
    if (!isJoin) return this.#known({ [name]: value }, name, type);
    const terms = value.map((term) => this.within(term, type));
    const known = terms.filter((term) => term !== null);
    const suffices = name === '$and' ? known.length === terms.length : known.length > 0 || terms.length === 0;
    return suffices ? known : undefined;
  }

  #known(where: ObjectValue, name: string, type: TypeDefinition): Value | undefined {
    const open = withOpenConstants(where, type);
    for (const constant of open.constants) {
      const stored = this.#storedForm(keyOf(constant));
      if (stored === undefined) return undefined;
      constant.put(stored);
    }
    return getOwn(open.where as ObjectValue, name);
  }

  #storedForm(key: string): Value | undefined {
    const kept = this.#kept.get(key);
    return kept?.changes === this.#changes ? kept.stored : (this.#stored.get(key) ?? kept?.stored);
  }

  /** Converts constants of constraints that are about to be stored: what they stand for is known as soon as those are in force. */
  async convert(space: Namespace, constants: readonly Constant[]): Promise<Outcome[]> {
    const changes = this.#changes;
    const outcomes = await storedConstants(space, constants, withoutRights(space));
    for (const [index, constant] of constants.entries()) {
      const outcome = outcomes[index];
      if (outcome && 'value' in outcome) this.#kept.set(keyOf(constant), { stored: outcome.value, changes });
    }
    return outcomes;
  }

  /**
   * Converts the constants on types as they are about to be, except those that are known: they mean something as soon as the types are in
   * force. A constant that cannot be converted is not known.
   * @param ahead the namespace as it will be
   * @param isThere whether a procedure that converts is in force
   */
  async foresee(space: Namespace, ahead: Namespace, types: Iterable<TypeDefinition>, isThere: (procedure: string) => boolean = () => true) {
    const wanted = wantedOn(ahead, types);
    const isOpen = ([key, { scalar }]: readonly [string, Constant]): boolean =>
      this.#storedForm(key) === undefined && isThere(scalar[actionFor(scalar) ?? 'toInternal'] as string);
    const open = [...wanted].filter(isOpen).map(([, constant]) => constant);
    if (open.length > 0) await inTime(this.convert(space, open));
  }

  /** A definition has changed, and is in force in a moment. Until constants are converted anew, what they were before counts. */
  changed(space: Namespace, kind: string): void {
    if (CONVERT.has(kind)) {
      this.#isStale = true;
      this.#changes += 1;
    } else if (!GIVE.has(kind)) return;
    if (this.#isDue) return;
    this.#isDue = true; // an import changes thousands
    setImmediate(() => {
      this.#isDue = false;
      void this.refresh(space);
    });
  }

  /** As `refresh`, but whoever waits is held up for a bounded time: what is not known by then allows nothing until it is. */
  settle(space: Namespace): Promise<void> {
    return inTime(this.refresh(space));
  }

  /** Converts what is in force when it is called. Never rejects: what cannot be converted is not known. */
  refresh(space: Namespace): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      this.#running = this.#pass(space);
      return this.#running;
    });
    return this.#next;
  }

  async #pass(space: Namespace): Promise<void> {
    this.#isUnsure = false;
    let isFaulty = false;
    try {
      await this.#convert(space);
      isFaulty = this.#isUnsure;
    } catch (err) {
      space.log.error({ err, namespace: space.name }, 'the constants of constraints could not be converted');
      isFaulty = true;
    }
    if (isFaulty) this.#isStale = true; // that pass alone knew which are outdated
    this.#repeat?.cancel();
    this.#repeat = null;
    if (isFaulty && !this.#isClosed) this.#repeat = space.clock.at(space.clock.now() + this.#repeatAfterMs, () => void this.refresh(space));
    this.#repeatAfterMs = isFaulty ? Math.min(2 * this.#repeatAfterMs, MOST_REPEAT_AFTER_MS) : REPEAT_AFTER_MS;
  }

  /** Nothing is repeated any more. */
  close(): void {
    this.#isClosed = true;
    this.#repeat?.cancel();
  }

  async #convert(space: Namespace): Promise<void> {
    const isStale = this.#isStale;
    this.#isStale = false;
    const wanted = wantedOn(space, space.catalog.types.values());
    const { outdated, some } = this.#takeKept(wanted.keys());
    const asked = [...wanted].filter(([key]) => isStale || outdated.has(key) || !this.#stored.has(key));
    const constants = asked.map(([, constant]) => constant);
    const outcomes = await storedConstants(space, constants, withoutRights(space));
    const stored = new Map([...this.#stored].filter(([key]) => wanted.has(key)));
    for (const [index, [key]] of asked.entries()) {
      const outcome = outcomes[index];
      if (outcome && 'error' in outcome && (outcome.isLate || PASSING.has(outcome.error.status))) {
        this.#isUnsure = true;
        space.log.warn({ err: outcome.error, namespace: space.name }, 'a constant of a constraint could not be converted now');
        continue;
      }
      stored.delete(key);
      if (outcome && 'value' in outcome) stored.set(key, outcome.value);
      else space.log.warn({ err: outcome?.error, namespace: space.name }, 'a constant of a constraint is not converted: it allows nothing');
    }
    this.#stored = stored;
    if (some || asked.length > 0) space.states.get(COMPILED_RESTRICTIONS).forget();
  }

  /** Takes up what is kept for definitions that are in force now. @returns whether there is some, and the keys of what has to be converted anew */
  #takeKept(keys: Iterable<string>): { readonly some: boolean; readonly outdated: ReadonlySet<string> } {
    const outdated = new Set<string>();
    let some = false;
    for (const key of keys) {
      const kept = this.#kept.get(key);
      if (!kept) continue;
      this.#kept.delete(key);
      const isNewest = kept.changes === this.#changes;
      if (!isNewest) outdated.add(key);
      if (isNewest || !this.#stored.has(key)) this.#stored.set(key, kept.stored);
      some = true;
    }
    return { some, outdated };
  }
}

export const CONSTRAINT_CONSTANTS = new StateKey('constants of constraints', () => new ConstraintConstants());

/** Ends with the work, or when it takes too long for those who wait. */
async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, WAITED_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Procedures of users convert, for whoever is restricted: they see nothing that not everybody may. */
export const withoutRights = (space: Namespace): Actor => ({
  ...serviceActor(space),
  identity: { username: PUBLIC_EXECUTOR, namespace: space.name, profiles: [], lent: true, bound: true },
});

/** Whether a constant is what only a request knows. */
export const isSubstituted = (value: Value): boolean =>
  value === UNKNOWN_NAME || (value instanceof DateTime && value.ms === UNKNOWN_TIME) || (Array.isArray(value) && value.some(isSubstituted));

/** A condition with its constants, as it stands in a definition. @throws cascade.query.… */
export function openedConstraint({ name }: Pick<Namespace, 'name'>, where: Value, type: TypeDefinition) {
  const substituted = substitute(where, { username: UNKNOWN_NAME, namespace: name, now: UNKNOWN_TIME });
  requireModest(substituted);
  return withOpenConstants(substituted, type);
}

function* constantsOn(space: Namespace, type: TypeDefinition): Iterable<Constant> {
  for (const { constraints } of space.catalog.features.policies)
    for (const where of constraints?.(space, type) ?? [])
      try {
        yield* openedConstraint(space, where, type).constants;
      } catch (error) {
        if (!(error instanceof CascadeError)) throw error; // a constraint that is invalid allows nothing
      }
}

/** The constants on these types by their keys, but those that stand for what only a request knows. */
function wantedOn(space: Namespace, types: Iterable<TypeDefinition>): Map<string, Constant> {
  const wanted = new Map<string, Constant>();
  for (const type of types)
    if (convertsConstants(type))
      for (const constant of constantsOn(space, type)) if (!isSubstituted(constant.value)) wanted.set(keyOf(constant), constant);
  return wanted;
}

/** Without the procedure: where a scalar gets another one, what the constant was before counts until it is converted anew. */
const keyOf = ({ scalar, value }: Constant): string => JSON.stringify([scalar.name, encodeInner(value)]);
