// The polls of a namespace (integrations.md 2.8): so many under way at a time, and when each began is noted for who takes the namespace over.

/** Polls of a namespace under way; more wait for their turn, and skip the ticks that pass meanwhile. */
const MOST_AT_ONCE = 64;
/** A single note is written at once; those that come soon after it are written together. */
const GATHER_MS = 50;

export class Polls {
  readonly #write: (began: ReadonlyMap<string, number>) => Promise<void>;
  #running = 0;
  readonly #queue: (() => void)[] = [];
  #gathered = new Map<string, number>();
  /** Writes what has gathered, once the pause after the write before is over. */
  #next: Promise<void> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  /** @param write when the last poll of each source began */
  constructor(write: (began: ReadonlyMap<string, number>) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when it is stored that a poll of the source begins. */
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

  /** Runs a poll as soon as it is its turn. */
  async run<T>(poll: () => Promise<T>): Promise<T> {
    if (this.#running < MOST_AT_ONCE) this.#running++;
    else await new Promise<void>((resolve) => this.#queue.push(resolve)); // who ends gives its place on
    try {
      return await poll();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
