// Constants on scalars in the constraints of profiles and types, in their stored form (resources-and-api.md 3.3). Rights are decided at once, while the
// procedures that convert have to be waited for: they are called when a constraint comes into force, and again when what it depends on has changed.

import { DateTime, encodeInner, type Value } from '../../stdlib/values/index.ts';
import { requireModest, substitute } from '../../model/query/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import { PUBLIC_EXECUTOR, type TypeDefinition } from '../../model/types/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { actionFor, type Constant, convertsConstants, storedConstants, withOpenConstants } from '../scalars/index.ts';
import { StateKey } from '../states.ts';
import { COMPILED_RESTRICTIONS } from './compiled.ts';

/** Kinds whose changes decide which constants there are, and those that decide their stored form. */
const GIVE: ReadonlySet<string> = new Set(['profiles', 'types']);
const CONVERT: ReadonlySet<string> = new Set(['scalars', 'procedures']);

/** How long answers, and the opening of a namespace, wait for users' procedures. */
const WAITED_MS = 5_000;

/** Stand for what only a request knows: the caller, and the time. */
const UNKNOWN_NAME = '\u0000';
const UNKNOWN_TIME = -8_640_000_000_000_000;

export class ConstraintConstants {
  #stored = new Map<string, Value>();
  #isStale = false;
  #isDue = false;
  /** The last pass, and the one that follows it. */
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /**
   * The condition with its constants in their stored form.
   * @param where its substitutions are made
   * @returns null: one is not known, so nobody can tell what the condition means
   */
  within(where: Value, type: TypeDefinition): Value {
    if (!convertsConstants(type)) return where;
    const open = withOpenConstants(where, type);
    for (const constant of open.constants) {
      const stored = this.#stored.get(keyOf(constant));
      if (stored === undefined) return null;
      constant.put(stored);
    }
    return open.where;
  }

  /** A constant of a constraint that is about to be stored. */
  keep(constant: Constant, stored: Value): void {
    this.#stored.set(keyOf(constant), stored);
  }

  /** A definition has changed, and is in force in a moment. Until constants are converted anew, what they were before counts. */
  changed(space: Namespace, kind: string): void {
    if (CONVERT.has(kind)) this.#isStale = true;
    else if (!GIVE.has(kind)) return;
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
      this.#running = this.#convert(space).catch((err: unknown) =>
        space.log.error({ err, namespace: space.name }, 'the constants of constraints could not be converted'),
      );
      return this.#running;
    });
    return this.#next;
  }

  async #convert(space: Namespace): Promise<void> {
    const isStale = this.#isStale;
    this.#isStale = false;
    const wanted = new Map<string, Constant>();
    for (const type of space.catalog.types.values())
      if (convertsConstants(type))
        for (const constant of constantsOn(space, type)) if (!isSubstituted(constant.value)) wanted.set(keyOf(constant), constant);
    const asked = [...wanted].filter(([key]) => isStale || !this.#stored.has(key));
    const constants = asked.map(([, constant]) => constant);
    const outcomes = await storedConstants(space, constants, withoutRights(space));
    const stored = new Map([...this.#stored].filter(([key]) => wanted.has(key)));
    for (const [index, [key]] of asked.entries()) {
      stored.delete(key);
      const outcome = outcomes[index];
      if (outcome && 'value' in outcome) stored.set(key, outcome.value);
      else space.log.warn({ err: outcome?.error, namespace: space.name }, 'a constant of a constraint is not converted: it allows nothing');
    }
    this.#stored = stored;
    if (asked.length > 0) space.states.get(COMPILED_RESTRICTIONS).forget();
  }
}

export const CONSTRAINT_CONSTANTS = new StateKey('constants of constraints', () => new ConstraintConstants());

/** Ends with the work, or when it takes too long for those who wait. */
async function inTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, WAITED_MS);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
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

const keyOf = ({ scalar, value }: Constant): string =>
  JSON.stringify([scalar.name, scalar[actionFor(scalar) ?? 'toInternal'], encodeInner(value)]);
