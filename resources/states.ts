// The state that parts of the service keep for an open namespace, each under its own key.

/** A key for state of a namespace. @typeParam T the type of the state */
export class StateKey<T> {
  readonly name: string;
  /** Makes the state on first use; absent: it is set when the namespace opens. */
  readonly make: (() => T) | null;

  constructor(name: string, make: (() => T) | null = null) {
    this.name = name;
    this.make = make;
  }
}

export class FeatureStates {
  readonly #states = new Map<StateKey<unknown>, unknown>();

  set<T>(key: StateKey<T>, state: T): T {
    this.#states.set(key, state);
    return state;
  }

  /** @throws Error when the state was not set, and is not made on first use */
  get<T>(key: StateKey<T>): T {
    if (this.#states.has(key)) return this.#states.get(key) as T;
    if (!key.make) throw new Error(`the namespace has no state of ${key.name}`);
    return this.set(key, key.make());
  }
}
