// Definitions that are stored in one commit, with the other changes that belong to it. Each is checked against the state after the commit;
// none is in force before all are stored, and a failure leaves nothing behind.

import { encodeInner, getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { inSlices } from '../../platform/structures/index.ts';
import { raise } from '../../runtime/events/index.ts';
import { accompanied, admit, CONSTRAINT_CONSTANTS } from '../access/index.ts';
import {
  type Change,
  type ChangeAlong,
  TypesInForce,
  type Catalog,
  type Defined,
  type DefinitionResource,
  type Namespace,
  definitionWrite,
} from '../catalog/index.ts';
import { stampChanged, stampNew } from '../representation/index.ts';
import { following, type Named } from './follow.ts';
import { merged, visible, withoutVersion } from './operations.ts';

interface Planned {
  readonly kind: DefinitionResource;
  readonly defined: Defined;
  readonly stored: ObjectValue | null;
  readonly object: ObjectValue;
  readonly change: Change;
  /** See `foresee` of its kind. */
  readonly show: ((space: Namespace) => void) | undefined;
}

/** @throws authorization.denied */
type RequireRight = (operation: 'insert' | 'update') => void;

export class DefinitionBatch {
  /** The namespace as it will be. From the commit on it reads through to the real one, so definitions in force may keep it. */
  readonly space: Namespace;
  readonly #real: Namespace;
  readonly #actor: Actor;
  readonly #planned: Planned[] = [];
  /** By kind and name. */
  readonly #names = new Set<string>();
  #isInForce = false;
  readonly #announced: ReadonlySet<string>;

  /** @param announced the names of all types of the batch, which may refer to each other in circles; it must not be stored without one of them */
  constructor(real: Namespace, actor: Actor, announced: readonly string[] = []) {
    this.#real = real;
    this.#announced = new Set(announced);
    this.#actor = actor;
    const definitions = real.catalog.definitions.copy();
    const types = new TypesInForce();
    for (const [name, type] of real.catalog.types) types.set(name, type);
    const scalars = new Map(real.catalog.scalars);
    const catalog = Object.create(real.catalog, {
      definitions: { get: () => (this.#isInForce ? real.catalog.definitions : definitions) },
      types: { get: () => (this.#isInForce ? real.catalog.types : types) },
      scalars: { get: () => (this.#isInForce ? real.catalog.scalars : scalars) },
      announced: { get: () => (this.#isInForce ? undefined : this.#announced) },
    }) as Catalog;
    this.space = Object.create(real, { catalog: { value: catalog } }) as Namespace;
  }

  get size(): number {
    return this.#planned.length;
  }

  /**
   * Checks a definition; later ones may refer to it. An existing definition is changed, as by an UPSERT.
   * @param requireRight called with what it turns out to be: only the definition itself tells its name for certain
   * @returns its name
   * @throws errors of the definition, and of `requireRight`; resource.duplicate.key: it is planned already
   */
  async plan(kind: DefinitionResource, body: ObjectValue, requireRight: RequireRight = () => undefined): Promise<string> {
    const { space } = this;
    const actor = this.#actor;
    const given = Object.hasOwn(body, 'ruleText') ? null : getOwn(body, 'name');
    const named = typeof given === 'string' ? space.catalog.definitions.get(kind.name, given) : undefined;
    let stored = named ?? null;
    let defined = await kind.define(space, named ? mergedWith(kind, named, body) : body, stored, actor);
    const there = space.catalog.definitions.get(kind.name, defined.name);
    if (!named && there) {
      defined.abandon?.();
      stored = there;
      defined = await kind.define(space, mergedWith(kind, there, body), there, actor);
    }
    const { name } = defined;
    if (this.#names.has(`${kind.name}/${name}`)) throw apiError('cascade.resource.duplicate.key', kind.name, `name=${name}`);
    requireRight(stored ? 'update' : 'insert');
    this.#planned.push(await this.#foreseen(kind, defined, stored));
    this.#names.add(`${kind.name}/${name}`);
    return name;
  }

  /** Makes a definition visible to others of the batch. */
  async #foreseen(kind: DefinitionResource, defined: Defined, stored: ObjectValue | null): Promise<Planned> {
    const { space } = this;
    const actor = this.#actor;
    const object = stored ? stampChanged(defined.object, stored, actor) : stampNew(defined.object, actor);
    const change = { operation: stored ? 'update' : 'insert', resource: kind, before: stored, after: object, initiator: actor } as const;
    await admit(space, change);
    space.catalog.definitions.put(kind.name, defined.name, object);
    const show = kind.foresee?.(space, object);
    show?.(space);
    return { kind, defined, stored, object, change, show };
  }

  /** Plans a change that another definition brings about; one that is planned itself is planned anew, with this change. */
  async #planAlong({ kind, name, changes }: ChangeAlong): Promise<void> {
    const { space } = this;
    const there = space.catalog.definitions.get(kind.name, name);
    if (!there) return;
    const at = this.#planned.findIndex((one) => one.kind.name === kind.name && one.defined.name === name);
    const before = this.#planned[at];
    const defined = await kind.define(space, mergedWith(kind, there, changes), there, this.#actor);
    const planned = await this.#foreseen(kind, defined, before ? before.stored : there);
    if (!before) return void this.#planned.push(planned);
    before.defined.abandon?.();
    this.#planned[at] = planned;
  }

  /**
   * The definition that would result, as `plan` makes it; nothing is planned.
   * @param stored the one that would be changed; null: as if none existed
   * @throws errors of the definition
   */
  async preview(kind: DefinitionResource, body: ObjectValue, stored: ObjectValue | null): Promise<ObjectValue> {
    const defined = await kind.define(this.space, stored ? mergedWith(kind, stored, body) : body, stored, this.#actor);
    defined.abandon?.();
    return defined.object;
  }

  /**
   * Stores all definitions and puts them in force.
   * @param others stores further changes by an actor whose commits are parts of this one; it may already store to collections of planned
   *   types
   * @param answer the result of the request
   */
  async store(others: (by: Actor) => Promise<void>, answer: () => Value): Promise<void> {
    const parts: UnitOfWork[] = [];
    try {
      for (const along of this.#planned.flatMap(({ defined }) => defined.along ?? [])) await this.#planAlong(along);
      for (const { defined, object } of this.#planned) await defined.prepare?.(object);
      await this.#foresee();
      await others({ ...this.#actor, enqueue: undefined, commit: async (unit) => void parts.push(unit) });
      const units = [...(await inSlices(this.#real.name, this.#units())), ...parts];
      const made = this.#planned.flatMap(({ kind, object }) =>
        kind.name === 'types' ? [this.space.catalog.definitions.collectionOf(object)] : [],
      );
      const whole = {
        writes: units.flatMap(({ writes }) => writes),
        events: units.flatMap(({ events }) => events),
        makes: new Set(made),
      };
      const changed = this.#planned.map(({ kind, defined }): Named => [kind.name, defined.name]);
      await following(this.#real, changed, this.#actor.commit(whole, { ok: encodeInner(answer()) }));
    } catch (error) {
      this.abandon();
      throw error;
    }
    for (const { kind, defined, object } of this.#planned) this.#real.catalog.definitions.put(kind.name, defined.name, object);
    for (const { show } of this.#planned) show?.(this.#real);
    this.#isInForce = true;
    for (const { defined, object } of this.#planned) defined.apply(object);
    await Promise.all(this.#planned.flatMap(({ defined: { settle } }) => (settle ? [settle()] : [])));
  }

  /** Constants of constraints mean something from the commit on, where what converts them is there before. */
  async #foresee(): Promise<void> {
    const types = this.space.catalog.types.values();
    const isThere = (procedure: string): boolean => !this.#names.has(`procedures/${procedure}`);
    await this.#real.states.get(CONSTRAINT_CONSTANTS).foresee(this.#real, this.space, types, isThere);
  }

  /** Undoes the preparations, in place of `store`, or where that has failed before its commit. */
  abandon(): void {
    if (!this.#isInForce) for (const { defined } of this.#planned.splice(0)) defined.abandon?.();
  }

  *#units(): Generator<UnitOfWork> {
    for (const one of this.#planned) yield this.#unitOf(one);
  }

  #unitOf({ kind, defined, stored, object, change }: Planned): UnitOfWork {
    const events = raise(this.#real, `/types/system.${kind.name}/${change.operation}`, visible(kind, object), this.#actor);
    const isKept = kind.isTransient?.(object) !== true;
    const writes = isKept ? [definitionWrite(kind.name, defined.name, object, stored, defined.beside?.(object))] : [];
    return accompanied(this.#real, change, { writes, events });
  }
}

const mergedWith = (kind: DefinitionResource, stored: ObjectValue, body: ObjectValue): ObjectValue =>
  merged(kind, stored, withoutVersion(body));
