// How the sources of a namespace are (integrations.md 1.2, 1.8): their state, and counts since their creation. The counts are kept in memory and
// stored every ten seconds, beside the definitions: they are figures to look at, and nothing depends on them.
import type { Db } from 'mongodb';
import { DateTime, getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import { sourceCountsOf } from './namespace-state.ts';

export interface Counts {
  received: number;
  published: number;
  dropped: number;
  failed: number;
  lastMessageAt: number | null;
  /** When it came into the state in which it is, as far as this process knows. */
  since: number;
}

interface CountsDocument extends Counts {
  /** The source. */
  readonly _id: string;
}

export const SOURCE_COUNTS = 'sourceCounts';
const STORED_EVERY_MS = 10_000;
/** How often the same error of a source is told (integrations.md 1.8). */
const SAME_TOLD_EVERY_MS = 60_000;

export class SourceCounts {
  readonly #db: Db;
  readonly #counts = new Map<string, Counts>();
  readonly #changed = new Set<string>();
  /** The last error of each that was told, and how often it came again since. */
  readonly #told = new Map<string, { message: string; at: number; again: number }>();
  #storedAt = 0;

  private constructor(db: Db) {
    this.#db = db;
  }

  static async open(db: Db): Promise<SourceCounts> {
    const counts = new SourceCounts(db);
    for (const { _id, ...found } of await db.collection<CountsDocument>(SOURCE_COUNTS).find().toArray()) counts.#counts.set(_id, found);
    return counts;
  }

  of(source: string): Readonly<Counts> | undefined {
    return this.#counts.get(source);
  }

  /** It is there from now on, or something about it has changed. */
  began(source: string, now: number): void {
    this.#change(source, now).since = now;
  }

  add(source: string, what: 'received' | 'published' | 'dropped' | 'failed', now: number): void {
    const counts = this.#change(source, now);
    counts[what]++;
    if (what === 'received' || what === 'published') counts.lastMessageAt = now;
  }

  /** What the log says of an error now: null for one that it has just told of. */
  lineOf(source: string, message: string, now: number): string | null {
    const told = this.#told.get(source);
    if (told?.message === message && now - told.at < SAME_TOLD_EVERY_MS) {
      told.again++;
      return null;
    }
    this.#told.set(source, { message, at: now, again: 0 });
    return told?.message === message && told.again > 0 ? `${message} (${told.again} more of these since the last line)` : message;
  }

  forget(source: string): void {
    this.#told.delete(source);
    this.#counts.delete(source);
    this.#changed.add(source);
  }

  #change(source: string, now: number): Counts {
    const counts = this.#counts.get(source) ?? { received: 0, published: 0, dropped: 0, failed: 0, lastMessageAt: null, since: now };
    this.#counts.set(source, counts);
    this.#changed.add(source);
    return counts;
  }

  /** Stores what has changed; at most every ten seconds unless it is the last time. */
  async settle(now: number, last = false): Promise<void> {
    if (this.#changed.size === 0 || (!last && now - this.#storedAt < STORED_EVERY_MS)) return;
    this.#storedAt = now;
    const changed = [...this.#changed];
    this.#changed.clear();
    await this.#db.collection<CountsDocument>(SOURCE_COUNTS).bulkWrite(
      changed.map((source) => {
        const counts = this.#counts.get(source);
        return counts
          ? { replaceOne: { filter: { _id: source }, replacement: { ...counts }, upsert: true } }
          : { deleteOne: { filter: { _id: source } } };
      }),
      { ordered: false },
    );
  }
}

export interface State {
  readonly state: 'inactive' | 'mocked' | 'error';
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A member that may not be there. */
export const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);

export const isMocked = (source: ObjectValue): boolean => own(source, 'mockMode') === true;
export const isActive = (source: ObjectValue): boolean => own(source, 'active') !== false;

export function pipelineOf(source: ObjectValue): string[] {
  const rules = own(source, 'pipelineRules');
  return Array.isArray(rules) ? rules.map(String) : [];
}

/** Connections to the outside are not part of this version: an active source that is not mocked says so. */
export function stateOf(space: Pick<Namespace, 'definitions'>, source: ObjectValue): State {
  if (!isActive(source)) return { state: 'inactive', error: null };
  const missing = pipelineOf(source).find((rule) => !space.definitions.get('rules', rule));
  const name = String(own(source, 'name'));
  if (missing !== undefined) {
    const message = `Source ${name}: there is no rule ${missing} for its pipeline.`;
    return { state: 'error', error: { code: 'cascade.source.pipeline.unresolved', message } };
  }
  if (isMocked(source)) return { state: 'mocked', error: null };
  return {
    state: 'error',
    error: { code: 'cascade.source.connect.failed', message: `Source ${name} is not connected: ${noConnection(source)}.` },
  };
}

export const noConnection = (source: ObjectValue): string => `this version has no connections of the type ${String(own(source, 'type'))}`;

/** `_status` of a source. */
export function statusOfSource(space: Namespace, source: ObjectValue): ObjectValue {
  const name = String(own(source, 'name'));
  const { state, error } = stateOf(space, source);
  const counts = sourceCountsOf(space).of(name);
  const at = (ms: number | null | undefined): Value => (ms == null ? null : new DateTime(ms));
  return {
    name,
    type: own(source, 'type'),
    health: state === 'mocked' ? 'healthy' : state === 'inactive' ? 'inactive' : 'unhealthy',
    message: error?.message ?? null,
    active: isActive(source),
    state,
    since: at(counts?.since),
    error: error && { ...error },
    attempts: 0,
    nextAttemptAt: null,
    isUnavailable: false,
    mockMode: isMocked(source),
    consumers: [],
    received: counts?.received ?? 0,
    published: counts?.published ?? 0,
    dropped: counts?.dropped ?? 0,
    failed: counts?.failed ?? 0,
    lastMessageAt: at(counts?.lastMessageAt),
  };
}

/** The active sources of a namespace, and whether each is ready. */
export function sourcesUp(space: Pick<Namespace, 'definitions' | 'name'>): { namespace: string; source: string; isUp: boolean }[] {
  return space.definitions.list('sources').flatMap(([source, stored]) => {
    const { state } = stateOf(space, stored);
    return state === 'inactive' ? [] : [{ namespace: space.name, source, isUp: state === 'mocked' }];
  });
}
