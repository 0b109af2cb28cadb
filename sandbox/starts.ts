// The beginnings of runs for events, as they are told to an isolate: many in one item, in which each takes as little room as can be.
import { encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../stdlib/values/index.ts';
import type { RunEvent } from './types.ts';

/** What one takes besides its event, in characters. */
const BARE_LENGTH = 64;

/** Runs that begin at one moment, with one measure of fuel. */
export class Starts {
  readonly at: number;
  readonly fuel: number;
  readonly #list: Value[] = [];
  /** Events that are sent as a whole. */
  readonly #events: string[] = [];
  /** Of the run that was added last; null when it took members alone. */
  #last: RunEvent | null = null;

  constructor(at: number, fuel: number) {
    this.at = at;
    this.fuel = fuel;
  }

  /**
   * @param members names of those members of the event's value that the program reads, when it reads nothing else
   * @returns how long its text will be, about
   */
  add(id: number, frame: number, seed: string, event: RunEvent, members: readonly string[] | null): number {
    if (members !== null) {
      this.#list.push(id, frame, seed);
      this.#last = null;
      return BARE_LENGTH + this.#addMembers(event, members);
    }
    const last = this.#last;
    if (last !== null && last.key === event.key && last.binds === event.binds) {
      this.#list.push(id, ~frame, seed);
      return BARE_LENGTH;
    }
    this.#list.push(id, frame, seed);
    this.#events.push(event.json);
    this.#last = event;
    return BARE_LENGTH + event.json.length;
  }

  #addMembers(event: RunEvent, members: readonly string[]): number {
    let length = 0;
    for (const name of members) {
      const value = getOwn(event.value as ObjectValue, name);
      this.#list.push(value);
      if (typeof value === 'string') length += value.length;
      else if (typeof value === 'object' && value !== null) length += lengthOf(event);
    }
    return length;
  }

  get text(): string {
    return `["runs",${this.at},${this.fuel},${encodeInner(this.#list)},[${this.#events.join(',')}]]`;
  }
}

/** The members that a program is sent of an event; null when it is sent all of it. */
export const membersFor = (reads: readonly string[] | null | undefined, event: RunEvent): readonly string[] | null =>
  reads && isObject(event.value) ? reads : null;

/** About how long the event is as text, which need not be made for that. */
export const lengthOf = (event: RunEvent): number => event.length ?? event.json.length;
