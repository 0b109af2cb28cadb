// The links of a connection by which it publishes, one for each target: a broker that ends one for its target's sake leaves the others alone.

/** Brokers bound the channels and sessions of a connection; targets may be as many as there are messages. */
const MOST_LINKS = 100;

export interface Link {
  /** Called when nothing is under way on it. */
  close(): void;
}

interface Entry<L> {
  readonly link: Promise<L>;
  users: number;
}

export class Links<L extends Link> {
  /** Those used last at the end. */
  readonly #entries = new Map<string, Entry<L>>();
  readonly #open: (target: string, gone: () => void) => Promise<L>;
  readonly #most: number;

  /** @param open opens the link to a target, which calls `gone` when it has ended: the next use opens a new one */
  constructor(open: (target: string, gone: () => void) => Promise<L>, most = MOST_LINKS) {
    this.#open = open;
    this.#most = most;
  }

  /** @throws errors of `open` and of the work */
  async use(target: string, work: (link: L) => Promise<void>): Promise<void> {
    const entry = this.#entryOf(target);
    entry.users++;
    this.#closeUnused();
    try {
      await work(await entry.link);
    } finally {
      entry.users--;
      this.#closeUnused();
    }
  }

  #entryOf(target: string): Entry<L> {
    const entry = this.#entries.get(target) ?? this.#opened(target);
    this.#entries.delete(target);
    this.#entries.set(target, entry);
    return entry;
  }

  #opened(target: string): Entry<L> {
    const gone = (): void => {
      if (this.#entries.get(target) === entry) this.#entries.delete(target);
    };
    const link = Promise.resolve().then(() => this.#open(target, gone)); // so that `gone` cannot be called before the entry is there
    link.catch(gone);
    const entry = { link, users: 0 };
    return entry;
  }

  /** More than the bound are open only while all of them are in use. */
  #closeUnused(): void {
    for (const [target, { link, users }] of this.#entries) {
      if (this.#entries.size <= this.#most) return;
      if (users > 0) continue;
      this.#entries.delete(target);
      link.then(
        (open) => open.close(),
        () => undefined, // its user has seen the error
      );
    }
  }
}
