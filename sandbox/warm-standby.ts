// A sandbox process in waiting. A start takes a third of a second of work, and much longer on a busy machine: who loses its process, or needs
// a second one, takes this instead.
import { type Child, type ChildEvents, type ChildOptions, openChild } from './child.ts';

export class WarmStandby {
  readonly #options: ChildOptions;
  readonly #afterMs: number;
  #child: Child | null = null;
  /** Who has taken it. */
  #owner: { events: ChildEvents | null } = { events: null };
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** @param afterMs how long nothing must be wanted of it before it is started, so that it competes with nobody's start */
  constructor(options: ChildOptions, afterMs: number) {
    this.#options = options;
    this.#afterMs = afterMs;
  }

  /** Of the process in waiting, when it could serve at once. */
  get pid(): number | undefined {
    return this.#child?.isReady ? this.#child.pid : undefined;
  }

  /** Has one started, unless there is one. */
  prepare(): void {
    if (this.#isClosed || this.#child || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#open();
    }, this.#afterMs).unref();
  }

  /** Gives the process, which serves already ('ready' has been) and sends its events to `events` from now on; null when there is none. */
  take(events: ChildEvents): Child | null {
    const child = this.#child;
    if (!child?.isReady) return null;
    this.#owner.events = events;
    this.#child = null;
    this.prepare();
    return child;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    const child = this.#child;
    this.#child = null;
    child?.kill();
    await child?.exited;
  }

  #open(): void {
    const owner: { events: ChildEvents | null } = { events: null };
    this.#owner = owner;
    const child = openChild(this.#options, {
      ready: () => undefined,
      reply: (lane, reply, text) => owner.events?.reply(lane, reply, text),
      mark: (lane, batch) => owner.events?.mark(lane, batch),
      exit: (end) => {
        owner.events?.exit(end);
        if (this.#child !== child) return;
        this.#child = null;
        this.prepare();
      },
    });
    this.#child = child;
  }
}
