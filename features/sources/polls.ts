// Schedules the polls of a namespace (integrations.md 2.8): bounds their concurrency, and stores when each began, for the next owner of the
// namespace.

/** Concurrent polls of a namespace; further ones queue, and skip the ticks that pass meanwhile. */
const MOST_AT_ONCE = 64;
/** A single note is written at once; notes within this time after a write share the next one. */
const GATHER_MS = 50;

export class Polls {
  readonly #write: (began: ReadonlyMap<string, number>) => Promise<void>;
  readonly #isSure: () => boolean;
  #running = 0;
  readonly #queue: (() => void)[] = [];
  #gathered = new Map<string, number>();
  /** The next write of notes; it waits for the pause after the previous write. */
  #next: Promise<void> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param write stores the time of the last poll, by source
   * @param isSure whether no other process can own the namespace by now
   */
  constructor(write: (began: ReadonlyMap<string, number>) => Promise<void>, isSure: () => boolean) {
    this.#write = write;
    this.#isSure = isSure;
  }

  /**
   * Runs a poll when one of the places is free, and stores before when it begins. A process that has stood still does not poll: the next owner
   * of the namespace does by then, and what this one would take from the remote side it could not store.
   * @param unwanted aborted when the source is closed: a poll that has not begun by then does not
   * @returns whether it polled
   */
  async poll(source: string, now: () => number, unwanted: AbortSignal, poll: () => Promise<void>): Promise<boolean> {
    const isWanted = (): boolean => !unwanted.aborted && this.#isSure();
    let hasPolled = false;
    await this.run(unwanted, async () => {
      if (!isWanted()) return;
      await this.note(source, now());
      if (!isWanted()) return;
      await poll();
      hasPolled = true;
    });
    return hasPolled;
  }

  /** Resolves when the beginning of the poll is stored. */
  note(source: string, at: number): Promise<void> {
    this.#gathered.set(source, at);
    this.#next ??= this.#last.then(() => {
      const began = this.#gathered;
      this.#gathered = new Map();
      this.#next = null;
      const written = this.#write(began);
      this.#last = written.catch(() => undefined).then(() => new Promise((resolve) => setTimeout(resolve, GATHER_MS).unref()));
      return written;
    });
    return this.#next;
  }

  /** Runs a poll as soon as one of the places is free, unless it is not wanted by then. */
  async run(unwanted: AbortSignal, poll: () => Promise<void>): Promise<void> {
    if (this.#running < MOST_AT_ONCE) this.#running++;
    else if (!(await this.#turn(unwanted))) return;
    try {
      await poll();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#running--;
    }
  }

  /** Resolves with true when a poll that ends has handed over its place, with false when it is not wanted any more. */
  #turn(unwanted: AbortSignal): Promise<boolean> {
    if (unwanted.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(take), 1);
        resolve(false);
      };
      const take = (): void => {
        unwanted.removeEventListener('abort', leave);
        resolve(true);
      };
      unwanted.addEventListener('abort', leave, { once: true });
      this.#queue.push(take);
    });
  }
}
