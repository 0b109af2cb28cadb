// Who listens on which event path, in memory: handed each event after its commit, in the order of the commits
// (resources-and-api.md 8.4). A path that nobody listens on costs one look-up.

import { deepEquals } from '../../stdlib/operators/index.ts';
import { decodeInner, getOwn, isObject, MAX_DEPTH, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Notice } from './notice.ts';
import type { StoredEvent } from '../transactions/index.ts';
import { parseJson } from '../../model/values/index.ts';

export interface Subscriber {
  /** Members that the value of an event must have, as JSON reads them; null: every event is wanted. */
  readonly filter: ObjectValue | null;
  readonly deliver: (notice: Notice) => void;
  /** Absent: any event, for as long as it likes. */
  readonly sight?: Sight;
}

/** What a listener may do by the rights that it has when it is asked for. */
export interface Sight {
  /** Whether it may see the value of an event: asked for each event after its commit. @param by who caused the event */
  maySee(value: Value, by: string): boolean | Promise<boolean>;
  /** Whether it may go on listening. */
  mayListen(): boolean | Promise<boolean>;
}

/** Of a value that a program has raised, within what an event of several instances puts around it. */
export const DEEPEST_VALUE = MAX_DEPTH + 10;

/** An event's value as clients see it, and the path that tells the instance. */
export type Present = (path: string, value: Value) => { readonly path: string; readonly valueJson: string };

export class Subscribers {
  readonly #byPath = new Map<string, Set<Subscriber>>();
  /** Of subscribers whose rights are being read: the last event that waits. */
  readonly #asking = new Map<Subscriber, Promise<void>>();
  readonly #present: Present;
  readonly #onError: (error: unknown) => void;

  constructor(present: Present, onError: (error: unknown) => void) {
    this.#present = present;
    this.#onError = onError;
  }

  /** Paths that somebody listens on. */
  get size(): number {
    return this.#byPath.size;
  }

  has(path: string): boolean {
    return this.#byPath.has(path);
  }

  /** Active when it returns. Gives what ends it. */
  add(path: string, subscriber: Subscriber): () => void {
    const present = this.#byPath.get(path);
    if (present) present.add(subscriber);
    else this.#byPath.set(path, new Set([subscriber]));
    return () => this.#remove(path, subscriber);
  }

  /** Hands out committed events. Never throws: the commit has happened, and others wait for theirs. */
  deliver(events: readonly StoredEvent[]): void {
    if (this.#byPath.size === 0) return;
    for (const event of events) {
      const subscribers = this.#byPath.get(event.path);
      if (!subscribers) continue;
      try {
        this.#handOut(event, subscribers);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** A resource is deleted: whoever listens on its events is told, for the last time. */
  gone(resource: string, name: string): void {
    const own = resource === 'topics' ? `/topics${name}/publish` : `/${resource}/${name}/`;
    for (const [path, subscribers] of [...this.#byPath]) {
      if (resource === 'topics' ? path !== own : !path.startsWith(own)) continue;
      this.#byPath.delete(path);
      for (const subscriber of subscribers) this.#notify(subscriber, { kind: 'gone' });
    }
  }

  /** Rights have changed: whoever may not listen any more is told, for the last time. */
  async recheck(): Promise<void> {
    for (const [path, subscribers] of [...this.#byPath])
      for (const subscriber of [...subscribers])
        if (subscriber.sight && !(await subscriber.sight.mayListen()) && this.#byPath.get(path)?.has(subscriber)) {
          this.#remove(path, subscriber);
          this.#notify(subscriber, { kind: 'withdrawn' });
        }
  }

  /** The texts are made once, for all subscribers. */
  #handOut(event: StoredEvent, subscribers: ReadonlySet<Subscriber>): void {
    const value = decodeInner(event.value);
    const shown = this.#present(event.path, value);
    const notice: Notice = { kind: 'event', ...shown, createdAt: event.at.getTime() };
    let parsed: Value | undefined;
    for (const subscriber of [...subscribers]) {
      if (subscriber.filter) {
        parsed ??= parseJson(shown.valueJson, { maxDepth: DEEPEST_VALUE });
        if (!hasMembers(parsed, subscriber.filter)) continue;
      }
      this.#notifyIfVisible(subscriber, value, event.by, notice);
    }
  }

  /** Where rights have to be read first, what comes after waits for them: the order stays that of the commits. */
  #notifyIfVisible(subscriber: Subscriber, value: Value, by: string, notice: Notice): void {
    const { sight } = subscriber;
    if (!sight) return this.#notify(subscriber, notice);
    const before = this.#asking.get(subscriber);
    let answer: boolean | Promise<boolean>;
    try {
      answer = before ? before.then(() => sight.maySee(value, by)) : sight.maySee(value, by);
    } catch (error) {
      return this.#onError(error); // what is not known to be allowed is not shown
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
      this.#onError(error); // one listener's fault is not the others'
    }
  }

  #remove(path: string, subscriber: Subscriber): void {
    const subscribers = this.#byPath.get(path);
    if (subscribers?.delete(subscriber) && subscribers.size === 0) this.#byPath.delete(path);
  }
}

/** Equal members on the top level, whatever else the value has. */
export function hasMembers(value: Value, filter: ObjectValue): boolean {
  return (
    isObject(value) && Object.keys(filter).every((key) => Object.hasOwn(value, key) && deepEquals(getOwn(value, key), getOwn(filter, key)))
  );
}
