// The history of a durable run: its committed effects and the reads before them, from which a replay is answered (integrations.md 12.2). A
// request is answered only if it is the same one: its digest is kept with the answer, and so are the versions that the answer showed to the
// program, so that a replay holds its updates to them (language.md U7). Pure bookkeeping: durable/ asks, and stores new steps.

import { createHash } from 'node:crypto';
import type { Answer, Read, Step } from '../transactions/index.ts';

/** Bound of one read, and of all reads between two effects, in characters; a replay makes larger or later reads again. */
const LONGEST = 64 * 1024;
const MOST = 1_000_000;
/** Bound of the reads before the last effect that are kept in memory; after a crash the journal has all of them. */
const MOST_KEPT = 256 * 1024;
/** Bound of the answers from outside the store, in characters: nothing but memory has them until the run ends. */
export const MOST_FROM_OUTSIDE = 64 * 1024 * 1024;
/** Characters that an answer counts besides its texts. */
const OVERHEAD = 100;
/** Characters of a digest: 72 bits. */
const DIGEST = 12;

/** An instance, `<collection>/<id>`, or the mark of a key at a version; 0n: it was looked for and was not there. */
export type Seen = readonly (readonly [instance: string, version: bigint])[];

export interface Known {
  readonly answer: Answer;
  readonly at: Date;
  readonly seen: Seen;
  /** The answer shows an earlier version of this instance: the program must get the present one. */
  readonly stale: string | null;
}

/** What is known of a request that has been answered. */
type Answered = Omit<Read, 'site' | 'nth'>;
interface Entry extends Answered {
  /** Rises with the requests of a run. */
  readonly order: number;
}

interface Effect extends Entry {
  readonly nth: number;
  stale: string | null;
  isUsed: boolean;
}

/** Digest of a request: equal for the same kind and payload. */
export const digestOf = (kind: string, payloadJson: string): string =>
  createHash('sha1').update(kind).update(' ').update(payloadJson).digest('base64url').slice(0, DIGEST);

/** The cursor of a walk over many pages is known to this process only: a replay opens it again. */
export const isRepeatable = (kind: string, answer: Answer): boolean =>
  kind !== 'next' && kind !== 'close' && (kind !== 'open' || ('ok' in answer && answer.ok.endsWith('"done":true}')));

export class RunHistory {
  /** Effects by site; null: nothing is committed yet, as for most runs. */
  #effects: Map<string, SiteEffects> | null = null;
  /** Reads before the last committed effect, by `site.nth`, in order. */
  #reads: Map<string, Entry> | null = null;
  #keptCharacters = 0;
  #charactersFromOutside = 0;
  #order = 0;
  /** Reads since the last effect: stored with the next one. */
  #recent: Read[] = [];
  #recentCharacters = 0;

  /** @param steps recorded by an earlier process */
  constructor(steps: readonly Step[]) {
    for (const step of steps) this.#take(step);
  }

  /** Whether nothing is committed. */
  get isEmpty(): boolean {
    return this.#effects === null;
  }

  /**
   * The recorded answer to this request; null when it is a new one. An effect answers an equal request, or, where there is none, the
   * request at the same place, whose payload may depend on what has changed since.
   */
  answerTo(site: string, nth: number, digest: () => string): Known | null {
    const effects = this.#effects?.get(site);
    const read = this.#reads?.get(`${site}.${nth}`);
    if (!read && !effects?.hasOpen) return null;
    const request = digest();
    const entry = read && (read.request === undefined || read.request === request) ? read : effects?.take(nth, request);
    if (!entry) return null;
    const { answer, at } = entry;
    const seen = seenIn(entry.seen);
    const stale = 'stale' in entry ? (entry as Effect).stale : null;
    if (stale === null || isInstance(answer, stale)) return { answer, at, seen, stale };
    // A number, say: it stays as it was, and shows the program nothing that its updates would have to meet.
    return { answer, at, seen: seen.filter(([one]) => one !== stale), stale: null };
  }

  /** Adds a read, unless it is too large. */
  add(read: Read): void {
    const length = lengthOf(read);
    if (length > LONGEST || this.#recentCharacters + length > MOST) return;
    this.#recentCharacters += length;
    this.#recent.push(read);
  }

  /** Reads since the last effect: they are stored with the next one. */
  get recent(): readonly Read[] {
    return this.#recent;
  }

  /** Adds a stored step, with the reads before it. */
  committed(step: Step): void {
    this.#take(step);
    this.#recent = [];
    this.#recentCharacters = 0;
    for (const [key, read] of this.#reads ?? []) {
      if (this.#keptCharacters <= MOST_KEPT) break;
      this.#reads?.delete(key);
      this.#keptCharacters -= lengthOf(read);
    }
    this.#effects?.get(step.site)?.use(step.nth);
  }

  /**
   * Keeps an answer from outside the store that a restart in this process must not ask for again.
   * @returns false: too much is kept so, and the run must end
   */
  keep(site: string, nth: number, entry: Answered): boolean {
    this.#siteEffects(site).put(nth, { ...entry, order: this.#order++ });
    this.#siteEffects(site).use(nth);
    this.#charactersFromOutside += lengthOf(entry);
    return this.#charactersFromOutside <= MOST_FROM_OUTSIDE;
  }

  /**
   * Prepares a restart: effects stay; reads since the last effect are made again, and so is every read that showed the contended instance
   * since the run's own last change of it. Where there is none since, the program goes by what it read before that change: then that read
   * is made again, unless effects of one place came after it, which a program with other values might take for each other.
   * @param contended null: no race was lost, and reads before the last effect hold
   * @param missed the mark of a key that the instance has: a read that looked for it in vain is made again, too; null: none
   */
  restart(contended: string | null, missed: string | null = null): void {
    this.#recent = [];
    this.#recentCharacters = 0;
    for (const effects of this.#effects?.values() ?? []) effects.open();
    if (contended !== null) this.#forget(contended, missed);
  }

  #take(step: Step): void {
    for (const read of step.reads) {
      (this.#reads ??= new Map<string, Entry>()).set(`${read.site}.${read.nth}`, { ...read, order: this.#order++ });
      this.#keptCharacters += lengthOf(read);
    }
    const { site, nth, request, answer, at, seen } = step;
    this.#siteEffects(site).put(nth, { request, answer, at, seen, order: this.#order++ });
  }

  #siteEffects(site: string): SiteEffects {
    const present = (this.#effects ??= new Map<string, SiteEffects>()).get(site);
    if (present) return present;
    const made = new SiteEffects();
    this.#effects.set(site, made);
    return made;
  }

  #forget(instance: string, missed: string | null): void {
    const shows = ({ seen }: Entry): boolean => seenIn(seen).some(([one]) => one === instance || one === missed);
    const bySite = [...(this.#effects?.values() ?? [])].map((effects) => [...effects.all()]);
    const own = bySite.flat().filter(shows);
    const lastOwn = newest(own);
    const lastRead = newest([...(this.#reads?.values() ?? [])].filter(shows));
    const isLoop = bySite.some((effects) => effects.filter(({ order }) => order > lastRead).length > 1);
    const goesByRead = lastRead >= 0 && lastRead < lastOwn && !isLoop;
    const from = goesByRead ? lastRead : lastOwn;
    for (const effect of own) if (effect.order >= from && seenIn(effect.seen).some(([one]) => one === instance)) effect.stale = instance;
    for (const [key, read] of this.#reads ?? []) if (read.order >= from && shows(read)) this.#reads?.delete(key);
  }
}

/** The effects of one site of a program, which may be in a loop. */
class SiteEffects {
  readonly #byNth = new Map<number, Effect>();
  /** Effects that have answered no request of this attempt yet, by request; null: to be built. */
  #byRequest: Map<string, Effect[]> | null = null;
  #open = 0;

  get hasOpen(): boolean {
    return this.#open > 0;
  }

  all(): IterableIterator<Effect> {
    return this.#byNth.values();
  }

  put(nth: number, entry: Entry): void {
    if (this.#byNth.get(nth)?.isUsed !== false) this.#open++;
    this.#byNth.set(nth, { ...entry, nth, stale: null, isUsed: false });
    this.#byRequest = null;
  }

  use(nth: number): void {
    const effect = this.#byNth.get(nth);
    if (effect && !effect.isUsed) this.#use(effect);
  }

  /** Makes all effects available again. */
  open(): void {
    for (const effect of this.#byNth.values()) effect.isUsed = false;
    this.#open = this.#byNth.size;
    this.#byRequest = null;
  }

  /** Takes the effect of an equal request, else the one at this place; each only once. */
  take(nth: number, request: string): Effect | null {
    if (this.#open === 0) return null;
    const same = this.#byNth.get(nth);
    if (same && !same.isUsed && same.request === request) return this.#use(same);
    const equal = this.#requests()
      .get(request)
      ?.find(({ isUsed }) => !isUsed);
    if (equal) return this.#use(equal);
    return same && !same.isUsed ? this.#use(same) : null;
  }

  #use(effect: Effect): Effect {
    effect.isUsed = true;
    this.#open--;
    return effect;
  }

  #requests(): Map<string, Effect[]> {
    if (this.#byRequest) return this.#byRequest;
    this.#byRequest = new Map();
    for (const effect of this.#byNth.values()) {
      if (effect.request === undefined) continue; // recorded by an earlier version
      const equal = this.#byRequest.get(effect.request);
      if (equal) equal.push(effect);
      else this.#byRequest.set(effect.request, [effect]);
    }
    return this.#byRequest;
  }
}

/** Whether the answer is the instance, `<collection>/<id>`. */
const isInstance = (answer: Answer, instance: string): boolean =>
  'ok' in answer && answer.ok.startsWith('{') && answer.ok.includes(`"_id":"${instance.slice(instance.indexOf('/') + 1)}"`);

/** The highest order; -1: there is none. */
const newest = (entries: readonly Entry[]): number => entries.reduce((latest, { order }) => Math.max(latest, order), -1);

const lengthOf = ({ answer, seen }: Answered): number =>
  ('ok' in answer ? answer.ok.length : 'list' in answer ? answer.list.length : answer.error.message.length) +
  (seen?.length ?? 0) +
  OVERHEAD;

/** One text, a line an instance: `<version> <instance>`; undefined: none. */
export const seenText = (seen: Seen): string | undefined =>
  seen.length === 0 ? undefined : seen.map(([instance, version]) => `${version} ${instance}`).join('\n');

export function seenIn(text: string | undefined): Seen {
  if (!text) return NOTHING;
  return text.split('\n').map((line) => {
    const space = line.indexOf(' ');
    return [line.slice(space + 1), BigInt(line.slice(0, space))] as const;
  });
}

const NOTHING: Seen = [];
