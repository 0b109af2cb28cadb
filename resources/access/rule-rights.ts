// The rights of rules' editors (resources-and-api.md 7.6): a rule takes an event only if its editor, with the rights of the moment, could
// subscribe to it, and a BEFORE rule also only where the editor may do what the rule takes part in. Asked for each rule that an event
// triggers, so that what is open to an editor as a whole costs two look-ups.

import { CascadeError } from '../../stdlib/errors.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { type EventPath, keepStoredForm, parseEventPath, storedFormOf } from '../../runtime/events/index.ts';
import type { Capability, Namespace } from '../catalog/index.ts';
import { stampNew } from '../representation/index.ts';
import { storedMembers } from '../scalars/index.ts';
import { StateKey } from '../states.ts';
import { SEES_ALL, resourceOfPath, sightOf } from './event-sight.ts';
import { restriction } from './gate.ts';
import { acting, ownCondition, requireRight } from './rights.ts';
import { satisfies } from './shown-instances.ts';

/** Definitions that grant rights, or limit who may use them. */
const GIVES_RIGHTS: ReadonlySet<string> = new Set(['profiles', 'groups', 'types', 'topics', 'sources']);

const CHANGES: ReadonlySet<string> = new Set(['insert', 'update', 'delete']);

export class RuleRights {
  readonly #space: () => Namespace;
  /** What an editor takes all events of, by its rights as they were read: with other rights it is another object. */
  #open = new WeakMap<Identity, Set<string>>();
  /** The editors' rights as they were last read, which count while they are read anew. */
  readonly #known = new Map<string, Identity>();

  constructor(space: () => Namespace) {
    this.#space = space;
  }

  /** A definition has changed. */
  changed(kind: string): void {
    if (GIVES_RIGHTS.has(kind)) this.#open = new WeakMap();
  }

  /** Reads the rights of somebody whose rule comes into force. */
  async read({ username, namespace }: Identity): Promise<void> {
    const space = this.#space();
    const found = Promise.resolve().then(() => acting(space, { username, namespace, profiles: [] })); // a refusal may come at once
    await found.then(
      (present) => void this.#known.set(username, present),
      (error: unknown) => {
        if (!(error instanceof CascadeError)) throw error;
        this.#known.delete(username);
      },
    );
  }

  /** Of those whose rules are in force when a namespace is opened. */
  async readAll(editors: readonly Identity[]): Promise<void> {
    const all = new Map(editors.map((editor) => [editor.username, editor]));
    await Promise.all([...all.values()].map((editor) => this.read(editor)));
  }

  /**
   * Whether a rule of this editor takes the event. One whose editor has no rights any more does: its run fails with the refusal, which the
   * editor's successor can find (7.6).
   * @param by who causes it
   */
  mayTake(editor: Identity, path: string, value: Value, by: string): boolean {
    return this.#takes(editor, path, value, by) ?? true;
  }

  /** Whether a service of this editor passes the event on. There is no run that could fail: without an editor it does not. */
  mayPassOn(editor: Identity, path: string, value: Value, by: string): boolean {
    return this.#takes(editor, path, value, by) ?? false;
  }

  #takes(editor: Identity, path: string, value: Value, by: string): boolean | null {
    return this.#allows(editor, path, (space, present) => {
      const at = placeOf(path);
      const sees = at ? sightOf(space, at, present) : SEES_ALL;
      return sees === SEES_ALL ? null : sees(value, by);
    });
  }

  /**
   * Whether a BEFORE rule of this editor takes part in the change of an instance.
   * @param by who makes the change: the creator of a new instance, which has no system properties yet
   */
  mayChange(editor: Identity, path: string, instance: ObjectValue, by: string): boolean {
    const allows = this.#allows(editor, `before ${path}`, (space, present) => {
      const [, type = '', operation = ''] = /^\/types\/([^/]+)\/(.+)$/.exec(path) ?? [];
      const resource = resourceOfPath(space, type);
      requireMayChange(space, path, present);
      if (resource.kind !== 'instances') return null;
      const rights = { identity: present, clock: space.clock };
      const needed: Capability[] = ['select', operation as Capability];
      const all = needed.flatMap((one) => [ownCondition(space, resource, one, rights), restriction(space, resource, one, rights)]);
      const conditions = all.filter((one) => one !== null);
      if (conditions.length === 0) return null;
      if (operation !== 'insert') return satisfies(resource.type, instance, conditions);
      const whole = stampNew(instance, { ...rights, identity: { ...present, username: by } });
      const stored = storedFormOf(instance);
      const members = stored && storedMembers(resource.type, stored);
      if (members) keepStoredForm(whole, members);
      return satisfies(resource.type, whole, conditions);
    });
    return allows ?? true; // the run fails with the refusal, as of `mayTake`
  }

  /**
   * @param what the events that are decided about; @param decide null: all of them, until rights change
   * @returns null: the editor has no rights any more
   */
  #allows(editor: Identity, what: string, decide: (space: Namespace, present: Identity) => boolean | null): boolean | null {
    if (editor.ofService) return true;
    const present = this.#present(editor);
    if (!present) return null;
    const open = this.#open.get(present);
    if (open?.has(what)) return true;
    try {
      const decided = decide(this.#space(), present);
      if (decided !== null) return decided;
    } catch (error) {
      if (error instanceof CascadeError) return false; // no right to any of it, or the resource is gone
      throw error;
    }
    if (open) open.add(what);
    else this.#open.set(present, new Set([what]));
    return true;
  }

  /** The editor's rights of the moment; null: it has none any more. */
  #present(editor: Identity): Identity | null {
    const { username } = editor;
    const known = this.#known.get(username);
    let found: ReturnType<typeof acting>;
    try {
      found = acting(this.#space(), editor);
    } catch (error) {
      if (!(error instanceof CascadeError)) throw error;
      this.#known.delete(username);
      return null;
    }
    if (!(found instanceof Promise)) {
      if (known !== found) this.#known.set(username, found);
      return found;
    }
    found.then(
      (identity) => void this.#known.set(username, identity),
      (error: unknown) => error instanceof CascadeError && this.#known.delete(username),
    );
    return known ?? null;
  }
}

export const RULE_RIGHTS = new StateKey<RuleRights>('rights of rules');

/** The place of an event; null: on such a path everybody may hear. */
function placeOf(path: string): EventPath | null {
  const [, type] = /^\/types\/([^/]+)\//.exec(path) ?? [];
  if (type !== undefined) return { path, resource: 'types', name: type }; // requests on a type, too
  const [, topic] = /^\/topics(\/.+)\/publish$/.exec(path) ?? [];
  if (topic !== undefined) return { path, resource: 'topics', name: topic };
  try {
    return parseEventPath(path);
  } catch (error) {
    if (error instanceof CascadeError) return null;
    throw error;
  }
}

/** @throws cascade.authorization.denied: no event of the path would be taken */
export function requireMayTake(space: Namespace, path: string, editor: Identity): void {
  const at = placeOf(path);
  if (!at) return;
  try {
    sightOf(space, at, editor);
  } catch (error) {
    if (error instanceof CascadeError && error.status === 403) throw error;
    if (!(error instanceof CascadeError)) throw error; // what is not there yet may come
  }
}

/** @throws cascade.authorization.denied, .resource.type.not.found */
export function requireMayChange(space: Namespace, path: string, editor: Identity): void {
  const [, type = '', operation = ''] = /^\/types\/([^/]+)\/(.+)$/.exec(path) ?? [];
  const resource = resourceOfPath(space, type);
  requireRight(space, resource, 'select', editor);
  if (CHANGES.has(operation)) requireRight(space, resource, operation, editor);
}
