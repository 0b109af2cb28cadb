// Shares a process fairly among namespaces: while several send requests, each has a bounded number in flight, and its others queue. So a
// turn of the event loop, a commit and a batch of the sandbox stay small, whatever one namespace sends. A namespace that sends alone is not
// limited.

import { LinkedList, type ListNode, unlinked, Fifo, type MaybePromise, PerTurn, sendsRequest } from '../../platform/structures/index.ts';
import { QueueFull } from '../transactions/index.ts';

/** Requests in flight a namespace: enough that a commit is worth its price (half as many cost half of the throughput). */
const MOST_UNDER_WAY = 32;
/** Queued requests of a namespace that begin in one turn of the event loop. */
const MOST_IN_A_TURN = 32;
/** How long namespaces count as concurrent after the last change from one to another. */
const TOGETHER_MS = 1_000;
/** A request that takes longer gives its permit back: it waits for something else, and those behind it need not wait with it. */
const COUNTED_MS = 100;
/** Queued requests a namespace. */
const MOST_WAITING = 20_000;

/** The permit of one request in flight. */
export interface Permit extends ListNode {
  begunAt: number;
  begin: ((permit: Permit) => void) | null;
}

class Share {
  readonly underWay = new LinkedList<Permit>();
  readonly waiting = new Fifo<Permit>();
  /** Of those that were queued. */
  readonly inTurn: PerTurn;

  constructor(beginNext: (share: Share) => void) {
    this.inTurn = new PerTurn(MOST_IN_A_TURN, () => beginNext(this));
  }
}

export class FairScheduler {
  readonly #shares = new Map<string, Share>();
  #lastAsked: Share | null = null;
  /** The last time that another namespace than the one before sent a request. */
  #changedAt = Number.NEGATIVE_INFINITY;
  #waiting = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Number of queued requests. */
  get waiting(): number {
    return this.#waiting;
  }

  /** @returns a permit, to be given to `leave` when the request is answered @throws {QueueFull} */
  enter(namespace: string): MaybePromise<Permit> {
    const share = this.#of(namespace);
    const now = performance.now();
    if (share !== this.#lastAsked) {
      if (this.#lastAsked) this.#changedAt = now;
      this.#lastAsked = share;
    }
    sendsRequest(namespace, now);
    const permit: Permit = { begunAt: now, begin: null, ...unlinked };
    if (share.waiting.size === 0 && this.#hasRoom(share, now)) {
      share.underWay.add(permit);
      return permit;
    }
    if (share.waiting.size >= MOST_WAITING) throw new QueueFull('waitingRequests', MOST_WAITING);
    share.waiting.push(permit);
    this.#waiting++;
    this.#timer ??= setTimeout(() => this.#look(), COUNTED_MS).unref();
    return new Promise((resolve) => {
      permit.begin = resolve;
    });
  }

  leave(namespace: string, permit: Permit): void {
    const share = this.#of(namespace);
    share.underWay.remove(permit);
    if (share.waiting.size > 0) this.#beginNext(share, performance.now());
  }

  readonly #goOn = (share: Share): void => {
    if (share.waiting.size > 0) this.#beginNext(share, performance.now());
  };

  #of(namespace: string): Share {
    let share = this.#shares.get(namespace);
    if (!share) this.#shares.set(namespace, (share = new Share(this.#goOn)));
    return share;
  }

  #hasRoom(share: Share, now: number): boolean {
    return share.underWay.size < MOST_UNDER_WAY || now - this.#changedAt > TOGETHER_MS;
  }

  #beginNext(share: Share, now: number): void {
    while (share.waiting.size > 0 && this.#hasRoom(share, now) && share.inTurn.take()) {
      const next = share.waiting.shift() as Permit;
      this.#waiting--;
      next.begunAt = now;
      share.underWay.add(next);
      next.begin?.(next);
      next.begin = null;
    }
  }

  /** Frees the permits of slow requests; lifts the limit when only one namespace sends. */
  #look(): void {
    this.#timer = null;
    const now = performance.now();
    for (const share of this.#shares.values()) {
      if (share.waiting.size === 0) continue;
      for (const permit of share.underWay) {
        if (now - permit.begunAt < COUNTED_MS) break;
        share.underWay.remove(permit);
      }
      this.#beginNext(share, now);
    }
    if (this.#waiting > 0) this.#timer = setTimeout(() => this.#look(), COUNTED_MS).unref();
  }
}
