// The messages of a run (language.md H5): entries of the collection `logs`, with ids made from the run and the number of the
// message, so that a second writing meets the first.

import { cutText } from '../../stdlib/values/index.ts';
import { hash } from 'node:crypto';
import { Long, ObjectId } from 'mongodb';
import { type Clock, systemClock } from '../../platform/clock/index.ts';
import type { LogEntry } from '../transactions/index.ts';

/** The invocation id of a run: the same over repetitions of it. */
export function invocationOf(run: string): string {
  const hex = hash('sha256', run);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Bound of a run's waiting messages; beyond it one message says that further ones were dropped. */
const MOST_WAITING = 10_000;
const MOST_WAITING_CHARACTERS = 8_000_000;
const LONGEST_TEXT = 32_768;

/** A run's messages that wait for the commit they belong to. */
export class Messages {
  readonly invocation: string;
  /** The first eight bytes of the ids, as hexadecimal; the number of the message is the rest. */
  readonly #prefix: string;
  readonly #resource: LogEntry['resource'];
  readonly #username: string;
  readonly #clock: Clock;
  #waiting: LogEntry[] = [];
  /** Number of messages that are stored. */
  #stored = 0;
  #next = 0;
  #characters = 0;
  #flooded = false;

  /** @param resource `/<kind>/<name>` */
  constructor(run: string, resource: string, username: string, clock: Clock = systemClock) {
    this.invocation = invocationOf(run);
    this.#prefix = hash('sha256', run).slice(-16);
    const [, kind = '', ...name] = resource.split('/');
    this.#resource = { resource: kind, resourceId: name.join('/') };
    this.#clock = clock;
    this.#username = username;
  }

  add(k: number, level: string, text: string): void {
    if (k < this.#stored || this.#flooded) return;
    if (this.#waiting.length < MOST_WAITING && this.#characters < MOST_WAITING_CHARACTERS) return this.#keep(k, level, text);
    this.#flooded = true;
    this.#keep(k, 'WARN', `Further messages of this run are not kept: more than ${MOST_WAITING} were waiting.`);
  }

  #keep(k: number, level: string, whole: string): void {
    const text = whole.length > LONGEST_TEXT ? `${cutText(whole, LONGEST_TEXT)}…` : whole;
    this.#next = Math.max(this.#next, k + 1);
    this.#characters += text.length;
    this.#waiting.push({
      _id: ObjectId.createFromHexString(this.#prefix + (k >>> 0).toString(16).padStart(8, '0')),
      invocationId: this.invocation,
      level,
      message: text,
      sequenceId: Long.fromNumber(k),
      timestamp: new Date(this.#clock.now()),
      resource: this.#resource,
      username: this.#username,
      ars_version: Long.fromNumber(1),
    });
  }

  /** Adds a message at the end. */
  append(level: string, text: string): void {
    this.#keep(this.#next, level, text);
  }

  /** The messages for the next commit; `stored` removes them. */
  get waiting(): readonly LogEntry[] {
    return this.#waiting;
  }

  stored(entries: readonly LogEntry[]): void {
    this.#stored += entries.length;
    this.#waiting = this.#waiting.slice(entries.length);
    this.#characters = 0;
  }

  /** The attempt starts again: messages that are not stored are dropped. */
  restart(): void {
    this.#waiting = [];
    this.#characters = 0;
    this.#flooded = false;
    this.#next = this.#stored;
  }
}
