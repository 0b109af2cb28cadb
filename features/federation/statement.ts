// One statement in progress on its nodes (integrations.md 11.4 to 11.6): nodes are asked in parallel, and their pages are fetched no faster
// than the program takes them. The cursor says what is left of each node, so that another process can continue after a crash.
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import type { CascadeError } from '../../model/errors/index.ts';
import { isLong } from '../../model/types/index.ts';
import { encodeInnerInPieces } from '../../model/values/index.ts';
import type { AnswerRoom } from '../../platform/egress/index.ts';
import { finishInSlices, type MaybePromise } from '../../platform/structures/index.ts';
import { Fenced } from '../../runtime/transactions/index.ts';
import type { Carried } from './requests.ts';

const AT_A_TIME = 32;
/** Bounds the pages that are fetched and not taken. */
const MOST_WAITING = 64;
/** What a page of less holds in memory is not counted: programs that ask nodes within such pages could wait for themselves. */
const COUNTED_PAGE_BYTES = 1024 * 1024;
/** A page waits so long for the answers of other nodes. */
const GATHER_MS = 3;

/** A node with pages left; `pages` have been taken. */
export interface Left {
  readonly name: string;
  readonly pages: number;
}

export type Item = readonly [node: string, kind: 'value' | 'error' | 'end', value?: Value];

/** To be disposed of when its values have been handed on. */
export interface Page extends Disposable {
  readonly items: readonly Item[];
  readonly left: readonly Left[];
}

export interface Terms {
  readonly run: string;
  readonly withinMs: number;
  /** Starts the statement on a node, after the pages that were taken. @param room that of the page that is being fetched */
  readonly begin: (left: Left, signal: AbortSignal, room: () => AnswerRoom) => Carried;
  readonly room: () => AnswerRoom;
  /**
   * A node that is begun first, and whose result is in the first page: only what asks for that page knows what a try before a crash has
   * done there. Absent: none.
   */
  readonly first?: string | undefined;
  /** The error for a node whose answer is incomplete at the deadline. */
  readonly late: (name: string) => Promise<CascadeError>;
  /** The error for a node that failed. @throws what is no failure of the node: `next` throws it */
  readonly failure: (name: string, error: unknown) => CascadeError | Promise<CascadeError>;
}

interface Taken {
  readonly name: string;
  readonly items: readonly Item[];
  readonly isLast: boolean;
  readonly room?: AnswerRoom;
}

export class NodeStatement {
  readonly run: string;
  readonly #terms: Terms;
  readonly #ending = new AbortController();
  readonly #left: Map<string, number>;
  readonly #queue: Taken[] = [];
  readonly #timer: NodeJS.Timeout;
  #first: string | undefined;
  #isLate = false;
  #isAborted = false;
  #thrown: { readonly error: unknown } | null = null;
  #isAwaited = false;
  #arrived: (() => void) | null = null;
  #hasRoom: (() => void)[] = [];

  constructor(left: readonly Left[], terms: Terms) {
    this.run = terms.run;
    this.#terms = terms;
    this.#left = new Map(left.map(({ name, pages }) => [name, pages]));
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#ending.abort();
    }, terms.withinMs);
    this.#first = left.some(({ name }) => name === terms.first) ? terms.first : undefined;
    const waiting = left.toSorted((a, b) => Number(b.name === terms.first) - Number(a.name === terms.first));
    const worker = async (): Promise<void> => {
      // None is begun that nobody waits for any more (integrations.md 11.5): what is stored for a reliable node would reach it later.
      for (let next = waiting.shift(); next && this.#left.size > 0; next = waiting.shift()) await this.#carryOut(next);
    };
    for (let i = 0; i < Math.min(AT_A_TIME, left.length); i++) void worker();
  }

  /** Whether a program waits in `next`. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /**
   * Takes the next items, and the nodes that are left: none at the end.
   * @throws Fenced the statement was aborted: an empty page would be stored as its end, though its nodes were not heard; what `failure`
   *   throws: then the statement is to be aborted
   */
  async next(): Promise<Page> {
    this.#isAwaited = true;
    try {
      await this.#gather();
    } finally {
      this.#isAwaited = false;
    }
    if (this.#isAborted) throw new Fenced('a statement on nodes was given up: the next owner of its run continues it');
    if (this.#thrown) throw this.#thrown.error;
    if (this.#first !== undefined) this.#queue.sort((a, b) => Number(b.name === this.#first) - Number(a.name === this.#first));
    this.#first = undefined;
    const taken = this.#queue.splice(0, MOST_WAITING);
    for (const { name, isLast } of taken) {
      if (isLast) this.#left.delete(name);
      else this.#left.set(name, (this.#left.get(name) ?? 0) + 1);
    }
    if (this.#left.size === 0) clearTimeout(this.#timer);
    for (const go of this.#hasRoom.splice(0)) go();
    const left = [...this.#left].map(([name, pages]) => ({ name, pages }));
    return {
      items: taken.flatMap(({ items }) => items),
      left,
      [Symbol.dispose]() {
        for (const { room } of taken) room?.clear();
      },
    };
  }

  async #gather(): Promise<void> {
    while (!this.#isAborted && !this.#thrown && !this.#hasArrived() && this.#left.size > 0)
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    // Nodes mostly answer at about the same time, and each page costs a step of the run.
    const answered = new Set(this.#queue.map(({ name }) => name));
    if (answered.size < this.#left.size) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  }

  #hasArrived(): boolean {
    return this.#first === undefined ? this.#queue.length > 0 : this.#queue.some(({ name }) => name === this.#first);
  }

  /** Cancels requests in progress and discards fetched pages. */
  abort(): void {
    this.#isAborted = true;
    clearTimeout(this.#timer);
    this.#ending.abort();
    this.#left.clear();
    for (const { room } of this.#queue.splice(0)) room?.clear();
    for (const go of this.#hasRoom.splice(0)) go();
    this.#arrived?.();
  }

  /** Fetches a node's pages. Never throws: a failure becomes the node's last item. */
  async #carryOut(left: Left): Promise<void> {
    const { name } = left;
    const { signal } = this.#ending;
    const over = new Promise<never>((_, reject) => {
      const give = (): void => reject(new Error('the time is over'));
      if (signal.aborted) give();
      else signal.addEventListener('abort', give, { once: true });
    });
    over.catch(() => undefined);
    let room = this.#terms.room();
    const pages = this.#terms.begin(left, signal, () => room);
    try {
      for (;;) {
        const next = await Promise.race([pages.next(), over]);
        if (next.done) break;
        this.#put({ name, items: next.value.map((value) => [name, 'value', value]), isLast: false, room });
        room = this.#terms.room();
        if (this.#queue.length >= MOST_WAITING) await Promise.race([new Promise<void>((resolve) => this.#hasRoom.push(resolve)), over]);
      }
      room.clear();
      this.#put({ name, items: [[name, 'end']], isLast: true });
    } catch (error) {
      room.clear();
      void pages.return().catch(() => undefined);
      await this.#fail(name, error);
    }
  }

  async #fail(name: string, error: unknown): Promise<void> {
    try {
      const { code, message, params, status } = await (this.#isLate ? this.#terms.late(name) : this.#terms.failure(name, error));
      this.#put({ name, items: [[name, 'error', { code, message, params: params, status }]], isLast: true });
    } catch (thrown) {
      this.#thrown ??= { error: thrown };
      this.#arrived?.();
    }
  }

  #put(taken: Taken): void {
    const { room } = taken;
    const isAborted = this.#left.size === 0;
    if (room && (isAborted || room.bytes < COUNTED_PAGE_BYTES)) room.clear();
    if (isAborted) return;
    this.#queue.push(taken);
    this.#arrived?.();
  }
}

/** Inner JSON of a page for the isolate. @param cursor null: it is the last page */
export function pageJson(namespace: string, nodes: Record<string, Value>, items: readonly Item[], cursor: Value): MaybePromise<string> {
  const page = { nodes, items: items as unknown as Value, cursor };
  return isLong(page) ? finishInSlices(namespace, encodeInnerInPieces(page)) : encodeInner(page);
}
