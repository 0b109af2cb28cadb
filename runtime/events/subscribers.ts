// The subscribers of event paths, in memory: each gets its events after the commit, in the order of the commits (resources-and-api.md 8.4).
// A path without subscribers costs one look-up.

import { deepEquals } from '../../stdlib/operators/index.ts';
import { getOwn, isObject, MAX_DEPTH, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Notice } from './notice.ts';
import { valueOf } from './stored-forms.ts';
import type { StoredEvent } from '../transactions/index.ts';
import { parseJson } from '../../model/values/index.ts';

export interface Subscriber {
  /** Members that the value of an event must have, as JSON reads them; null: no filter. */
  readonly filter: ObjectValue | null;
  readonly deliver: (notice: Notice) => void;
  /** Checks the subscriber's rights; absent: it may see every event. */
  readonly sight?: Sight;
}

/** The rights of a subscriber at the moment of the call. */
export interface Sight {
  /** Whether it may see the value of an event: asked for each event after its commit. @param by who caused the event */
  maySee(value: Value, by: string): boolean | Promise<boolean>;
  /** Whether it may go on listening. */
  mayListen(): boolean | Promise<boolean>;
}

/** Bound of the nesting of a value that a program has raised, with the event of several instances around it. */
export const DEEPEST_VALUE = MAX_DEPTH + 10;

/** The text that clients see of an event's value, and the path with the instance's id. */
export interface Shown {
  readonly path: string;
  readonly valueJson: string;
}

/** Makes it. */
export interface Present {
  (path: string, value: Value): Shown;
  /** The same of a long event, in slices; null for a short one. @param isFiltered whether somebody wants it `parsed` */
  long(event: StoredEvent, isFiltered: () => boolean): Promise<Made> | null;
}

/** An event as it is handed out. */
export interface Made {
  readonly value: Value;
  readonly shown: Shown;
  /** The shown value as JSON reads it, for filters. */
  readonly parsed?: Value;
}

export class Subscribers {
  readonly #byPath = new Map<string, Set<Subscriber>>();
  /** Subscribers whose rights are being read, with the promise of the last event that waits for them. */
  readonly #asking = new Map<Subscriber, Promise<void>>();
  /** While a long event is being made: all behind it wait, also of other paths, since a client sees what an instance became in that order. */
  #late: Promise<void> | null = null;
  readonly #present: Present;
  readonly #onError: (error: unknown) => void;

  constructor(present: Present, onError: (error: unknown) => void) {
    this.#present = present;
    this.#onError = onError;
  }

  /** Number of paths with subscribers. */
  get size(): number {
    return this.#byPath.size;
  }

  has(path: string): boolean {
    return this.#byPath.has(path);
  }

  /** Adds a subscriber, active at once. Gives the function that removes it. */
  add(path: string, subscriber: Subscriber): () => void {
    const present = this.#byPath.get(path);
    if (present) present.add(subscriber);
    else this.#byPath.set(path, new Set([subscriber]));
    return () => this.#remove(path, subscriber);
  }

  /** Delivers committed events. Never throws: the commit has happened, and others wait for their events. */
  deliver(events: readonly StoredEvent[]): void {
    if (this.#byPath.size === 0) return;
    for (const event of events) {
      const subscribers = this.#byPath.get(event.path);
      if (!subscribers) continue;
      try {
        const made = this.#present.long(event, () => [...subscribers].some(({ filter }) => filter));
        if (this.#late || made) this.#handOutLater(event, [...subscribers], made);
        else this.#handOut(event, [...subscribers], this.#made(event));
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** Those who subscribe meanwhile do not get it, nor do those who have left. */
  #handOutLater(event: StoredEvent, subscribers: readonly Subscriber[], made: Promise<Made> | null): void {
    const before = this.#late;
    const handedOut = (async (): Promise<void> => {
      const [, long] = await Promise.allSettled([before, made]);
      if (long.status === 'rejected') throw long.reason;
      const present = this.#byPath.get(event.path);
      const left = subscribers.filter((one) => present?.has(one));
      if (left.length > 0) this.#handOut(event, left, long.value ?? this.#made(event));
    })().catch(this.#onError);
    this.#late = handedOut;
    void handedOut.then(() => {
      if (this.#late === handedOut) this.#late = null;
    });
  }

  /** A resource is deleted: the subscribers of its events get a last notice. */
  gone(resource: string, name: string): void {
    const own = resource === 'topics' ? `/topics${name}/publish` : `/${resource}/${name}/`;
    for (const [path, subscribers] of [...this.#byPath]) {
      if (resource === 'topics' ? path !== own : !path.startsWith(own)) continue;
      this.#byPath.delete(path);
      for (const subscriber of subscribers) this.#notify(subscriber, { kind: 'gone' });
    }
  }

  /** Rights have changed: subscribers without the right to listen get a last notice. */
  async recheck(): Promise<void> {
    for (const [path, subscribers] of [...this.#byPath])
      for (const subscriber of [...subscribers])
        if (subscriber.sight && !(await subscriber.sight.mayListen()) && this.#byPath.get(path)?.has(subscriber)) {
          this.#remove(path, subscriber);
          this.#notify(subscriber, { kind: 'withdrawn' });
        }
  }

  #made(event: StoredEvent): Made {
    const value = valueOf(event);
    return { value, shown: this.#present(event.path, value) };
  }

  /** Delivers an event; its texts are made once, for all subscribers. */
  #handOut(event: StoredEvent, subscribers: readonly Subscriber[], { value, shown, parsed: known }: Made): void {
    const notice: Notice = { kind: 'event', ...shown, createdAt: event.at.getTime() };
    let parsed = known;
    for (const subscriber of subscribers) {
      if (subscriber.filter) {
        parsed ??= parseJson(shown.valueJson, { maxDepth: DEEPEST_VALUE });
        if (!hasMembers(parsed, subscriber.filter)) continue;
      }
      this.#notifyIfVisible(subscriber, value, event.by, notice);
    }
  }

  /** Where rights have to be read first, later events of the subscriber wait, so that the order of the commits is kept. */
  #notifyIfVisible(subscriber: Subscriber, value: Value, by: string, notice: Notice): void {
    const { sight } = subscriber;
    if (!sight) return this.#notify(subscriber, notice);
    const before = this.#asking.get(subscriber);
    let answer: boolean | Promise<boolean>;
    try {
      answer = before ? before.then(() => sight.maySee(value, by)) : sight.maySee(value, by);
    } catch (error) {
      return this.#onError(error); // without a known right nothing is shown
    }
    if (typeof answer === 'boolean') {
      if (answer) this.#notify(subscriber, notice);
      return;
    }
    const asked = answer.then((isAllowed) => void (isAllowed && this.#notify(subscriber, notice)), this.#onError);
    this.#asking.set(subscriber, asked);
    void asked.then(() => this.#asking.get(subscriber) === asked && this.#asking.delete(subscriber));
  }

  #notify({ deliver }: Subscriber, notice: Notice): void {
    try {
      deliver(notice);
    } catch (error) {
      this.#onError(error); // a failing subscriber must not affect the others
    }
  }

  #remove(path: string, subscriber: Subscriber): void {
    const subscribers = this.#byPath.get(path);
    if (subscribers?.delete(subscriber) && subscribers.size === 0) this.#byPath.delete(path);
  }
}

/** Whether the top-level members of the filter are equal to the value's. */
export function hasMembers(value: Value, filter: ObjectValue): boolean {
  return (
    isObject(value) && Object.keys(filter).every((key) => Object.hasOwn(value, key) && deepEquals(getOwn(value, key), getOwn(filter, key)))
  );
}
