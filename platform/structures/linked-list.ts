// Things in the order in which they came, each of which can leave at any time. What has left is held by nothing and holds nothing. A Set would do
// but for the collector: each time its table is full of what has left, it makes a new one and leaves a way to it in the old. Once one old table
// has grown old itself, quick collections keep all tables that follow it, with what was in them, until the next full one: under load a third of
// all that was ever allocated.

export interface ListNode {
  before: this | null;
  after: this | null;
  isIn: boolean;
}

export const unlinked = { before: null, after: null, isIn: false } as const;

export class LinkedList<T extends ListNode> implements Iterable<T> {
  #first: T | null = null;
  #last: T | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | null {
    return this.#first;
  }

  /** @param link is in no chain */
  add(link: T): void {
    link.isIn = true;
    link.before = this.#last;
    if (this.#last) this.#last.after = link;
    else this.#first = link;
    this.#last = link;
    this.#size++;
  }

  /** Nothing, when it has left already. */
  remove(link: T): void {
    if (!link.isIn) return;
    const { before, after } = link;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    link.before = link.after = null;
    link.isIn = false;
    this.#size--;
  }

  /** What is given may leave, what follows it may not. */
  *[Symbol.iterator](): Iterator<T> {
    for (let link = this.#first; link; ) {
      const { after } = link;
      yield link;
      link = after;
    }
  }
}
