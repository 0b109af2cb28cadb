// What is kept for one namespace while it is open, besides what all know of it: each finds its own by its key.

/** Finds what is kept for a namespace. @typeParam T what that is */
export class StateKey<T> {
  readonly name: string;
  /** Makes it when it is first asked for; absent: it is set when the namespace opens. */
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

  /** @throws Error when it was not set, and is not made at the first use */
  get<T>(key: StateKey<T>): T {
    if (this.#states.has(key)) return this.#states.get(key) as T;
    if (!key.make) throw new Error(`the namespace has no state of ${key.name}`);
    return this.set(key, key.make());
  }
}
