// The shared objects of a namespace: what each kind does, atomically, since nothing here waits (builtins.md 10). A lambda's change takes
// two requests, begin and end, under a lock (state-store.ts).
import type { SharedKind, Value } from '../../stdlib/values/index.ts';
import type { StoredValue, SharedRef } from './stored-value.ts';
import { sharedLock } from './shared-lock.ts';
import { Entries, evictionOf, type StateEnvironment } from './shared-map.ts';
import { sharedValue } from './shared-value.ts';
import type { Walk } from './walks.ts';

export interface Behaviour {
  /** Characters that its content takes. */
  readonly size: number;
  /** The lock that a call must have: '' for the whole object, a key's text for an entry; null for a call that needs none. */
  lockOf(method: string, args: readonly StoredValue[]): string | null;
  /** One call; undefined when there is no such method. What goes through all of the content is a walk through it. @throws CascadeError */
  call(method: string, args: readonly StoredValue[]): StoredValue | Walk | undefined;
  /** How often all entries were removed at once. A lambda that was given one before that counts as called before it. */
  readonly clears: number;
  /** What a lambda is given, under the lock; null when there is no such entry. */
  read(key: string): StoredValue | null;
  /** What a lambda has made of it; null removes. */
  write(key: string, changed: StoredValue | null): void;
}

/** Creates the behaviour of a kind. `options`: the arguments of its constructor. */
const KINDS: Record<SharedKind, (options: readonly Value[], environment: StateEnvironment) => Behaviour> = {
  Map: (_options, environment) => new Entries(environment),
  Cache: (options, environment) => new Entries(environment, evictionOf(options)),
  Value: sharedValue,
  Lock: sharedLock,
};

export class SharedObject implements SharedRef {
  readonly id: number;
  readonly kind: SharedKind;
  readonly behaviour: Behaviour;

  constructor(id: number, kind: SharedKind, behaviour: Behaviour) {
    this.id = id;
    this.kind = kind;
    this.behaviour = behaviour;
  }
}

export const behaviourOf = (kind: SharedKind, options: readonly Value[], environment: StateEnvironment): Behaviour =>
  KINDS[kind](options, environment);
