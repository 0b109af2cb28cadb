// Deadlines of one length, which pass in the order in which they began: a single timer serves all of them.

import { LinkedList, type ListNode, unlinked } from '../../platform/structures/index.ts';

/** A deadline; to be ended when it is no longer needed. */
export interface Deadline extends ListNode {
  readonly at: number;
  readonly late: () => void;
}

export class Deadlines {
  readonly ms: number;
  /** Open deadlines in the order in which they began. */
  readonly #open = new LinkedList<Deadline>();
  #timer: NodeJS.Timeout | null = null;

  constructor(ms: number) {
    this.ms = ms;
  }

  /** @param late called once when the time is up, unless `end` came first */
  begin(late: () => void): Deadline {
    const deadline: Deadline = { at: performance.now() + this.ms, late, ...unlinked };
    this.#open.add(deadline);
    this.#timer ??= setTimeout(() => this.#check(), this.ms).unref(); // unref: a process that ends need not wait for it
    return deadline;
  }

  end(deadline: Deadline): void {
    this.#open.remove(deadline);
  }

  /** Reports passed deadlines. A callback may end other deadlines, or begin new ones. */
  #check(): void {
    const now = performance.now();
    for (let first = this.#open.first; first; first = this.#open.first) {
      const leftMs = first.at - now;
      if (leftMs > 0.5) {
        this.#timer = setTimeout(() => this.#check(), Math.ceil(leftMs)).unref();
        return;
      }
      this.#open.remove(first);
      first.late();
    }
    this.#timer = null;
  }
}
