// Bounds the memory that answers of other systems take, for all namespaces together and for each: an answer has room for what has come of it
// until its value has been handed on. What has no room is not read on, so that its sender waits, and namespaces have room in turn.
import { apiError } from '../../model/errors/index.ts';
import { availableMemory } from '../about/index.ts';

/** An answer of less is not counted: it is held for a moment only, and there are very many of them. */
const COUNTED_BYTES = 64 * 1024;
/** What an answer or a message of another system may hold, at all depths: some values take a hundred times the bytes of their text. */
export const MOST_VALUES = 2_000_000;
/** What values take, with the bound above. */
const BYTES_PER_BYTE_OF_TEXT = 16;
const MOST_OF_VALUES = 128 * 1024 * 1024;
/** What one answer may take at most: as it came, and its values. */
const MOST_OF_ONE = 64 * 1024 * 1024 + MOST_OF_VALUES;
const MOST_BYTES = 1024 * 1024 * 1024;
/** As a part of the memory, where that is less. */
const PART_OF_MEMORY = 1 / 8;
const PART_EACH = 1 / 3;
/** Room of a namespace beside that of one answer. */
const LEAST_BESIDE = 64 * 1024 * 1024;
/** An answer that has had no more room for so long is refused: what holds the room may be waiting for this answer. */
const PATIENCE_MS = 60_000;

export interface ReceivedLimits {
  readonly most: number;
  readonly mostEach: number;
  /**
   * Part of each bound that only one answer at a time may use, and the greatest amount that an answer is counted with: so one that is half read can
   * always be finished.
   */
  readonly mostOfOne: number;
  readonly patienceMs: number;
}

export function receivedLimits(memoryBytes = availableMemory()): ReceivedLimits {
  const most = Math.max(Math.min(MOST_BYTES, memoryBytes * PART_OF_MEMORY), 2 * MOST_OF_ONE);
  return { most, mostEach: Math.max(most * PART_EACH, MOST_OF_ONE + LEAST_BESIDE), mostOfOne: MOST_OF_ONE, patienceMs: PATIENCE_MS };
}

interface Pool {
  readonly most: number;
  held: number;
  /** The answer that may use the last part. */
  last: AnswerRoom | null;
}

interface Waiter {
  readonly room: AnswerRoom;
  readonly amount: number;
  readonly granted: () => void;
  readonly refused: (error: Error) => void;
}

interface Share extends Pool {
  readonly waiting: Waiter[];
}

export class ReceivedBudget {
  readonly #limits: ReceivedLimits;
  readonly #whole: Pool;
  /** Those of namespaces that hold something or wait; the first is next. */
  readonly #shares = new Map<string, Share>();

  constructor(limits: ReceivedLimits = receivedLimits()) {
    this.#limits = limits;
    this.#whole = { most: limits.most, held: 0, last: null };
  }

  get held(): number {
    return this.#whole.held;
  }

  /** How many answers wait for room. */
  get waiting(): number {
    let all = 0;
    for (const { waiting } of this.#shares.values()) all += waiting.length;
    return all;
  }

  room(namespace: string): AnswerRoom {
    return new AnswerRoom(this, namespace, this.#limits.mostOfOne);
  }

  /** For `AnswerRoom`. @throws cascade.quota.exceeded: there was no room in time; the reason of `signal` */
  take(room: AnswerRoom, amount: number, signal: AbortSignal | undefined): void | Promise<void> {
    const share = this.#shareOf(room.namespace);
    if ((share.last === room || share.waiting.length === 0) && this.#fits(share, room, amount)) return this.#grant(share, room, amount);
    return new Promise((resolve, reject) => {
      const settled = (then: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        then();
      };
      const refused = (error: Error): void => {
        this.#forget(share, waiter);
        settled(() => reject(error));
      };
      const leave = (): void => refused(new Error('it is not wanted any more'));
      const timer = setTimeout(
        () => refused(apiError('cascade.quota.exceeded', 'receivedBytes', this.#limits.mostEach)),
        this.#limits.patienceMs,
      );
      const waiter: Waiter = { room, amount, granted: () => settled(resolve), refused };
      share.waiting.push(waiter);
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** For `AnswerRoom`: it gives back a part. */
  give(room: AnswerRoom, amount: number): void {
    const share = this.#shareOf(room.namespace);
    share.held -= amount;
    this.#whole.held -= amount;
    this.#whenLess(room.namespace, share);
  }

  /** For `AnswerRoom`: it holds nothing any more, or what it holds is that of `other`. */
  leave(room: AnswerRoom, other: AnswerRoom | null): void {
    const share = this.#shareOf(room.namespace);
    for (const waiter of share.waiting.filter((one) => one.room === room)) waiter.refused(new Error('it is not wanted any more'));
    for (const pool of [share, this.#whole]) if (pool.last === room) pool.last = other;
    this.#whenLess(room.namespace, share);
  }

  /** The last parts are free again where less is held; that of all first, as its holder is always one that has that of its namespace. */
  #whenLess(namespace: string, share: Share): void {
    if (this.#isFree(this.#whole, 0)) this.#whole.last = null;
    if (this.#isFree(share, 0) && (share.last === null || share.last !== this.#whole.last)) share.last = null;
    if (share.held === 0 && share.waiting.length === 0) this.#shares.delete(namespace);
    this.#wake();
  }

  #wake(): void {
    // A share that is granted something goes behind the others, where this loop comes to it again.
    for (const [namespace, share] of this.#shares) {
      const waiter = share.waiting.find(({ room }) => room === share.last) ?? share.waiting[0];
      if (!waiter || !this.#fits(share, waiter.room, waiter.amount)) continue;
      this.#forget(share, waiter);
      this.#grant(share, waiter.room, waiter.amount);
      waiter.granted();
      this.#shares.delete(namespace);
      this.#shares.set(namespace, share);
    }
  }

  /** Whoever may use the last part of all may use that of its namespace: of two with one each, both would wait for the other. */
  #fits(share: Share, room: AnswerRoom, amount: number): boolean {
    const whole = this.#whole;
    if (this.#isFree(share, amount) && this.#isFree(whole, amount)) return true;
    share.last ??= room;
    if (share.last !== room) return false;
    if (this.#isFree(whole, amount)) return true;
    whole.last ??= room;
    return whole.last === room;
  }

  #isFree({ held, most }: Pool, amount: number): boolean {
    return held + amount <= most - this.#limits.mostOfOne;
  }

  #grant(share: Share, room: AnswerRoom, amount: number): void {
    share.held += amount;
    this.#whole.held += amount;
    room.granted(amount);
  }

  #forget(share: Share, waiter: Waiter): void {
    const at = share.waiting.indexOf(waiter);
    if (at >= 0) share.waiting.splice(at, 1);
  }

  #shareOf(namespace: string): Share {
    let share = this.#shares.get(namespace);
    if (!share) this.#shares.set(namespace, (share = { most: this.#limits.mostEach, held: 0, last: null, waiting: [] }));
    return share;
  }
}

/** The room of one answer, or of several that are held together. */
export class AnswerRoom implements Disposable {
  readonly namespace: string;
  readonly #budget: ReceivedBudget;
  readonly #most: number;
  #bytes = 0;
  #ofValues = 0;
  #held = 0;
  /** Whether the budget was asked for anything. */
  #isKnown = false;

  constructor(budget: ReceivedBudget, namespace: string, most: number) {
    this.#budget = budget;
    this.namespace = namespace;
    this.#most = most;
  }

  /** Bytes that have come, of what is still held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** To be awaited before more is read. @param bytes that have come @throws cascade.quota.exceeded */
  grow(bytes: number, signal?: AbortSignal): void | Promise<void> {
    this.#bytes += bytes;
    return this.#reserve(signal);
  }

  /** To be awaited before the values of a text are made. @throws cascade.quota.exceeded */
  growForValues(signal?: AbortSignal): void | Promise<void> {
    this.#ofValues = Math.min(this.#bytes * BYTES_PER_BYTE_OF_TEXT, MOST_OF_VALUES);
    return this.#reserve(signal);
  }

  /** The values turned out to take less than they might have: mostly they take some times their bytes. */
  settle(): void {
    this.#ofValues = 0;
    this.#shrink(this.#counted());
  }

  /** Gives back what came earlier. */
  shrink(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
    this.#shrink(this.#counted());
  }

  /** Takes over what another one of the namespace holds. */
  absorb(other: AnswerRoom): void {
    this.#bytes += other.#bytes;
    this.#ofValues += other.#ofValues;
    this.#held += other.#held;
    other.#bytes = other.#ofValues = other.#held = 0;
    if (!other.#isKnown) return;
    this.#isKnown = true;
    this.#budget.leave(other, this);
  }

  /** For the budget. */
  granted(amount: number): void {
    this.#held += amount;
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  /** Gives all of it back; what comes next has room anew. */
  clear(): void {
    this.#bytes = this.#ofValues = 0;
    this.#shrink(0);
    if (this.#isKnown) this.#budget.leave(this, null);
    this.#isKnown = false;
  }

  #counted(): number {
    return this.#bytes <= COUNTED_BYTES ? 0 : Math.min(this.#bytes + this.#ofValues, this.#most);
  }

  #reserve(signal: AbortSignal | undefined): void | Promise<void> {
    const amount = this.#counted() - this.#held;
    if (amount <= 0) return;
    this.#isKnown = true;
    return this.#budget.take(this, amount, signal);
  }

  #shrink(to: number): void {
    const amount = this.#held - to;
    if (amount <= 0) return;
    this.#held -= amount;
    this.#budget.give(this, amount);
  }
}
