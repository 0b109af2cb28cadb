// Concurrent.Map and Concurrent.Cache: entries that several runs may change (builtins.md 10). A Cache evicts entries: the least recently
// used one when it is full, and expired ones.
import { deepEquals } from '../../stdlib/operators/index.ts';
import { isInteger, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkName } from '../../model/types/index.ts';
import type { Clock, Timer } from '../../platform/clock/index.ts';
import { DueHeap } from '../timers/index.ts';
import { type StoredValue, NOTHING, valueOf } from './stored-value.ts';
import type { Behaviour } from './shared-objects.ts';
import { containing, listing, type Walk } from './walks.ts';

/** Characters that an entry counts besides its own. */
const ENTRY = 64;
const MOST_ENTRIES = 10_000_000;

interface Entry {
  value: StoredValue;
  /** Milliseconds since the epoch. */
  writtenAt: number;
  usedAt: number;
}

/** When entries are evicted. All are whole numbers; -1: never. */
export interface Eviction {
  readonly maximumSize: number;
  readonly expireAfterAccessMs: number;
  readonly expireAfterWriteMs: number;
}
export const NO_EVICTION: Eviction = { maximumSize: -1, expireAfterAccessMs: -1, expireAfterWriteMs: -1 };

export interface StateEnvironment {
  /** Whose the long works are: the name of the namespace. */
  readonly owner: string;
  readonly clock: Clock;
  /** Publishes an evicted entry on a topic. */
  evicted(topic: string, key: string, value: StoredValue): void;
}

type Method = (this: Entries, args: readonly StoredValue[]) => StoredValue | Walk;

export class Entries implements Behaviour {
  readonly #eviction: Eviction;
  readonly #environment: StateEnvironment;
  readonly #expires: boolean;
  /** In the order of use where that matters, else in that of insertion. */
  readonly #entries = new Map<string, Entry>();
  #size = 0;
  #clears = 0;
  /** When each entry expires at the earliest: a use or a write, which puts that off, is found out when the time has come. */
  #ends = new DueHeap();
  #topic: string | null = null;
  #timer: Timer | null = null;
  #watchedFor = 0;

  constructor(environment: StateEnvironment, eviction: Eviction = NO_EVICTION) {
    this.#environment = environment;
    this.#eviction = eviction;
    this.#expires = eviction.expireAfterAccessMs >= 0 || eviction.expireAfterWriteMs >= 0;
  }

  get size(): number {
    return this.#size;
  }

  get clears(): number {
    return this.#clears;
  }

  lockOf(method: string, [key]: readonly StoredValue[]): string | null {
    return LOCKED.has(method) && key ? keyOf(key) : null;
  }

  call(method: string, args: readonly StoredValue[]): StoredValue | Walk | undefined {
    if (!Object.hasOwn(METHODS, method)) return undefined;
    this.#expire();
    const result = (METHODS[method] as Method).call(this, args);
    this.#watch();
    return result;
  }

  read(key: string): StoredValue | null {
    this.#expire();
    return this.find(key);
  }

  write(key: string, changed: StoredValue | null): void {
    if (changed === null) this.remove(key);
    else this.set(key, changed);
    this.#watch();
  }

  // -------------------------------------------------------------- for the methods

  get count(): number {
    return this.#entries.size;
  }

  /** Reads the value, which counts as a use. */
  find(key: string): StoredValue | null {
    const entry = this.#entries.get(key);
    if (!entry) return null;
    this.#use(key, entry);
    return entry.value;
  }

  set(key: string, value: StoredValue): void {
    const now = this.#environment.clock.now();
    const entry = this.#entries.get(key);
    if (entry) {
      this.#size += value.json.length - entry.value.json.length;
      entry.value = value;
      entry.writtenAt = now;
      return this.#use(key, entry);
    }
    const { maximumSize } = this.#eviction;
    if (maximumSize === 0) return this.#reportEviction(key, value);
    if (this.count >= MOST_ENTRIES) throw apiError('cascade.quota.exceeded', 'serviceState', MOST_ENTRIES);
    const added = { value, writtenAt: now, usedAt: now };
    this.#entries.set(key, added);
    if (this.#expires) this.#ends.set(key, this.#endOf(added));
    this.#size += ENTRY + key.length + value.json.length;
    if (maximumSize < 0 || this.count <= maximumSize) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#evict(oldest);
  }

  remove(key: string): StoredValue | null {
    const entry = this.#entries.get(key);
    if (!entry) return null;
    this.#entries.delete(key);
    this.#ends.remove(key);
    this.#size -= ENTRY + key.length + entry.value.json.length;
    return entry.value;
  }

  clear(): void {
    this.#entries.clear();
    this.#ends = new DueHeap();
    this.#size = 0;
    this.#clears++;
  }

  /** The entries as they are now. */
  all(): { keys: string[]; values: StoredValue[] } {
    return { keys: [...this.#entries.keys()], values: Array.from(this.#entries.values(), ({ value }) => value) };
  }

  notifyOnEviction(topic: string | null): void {
    this.#topic = topic;
  }

  // -------------------------------------------------------------- eviction

  #use(key: string, entry: Entry): void {
    if (this.#eviction.maximumSize < 0 && !this.#expires) return;
    entry.usedAt = this.#environment.clock.now();
    if (this.#eviction.maximumSize < 0) return;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  /** When the entry expires; infinity: never. */
  #endOf({ writtenAt, usedAt }: Entry): number {
    const { expireAfterAccessMs, expireAfterWriteMs } = this.#eviction;
    const byUse = expireAfterAccessMs < 0 ? Number.POSITIVE_INFINITY : usedAt + expireAfterAccessMs;
    const byAge = expireAfterWriteMs < 0 ? Number.POSITIVE_INFINITY : writtenAt + expireAfterWriteMs;
    return Math.min(byUse, byAge);
  }

  #expire(): void {
    if (!this.#expires) return;
    const now = this.#environment.clock.now();
    for (const { name: key } of this.#ends.takeDue(now)) {
      const entry = this.#entries.get(key);
      if (!entry) continue;
      const end = this.#endOf(entry);
      if (end <= now) this.#evict(key);
      else this.#ends.set(key, end);
    }
  }

  /** Evicts entries on time, for the topic that is notified, not at the next use of the Cache. */
  #watch(): void {
    const next = this.#topic === null ? null : this.#ends.nextMs();
    if (next === null || (this.#timer && this.#watchedFor <= next)) return;
    this.#timer?.cancel();
    this.#watchedFor = next;
    this.#timer = this.#environment.clock.at(next, () => {
      this.#timer = null;
      this.#expire();
      this.#watch();
    });
  }

  #evict(key: string): void {
    const value = this.remove(key);
    if (value) this.#reportEviction(key, value);
  }

  #reportEviction(key: string, value: StoredValue): void {
    if (this.#topic !== null) this.#environment.evicted(this.#topic, key, value);
  }
}

/** Methods that wait for a lambda which works on the same entry. */
const LOCKED: ReadonlySet<string> = new Set(['put', 'putIfAbsent', 'remove']);

const METHODS: Readonly<Record<string, Method>> = {
  size() {
    return held(String(this.count));
  },
  isEmpty() {
    return held(String(this.count === 0));
  },
  containsKey([key = NOTHING]) {
    return held(String(this.find(keyOf(key)) !== null));
  },
  containsValue([wanted = NOTHING]) {
    return containing(this.all(), wanted);
  },
  get([key = NOTHING]) {
    return this.find(keyOf(key)) ?? NOTHING;
  },
  getOrDefault([key = NOTHING, instead = NOTHING]) {
    return this.find(keyOf(key)) ?? instead;
  },
  put([key = NOTHING, value = NOTHING]) {
    const before = this.find(keyOf(key));
    this.set(keyOf(key), value);
    return before ?? NOTHING;
  },
  putIfAbsent([key = NOTHING, value = NOTHING]) {
    const before = this.find(keyOf(key));
    if (before === null) this.set(keyOf(key), value);
    return before ?? NOTHING;
  },
  remove([key = NOTHING, only]) {
    if (only === undefined) return this.remove(keyOf(key)) ?? NOTHING;
    const before = this.find(keyOf(key));
    const equal = before !== null && (before.json === only.json || deepEquals(valueOf(before), valueOf(only)));
    if (equal) this.remove(keyOf(key));
    return held(String(equal));
  },
  keySet() {
    return listing(this.all(), (key) => held(textJson(key)));
  },
  values() {
    return listing(this.all(), (_, value) => value);
  },
  entrySet() {
    return listing(this.all(), (key, { json, refs }) => ({ json: `{"key":${textJson(key)},"value":${json}}`, refs }));
  },
  clear() {
    this.clear();
    return NOTHING;
  },
  notifyOnEviction([topic = NOTHING]) {
    const name = valueOf(topic);
    if (typeof name === 'string') checkName('topic', name);
    this.notifyOnEviction(typeof name === 'string' ? name : null);
    return NOTHING;
  },
};

const held = (json: string): StoredValue => ({ json, refs: [] });

/** As inner JSON: a text that looks like an escape is escaped. */
const textJson = (text: string): string => JSON.stringify(text.startsWith('\u0001') ? `\u0001s${text}` : text);

/** Keys come as texts (stdlib/isolate/shared-objects.ts). */
const keyOf = (key: StoredValue): string => String(valueOf(key));

/** The arguments of Concurrent.Cache. */
export function evictionOf(options: readonly Value[]): Eviction {
  const [maximumSize, expireAfterAccessMs, expireAfterWriteMs] = [0, 1, 2].map((i) => {
    const option = options[i] ?? -1;
    return isInteger(option) ? Number(option) : -1;
  }) as [number, number, number];
  return { maximumSize, expireAfterAccessMs, expireAfterWriteMs };
}
