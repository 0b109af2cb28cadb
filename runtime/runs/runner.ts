// Starts the runs of committed events, so many at a time: what a chain has begun before what is new, else in the order of the commits.
// So a chain that fans out is followed to its ends one by one, and what waits stays few.

import type { RunReference, StoredEvent } from '../commit/index.ts';
import { Fifo } from '../fifo.ts';
import { DurableRun } from './durable-run.ts';
import type { Pressure } from './pressure.ts';
import { STATEMENT, StatementRun } from './statement-run.ts';
import type { Executable, RunHost } from './types.ts';

/** Runs of a namespace that are open in the sandbox at one time; the others wait as events. */
const MOST_OPEN = 2_000;
/** Begun at a time; then others have their turn. */
const MOST_AT_ONCE = 256;

/** What an event's run reference stands for; null when the rule's text is not kept any more. */
export type FindExecutable = (rule: string, program: string) => Executable | null;

export interface RunnerOptions {
  readonly host: RunHost;
  readonly find: FindExecutable;
  readonly pressure: Pressure;
  /** Takes care of an event that must not run (its chain is too long) and says so. */
  readonly refuse: (event: StoredEvent, rule: string) => boolean;
  /** Takes care of an event whose rule has no text any more. */
  readonly lost: (event: StoredEvent, rule: string) => void;
}

interface Started {
  readonly event: StoredEvent;
  readonly executable: Executable;
  readonly reference: RunReference;
}

export class Runner {
  readonly #options: RunnerOptions;
  /** By the depth of the chain; each in the order of the commits. */
  readonly #lines: Fifo<Started>[] = [];
  /** How many open runs have a text. */
  readonly #inUse = new Map<string, number>();
  /** Open runs for events of reliable resources. */
  readonly #reliable = new Set<string>();
  #waiting = 0;
  #open = 0;
  #isPlanned = false;
  #idle: (() => void)[] = [];

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Runs that have not ended, waiting ones included. */
  get pending(): number {
    return this.#open + this.#waiting;
  }

  /** Whether a run with this text is open or waits. @param key `<rule> <program>` */
  uses(key: string): boolean {
    return this.#inUse.has(key);
  }

  begin(events: readonly StoredEvent[]): void {
    const { host, find, lost, refuse, pressure } = this.#options;
    for (const event of events)
      for (const reference of event.runs) {
        const { rule, program } = reference;
        if (program === STATEMENT) {
          // A client waits for it: not behind rules.
          this.#open++;
          void new StatementRun(host, event, rule, () => {
            this.#open--;
            this.#pump();
          }).start();
          continue;
        }
        if (refuse(event, rule)) continue;
        const executable = find(rule, program);
        if (!executable) {
          lost(event, rule);
          continue;
        }
        const line = (this.#lines[event.chain.depth] ??= new Fifo());
        line.push({ event, executable, reference });
        if (event.sequence) this.#reliable.add(`${event.uuid}/${rule}`);
        this.#waiting++;
        pressure.add(event.value.length);
        const key = `${rule} ${program}`;
        this.#inUse.set(key, (this.#inUse.get(key) ?? 0) + 1);
      }
    this.#pump();
  }

  /** Whether a rule's run for an event of a reliable resource is open or waits, whichever delivery it is of. */
  isOpen({ uuid }: StoredEvent, rule: string): boolean {
    return this.#reliable.has(`${uuid}/${rule}`);
  }

  /** Resolves when no run is open. */
  async drained(): Promise<void> {
    while (this.pending > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #pump(): void {
    if (this.#isPlanned) return;
    for (let begun = 0; this.#open < MOST_OPEN && this.#waiting > 0; begun++) {
      if (begun === MOST_AT_ONCE) {
        this.#isPlanned = true;
        setImmediate(() => {
          this.#isPlanned = false;
          this.#pump();
        });
        return;
      }
      const next = this.#next();
      this.#waiting--;
      this.#open++;
      this.#options.pressure.remove(next.event.value.length);
      new DurableRun(this.#options.host, next.event, next.executable, next.reference, () => {
        this.#open--;
        this.#reliable.delete(`${next.event.uuid}/${next.executable.name}`);
        this.#unuse(`${next.executable.name} ${next.reference.program}`);
        this.#pump();
      }).start();
    }
    if (this.pending === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #next(): Started {
    for (;;) {
      const next = this.#lines[this.#lines.length - 1]?.shift();
      if (next) return next;
      this.#lines.pop();
    }
  }

  #unuse(key: string): void {
    const left = (this.#inUse.get(key) ?? 0) - 1;
    if (left > 0) this.#inUse.set(key, left);
    else this.#inUse.delete(key);
  }
}
