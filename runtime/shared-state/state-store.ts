// The state store of a namespace: the state of its services, and the objects that several runs share. It is in the host, so that all lanes
// see one state and the end of a sandbox process loses nothing (mechanisms.md b). Each request is one synchronous step, but for waiting for
// a lock, and for reading all of what was there at the step.
import { langError } from '../../stdlib/errors.ts';
import type { StatePayload } from '../../stdlib/isolate/index.ts';
import { encodeShared, type ObjectValue, type SharedKind, type Value } from '../../stdlib/values/index.ts';
import type { Answer } from '../transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { Cells, type StateProperties } from './cells.ts';
import { handleOf, storedValue, type StoredValue, NOTHING, type SharedRef } from './stored-value.ts';
import { chainOf, Locks, type LockUser } from './locks.ts';
import type { StateEnvironment } from './shared-map.ts';
import { behaviourOf, SharedObject } from './shared-objects.ts';
import { finishInSlices } from '../../platform/structures/index.ts';
import { isWalk, type Walk } from './walks.ts';

/** Bound of the state of one namespace, in characters. */
const MOST_CHARACTERS = 256 * 1024 * 1024;
/** Bound of one service's partitions. */
const MOST_PARTITIONS = 1_000_000;

/** The run that asks, with the way to keep an answer for a restart in this process. */
export interface StateUser extends LockUser {
  readonly run: string;
  /** The run that waits for this one. */
  readonly within?: StateUser | undefined;
  /** Keeps the answer to a change, which must not be made again when the run restarts. */
  keep(answer: Answer): void;
}

/** The declared state of a service; null: it has none of that kind. `version` changes with the types behind it. */
export interface ServiceState {
  readonly version: string;
  readonly global: StateProperties | null;
  readonly partitioned: StateProperties | null;
}

interface ServiceCells {
  readonly version: string;
  readonly global: Cells | null;
  readonly partitions: Map<string, Cells>;
  readonly declared: ServiceState;
}

/** A lambda that works on an entry. */
interface Begun {
  readonly shared: SharedObject;
  readonly key: string;
  readonly lock: string;
  readonly user: StateUser;
  /** Of the object when the lambda was given the entry. */
  clears: number;
  /** Keeps the answer to `begin`, once `end` is done, too. */
  keep(): void;
}

export class StateStore {
  readonly #declared: (service: string) => ServiceState | null;
  readonly #environment: StateEnvironment;
  readonly #services = new Map<string, ServiceCells>();
  readonly #locks: Locks;
  /** By run: the objects that it has handles of. */
  readonly #known = new Map<string, Map<number, SharedObject>>();
  readonly #begun = new Map<string, Map<number, Begun>>();
  readonly #accounts: FinalizationRegistry<{ size: number }>;
  readonly #account = new WeakMap<SharedObject, { size: number }>();
  #size = 0;
  #ids = 0;
  #tokens = 0;

  /**
   * @param declared the state types of a service as they are now
   * @param onWait called before a run waits for a lock
   */
  constructor(declared: (service: string) => ServiceState | null, environment: StateEnvironment, onWait?: (run: string) => void) {
    this.#locks = new Locks(onWait);
    this.#declared = declared;
    this.#environment = environment;
    this.#accounts = new FinalizationRegistry((account) => (this.#size -= account.size));
  }

  /** Whether a run has entered the service's state since this process began. */
  isInitialized(service: string): boolean {
    return this.#services.has(service);
  }

  /** One request of a run (stdlib/isolate/protocol.ts, StatePayload). @throws CascadeError */
  async perform(payload: ObjectValue, user: StateUser): Promise<Answer> {
    const request = payload as unknown as StatePayload;
    switch (request.op) {
      case 'enter':
        return this.#enter(request.service, request.partition, user);
      case 'entered':
        return this.#entered(request.service, request.partition, request.failed, user);
      case 'get': {
        const { version, value } = this.#cells(request.service, request.partition).get(request.name);
        if (version === request.version) return { ok: `{"version":${version}}` };
        return { ok: `{"version":${version},"value":${this.#shown(value, user)}}` };
      }
      case 'set': {
        const cells = this.#cells(request.service, request.partition);
        const before = cells.size;
        const version = cells.set(request.name, this.#received(request.value as Value, user));
        this.#grow(cells.size - before);
        return kept(user, { ok: String(version) });
      }
      case 'partitions':
        return { ok: JSON.stringify([...(this.#service(request.service)?.partitions.keys() ?? [])]) };
      case 'create':
        return kept(user, { ok: this.#shown(handleOf(this.make(request.kind, request.options as Value[])), user) });
      case 'call':
        return this.#call(request, user);
      case 'begin':
        return this.#begin(request, user);
      case 'end':
        return this.#end(request, user);
    }
  }

  /** Creates an object; its handles keep it alive. */
  make(kind: SharedKind, options: readonly Value[] = []): SharedObject {
    const shared = new SharedObject(++this.#ids, kind, behaviourOf(kind, options, this.#environment));
    const account = { size: 0 };
    this.#account.set(shared, account);
    this.#accounts.register(shared, account);
    return shared;
  }

  /** Whether a run has a lock. */
  holdsLocks(run: string): boolean {
    return this.#locks.holds(run);
  }

  /** Whether a run, or one that waits for it, has a lock. */
  isUnderLock(user: StateUser): boolean {
    return this.#locks.isUnderLock(user);
  }

  /** The run has ended or restarts: its locks are freed and its begun changes dropped. */
  release(run: string): void {
    this.#known.delete(run);
    this.#begun.delete(run);
    this.#locks.freeAll(run);
  }

  /** Whether a service's state is there, and how many partitions it has. */
  status(service: string): { initialized: boolean; partitions: number } {
    const entry = this.#services.get(service);
    return { initialized: entry?.global?.initialized ?? false, partitions: entry?.partitions.size ?? 0 };
  }

  // -------------------------------------------------------------- state variables

  /** Creates missing state; the run that creates it runs the initializing procedure, the others wait. */
  async #enter(service: string, partition: string | null, user: StateUser): Promise<Answer> {
    const lock = initialising(service, partition);
    const cells = this.#cells(service, partition);
    // What the initializing procedure has others do works on the state as far as it is made.
    if (cells.initialized || this.#locks.isHeldAround(lock, user)) return { ok: 'false' };
    await this.#locks.take(lock, user);
    if (!this.#cells(service, partition).initialized) return { ok: 'true' };
    this.#locks.free(lock, user.run);
    return { ok: 'false' };
  }

  #entered(service: string, partition: string | null, failed: boolean, user: StateUser): Answer {
    if (failed) this.#forget(service, partition);
    else this.#cells(service, partition).initialized = true;
    this.#locks.free(initialising(service, partition), user.run);
    return kept(user, { ok: 'null' });
  }

  #forget(service: string, partition: string | null): void {
    const entry = this.#services.get(service);
    if (!entry) return;
    const gone = partition === null ? entry.global : entry.partitions.get(partition);
    this.#size -= gone?.size ?? 0;
    if (partition !== null) {
      entry.partitions.delete(partition);
      return;
    }
    const global = entry.declared.global && new Cells(service, entry.declared.global);
    this.#services.set(service, { ...entry, global });
    this.#size += global?.size ?? 0; // not by #grow: the initialisation has failed already, and tells of its own error
  }

  #cells(service: string, partition: string | null): Cells {
    const entry = this.#service(service);
    if (partition === null) return entry?.global ?? undeclared(service);
    let cells = entry?.partitions.get(partition);
    if (cells) return cells;
    if (!entry?.declared.partitioned) return undeclared(service);
    if (entry.partitions.size >= MOST_PARTITIONS) throw apiError('cascade.quota.exceeded', 'servicePartitions', MOST_PARTITIONS);
    entry.partitions.set(partition, (cells = new Cells(service, entry.declared.partitioned)));
    this.#grow(cells.size);
    return cells;
  }

  /** A service's state is created anew when its state types change. */
  #service(service: string): ServiceCells | null {
    const declared = this.#declared(service);
    const entry = this.#services.get(service);
    if (entry && entry.version === declared?.version) return entry;
    if (entry) this.#size -= sizeOf(entry);
    this.#services.delete(service);
    if (!declared) return null;
    const global = declared.global && new Cells(service, declared.global);
    const made = { version: declared.version, declared, global, partitions: new Map<string, Cells>() };
    this.#services.set(service, made);
    this.#grow(global?.size ?? 0);
    return made;
  }

  // -------------------------------------------------------------- shared objects

  async #call({ object, method, args }: StatePayload & { op: 'call' }, user: StateUser): Promise<Answer> {
    const shared = this.#object(object as Value, user);
    const given = (args as Value[]).map((value) => this.#received(value, user));
    const key = shared.behaviour.lockOf(method, given);
    const lock = key === null ? null : lockOn(shared, key);
    if (lock !== null) await this.#locks.take(lock, user);
    try {
      const { clears } = shared.behaviour;
      const result = this.#counted(shared, () => shared.behaviour.call(method, given));
      if (shared.behaviour.clears > clears) this.#clearedWithin(shared, clears, user);
      if (result === undefined) throw langError('cascade.builtin.method.unknown', method, shared.kind);
      const known = this.#known.get(user.run);
      const value = isWalk(result) ? await this.#walked(result) : result;
      if (this.#known.get(user.run) !== known) return { ok: 'null' }; // the run has ended or restarts: it gets no handles any more
      return kept(user, { ok: this.#shown(value, user) });
    } finally {
      if (lock !== null) this.#locks.free(lock, user.run);
    }
  }

  /** A short walk is over at once. */
  #walked(walk: Walk): StoredValue | Promise<StoredValue> {
    const { done, value } = walk.next();
    return done ? value : finishInSlices(this.#environment.owner, walk);
  }

  /** A lambda that clears the object itself has done so before it gives its entry. */
  #clearedWithin(shared: SharedObject, clears: number, user: StateUser): void {
    for (const { run } of chainOf(user)) {
      for (const begun of this.#begun.get(run)?.values() ?? []) if (begun.shared === shared && begun.clears === clears) begun.clears++;
    }
  }

  /** Acquires the lock and returns what the lambda gets: `{token, present, value}`. */
  async #begin({ object, key }: StatePayload & { op: 'begin' }, user: StateUser): Promise<Answer> {
    const shared = this.#object(object as Value, user);
    const lock = lockOn(shared, key);
    await this.#locks.take(lock, user);
    const value = shared.behaviour.read(key);
    const token = ++this.#tokens;
    const answer: Answer = { ok: `{"token":${token},"present":${value !== null},"value":${this.#shown(value ?? NOTHING, user)}}` };
    const begun = this.#begun.get(user.run) ?? new Map<number, Begun>();
    this.#begun.set(
      user.run,
      begun.set(token, { shared, key, lock, user, clears: shared.behaviour.clears, keep: () => user.keep(answer) }),
    );
    return answer;
  }

  /** Applies the lambda's result: `change` is 'set', 'remove', or 'none' (nothing changed, or the lambda failed). */
  #end({ token, change, value }: StatePayload & { op: 'end' }, user: StateUser): Answer {
    const begun = this.#begun.get(user.run)?.get(token);
    if (!begun) return { ok: 'null' }; // the run has restarted meanwhile and holds nothing any more
    this.#begun.get(user.run)?.delete(token);
    const { shared, key, lock } = begun;
    try {
      if (change !== 'none' && begun.clears === shared.behaviour.clears)
        this.#counted(shared, () => shared.behaviour.write(key, change === 'set' ? this.#received(value as Value, user) : null));
    } finally {
      this.#locks.free(lock, user.run);
    }
    begun.keep();
    return kept(user, { ok: 'null' });
  }

  /** The object behind a handle. A handle of an earlier process gets an empty object: state ends with the process. */
  #object(handle: Value, user: StateUser): SharedObject {
    const { refs } = this.#received(handle, user);
    const [shared] = refs;
    return shared instanceof SharedObject ? shared : undeclared('Concurrent');
  }

  #received(value: Value, user: StateUser): StoredValue {
    return storedValue(encodeShared(value), (kind, id) => this.#find(kind, id, user));
  }

  #find(kind: SharedKind, id: number, user: StateUser): SharedRef {
    const known = this.#known.get(user.run) ?? new Map<number, SharedObject>();
    let shared = known.get(id);
    if (!shared || shared.kind !== kind) this.#known.set(user.run, known.set(id, (shared = this.make(kind))));
    return shared;
  }

  /** The text of a value for a run, which gets handles of the objects in it. */
  #shown(value: StoredValue, user: StateUser): string {
    if (value.refs.length > 0) {
      const known = this.#known.get(user.run) ?? new Map<number, SharedObject>();
      this.#known.set(user.run, known);
      for (const ref of value.refs) if (ref instanceof SharedObject) known.set(ref.id, ref);
    }
    return value.json;
  }

  #counted<T>(shared: SharedObject, change: () => T): T {
    const account = this.#account.get(shared);
    const result = change();
    const size = shared.behaviour.size;
    const before = account?.size ?? 0;
    if (account) account.size = size;
    this.#grow(size - before);
    return result;
  }

  /** @throws CascadeError when the state of the namespace has become too large; the change that made it so stays */
  #grow(by: number): void {
    this.#size += by;
    if (by > 0 && this.#size > MOST_CHARACTERS) throw apiError('cascade.quota.exceeded', 'serviceState', MOST_CHARACTERS);
  }
}

function kept(user: StateUser, answer: Answer): Answer {
  user.keep(answer);
  return answer;
}

const initialising = (service: string, partition: string | null): string => `${service}${partition === null ? '' : `#${partition}`}`;
const lockOn = (shared: SharedObject, key: string): string => `${shared.id}/${key}`;

function sizeOf({ global, partitions }: ServiceCells): number {
  let size = global?.size ?? 0;
  for (const cells of partitions.values()) size += cells.size;
  return size;
}

/** The service's state was removed while a program used it. */
function undeclared(service: string): never {
  throw langError('cascade.service.state.type', service, 'state', 'declared');
}
