// Starts the runs of committed events, so many at a time, in the order of their commits.

import type { StoredEvent } from '../commit/index.ts';
import { DurableRun } from './durable-run.ts';
import type { Executable, RunHost } from './types.ts';

/** Runs of a namespace that are open in the sandbox at one time; the others wait as events. */
const MOST_OPEN = 2_000;

/** What an event's run reference stands for; null when the rule's text is not kept any more. */
export type FindExecutable = (rule: string, program: string) => Executable | null;

interface Started {
  readonly event: StoredEvent;
  readonly executable: Executable;
  readonly binds: 'event' | 'value';
}

export class Runner {
  readonly #host: RunHost;
  readonly #find: FindExecutable;
  readonly #refuse: (event: StoredEvent, rule: string) => boolean;
  readonly #waiting: Started[] = [];
  #next = 0;
  #open = 0;
  #idle: (() => void)[] = [];

  /** @param refuse takes care of an event that must not run (its chain is too long) and says so */
  constructor(host: RunHost, find: FindExecutable, refuse: (event: StoredEvent, rule: string) => boolean) {
    this.#host = host;
    this.#find = find;
    this.#refuse = refuse;
  }

  /** Runs that have not ended, waiting ones included. */
  get pending(): number {
    return this.#open + this.#waiting.length - this.#next;
  }

  begin(events: readonly StoredEvent[]): void {
    for (const event of events)
      for (const { rule, program, binds } of event.runs) {
        if (this.#refuse(event, rule)) continue;
        const executable = this.#find(rule, program);
        if (executable) this.#waiting.push({ event, executable, binds });
        else this.#host.log.error({ event: event.uuid, rule }, 'the text of a rule that an event names is not there any more');
      }
    this.#pump();
  }

  /** Resolves when no run is open. */
  async drained(): Promise<void> {
    while (this.pending > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #pump(): void {
    while (this.#open < MOST_OPEN && this.#next < this.#waiting.length) {
      const { event, executable, binds } = this.#waiting[this.#next++] as Started;
      this.#open++;
      new DurableRun(this.#host, event, executable, binds, () => {
        this.#open--;
        this.#pump();
      }).start();
    }
    if (this.#next > 10_000 || this.#next === this.#waiting.length) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    if (this.pending === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
