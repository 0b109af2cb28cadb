// Work that may be long, done in slices of some milliseconds: between two of them everything else of this process has its turn, and while there
// is other work, all that is long together gets a fixed share of the thread. Where there is none, nothing waits. While a namespace sends
// requests and has no long work itself, the rest of the thread is kept free for it even when it has nothing ready: one of its requests waits for
// the store or the sandbox some twenty times, and each time would come back to a thread that is busy with a slice or its garbage.

import { Fifo } from './fifo.ts';

/** Of one slice; a single part that takes longer is not cut. One is done in a turn of the event loop, so short work waits for one at most. */
export const SLICE_MS = 1;

/** Time of other work for each unit of time of slices, while there is other work: what takes long leaves the thread to what is quick. */
const OTHERS = 3;

/** A turn of the event loop in which everything else took no longer had no other work. */
const IDLE_MS = 0.2;

/** How long the thread is kept free for a namespace after its last request: longer than most requests take. */
const SENDS_MS = 200;

/** Works of one owner that take turns; its others wait for the end of one of these, as what a work has made so far takes memory. */
const MOST_AT_WORK = 4;

/** A long work that goes on in slices, for as long as it is not disposed of. Between them it waits for nothing else. */
interface LongWork extends Disposable {
  /** To be awaited before each slice, the first included. */
  next(): Promise<void>;
}

interface Turn {
  readonly begin: () => void;
}

interface OwnerTurns {
  atWork: number;
  /** The next slices of the works that take turns. */
  readonly ready: Fifo<Turn>;
  /** The first slices of those that do not yet. */
  readonly waiting: Fifo<Turn>;
}

/** Owners take turns, however many works each of them has, and so do an owner's works. */
export class SliceTurns {
  readonly #owners = new Map<string, OwnerTurns>();
  /** Those with a work that is ready; the first is next. */
  readonly #rotation = new Set<OwnerTurns>();
  #isPlanned = false;
  /** When everything else had its turn last. */
  #leftAt = 0;
  /** The last slice: whether this turn has one, when it began and ended, and the time that is left to others after it. */
  #hasBegun = false;
  #begunAt = 0;
  #endedAt = 0;
  #othersMs = 0;
  /** When each namespace sent its last request; the old ones are forgotten when it is looked through. */
  readonly #sentAt = new Map<string, number>();
  readonly #now: () => number;

  /** @param now milliseconds of a steady clock; a parameter for the tests */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A namespace has sent a request. */
  sent(namespace: string, now: number): void {
    this.#sentAt.set(namespace, now);
  }

  begin(owner: string): LongWork {
    let isAtWork = false;
    return {
      next: () =>
        new Promise((resolve) => {
          const turns = this.#turnsOf(owner);
          const turn: Turn = { begin: resolve };
          if (!isAtWork && turns.atWork >= MOST_AT_WORK) turns.waiting.push(turn);
          else {
            if (!isAtWork) turns.atWork++;
            this.#makeReady(turns, turn);
          }
          isAtWork = true; // at the latest when its turn comes: it takes over the place of one that has ended
        }),
      [Symbol.dispose]: () => {
        if (isAtWork) this.#end(owner);
        isAtWork = false;
      },
    };
  }

  #turnsOf(owner: string): OwnerTurns {
    let turns = this.#owners.get(owner);
    if (!turns) this.#owners.set(owner, (turns = { atWork: 0, ready: new Fifo(), waiting: new Fifo() }));
    return turns;
  }

  #end(owner: string): void {
    const turns = this.#turnsOf(owner);
    const next = turns.waiting.shift();
    if (next) this.#makeReady(turns, next);
    else if (--turns.atWork === 0) this.#owners.delete(owner);
  }

  #makeReady(turns: OwnerTurns, turn: Turn): void {
    turns.ready.push(turn);
    this.#rotation.add(turns);
    if (!this.#isPlanned) this.#plan();
  }

  #plan(): void {
    this.#isPlanned = true;
    const now = this.#now();
    const leftMs = this.#endedAt + this.#othersMs - now;
    if (leftMs > 0 && this.#isKeptFree(now)) setTimeout(this.#planTurn, leftMs);
    else this.#planTurn();
  }

  /** The second follows at once, when what the first has resolved is done: it knows how long the slice took, the collector's pauses included. */
  readonly #planTurn = (): void => {
    setImmediate(this.#resume);
    setImmediate(this.#leave);
  };

  /** Namespaces with long works are not waited for: they would wait for one another. */
  #isKeptFree(now: number): boolean {
    for (const [namespace, sentAt] of this.#sentAt) {
      if (now - sentAt > SENDS_MS) this.#sentAt.delete(namespace);
      else if (!this.#owners.has(namespace) && !this.#owners.has(resultsOf(namespace))) return true;
    }
    return false;
  }

  readonly #resume = (): void => {
    this.#begunAt = this.#now();
    const isIdle = this.#begunAt - this.#leftAt < IDLE_MS;
    this.#hasBegun = isIdle || this.#begunAt - this.#endedAt >= this.#othersMs;
    if (this.#hasBegun) this.#next()?.begin();
  };

  readonly #leave = (): void => {
    this.#leftAt = this.#now();
    if (this.#hasBegun) {
      this.#endedAt = this.#leftAt;
      this.#othersMs = (this.#endedAt - this.#begunAt) * OTHERS;
    }
    this.#isPlanned = false;
    if (this.#rotation.size > 0) this.#plan();
  };

  #next(): Turn | undefined {
    const [turns] = this.#rotation;
    if (!turns) return undefined;
    this.#rotation.delete(turns);
    const turn = turns.ready.shift();
    if (turns.ready.size > 0) this.#rotation.add(turns);
    return turn;
  }
}

/** One for the process, as the event loop is. */
const turns = new SliceTurns();

/** @param owner of the work: the name of a namespace, or who else is to have no more than its share */
export const longWork = (owner: string): LongWork => turns.begin(owner);

/** Told of each request of a namespace, as the thread is then kept free for it (see above). @param now of `performance` */
export const sendsRequest = (namespace: string, now: number): void => turns.sent(namespace, now);

/** The owner of a namespace's results, apart from its bodies, a few of which may take long. */
export const resultsOf = (namespace: string): string => `results of ${namespace}`;

/** To be awaited before a slice of a work that waits for other things, too, and is therefore no `LongWork`. */
export async function nextSlice(owner: string): Promise<void> {
  using work = longWork(owner);
  await work.next();
}

/** All that a generator yields, in its order. @param owner see `longWork` */
export async function inSlices<T>(owner: string, parts: Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  using work = longWork(owner);
  await work.next();
  let until = performance.now() + SLICE_MS;
  for (const part of parts) {
    all.push(part);
    if (performance.now() < until) continue;
    await work.next();
    until = performance.now() + SLICE_MS;
  }
  return all;
}

/** The result of a generator, which yields where it may give way. @param owner see `longWork` */
export async function finishInSlices<T>(owner: string, work: Generator<undefined, T>): Promise<T> {
  using turns = longWork(owner);
  return await finishWithin(turns, work);
}

/** The same as a part of a longer work: a work that waited for another one of its owner could wait for itself. */
export async function finishWithin<T>(turns: Pick<LongWork, 'next'>, work: Generator<undefined, T>): Promise<T> {
  for (;;) {
    await turns.next();
    const until = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < until);
  }
}
