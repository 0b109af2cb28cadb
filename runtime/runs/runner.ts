// Starts the runs of committed events, a bounded number at a time: deeper in a chain first, else in the order of the commits, so that a
// chain that fans out is followed to its ends and few runs wait. A rule gets the events of one instance in order, one after the other
// (resources-and-api.md 8.1).

import type { RunReference, StoredEvent } from '../transactions/index.ts';
import { Fifo } from '../../platform/structures/index.ts';
import { DurableRun } from './durable/index.ts';
import type { Backpressure } from './backpressure.ts';
import { STATEMENT, StatementRun } from './statement-run.ts';
import type { RunHost } from './types.ts';
import type { Executable } from '../programs/index.ts';

/** Bound of a namespace's open runs; the others wait as events. */
const MOST_OPEN = 2_000;
/** Runs that start in one turn of the event loop. */
const MOST_AT_ONCE = 256;

/** Resolves a run reference; null when the rule's text is not kept any more. */
export type FindExecutable = (rule: string, program: string) => Executable | null;

export interface RunnerOptions {
  readonly host: RunHost;
  readonly find: FindExecutable;
  readonly backpressure: Backpressure;
  /** Handles an event that must not run (its chain is too long). @returns whether it did */
  readonly refuse: (event: StoredEvent, rule: string) => boolean;
  /** Handles an event whose rule has no text any more. */
  readonly lost: (event: StoredEvent, rule: string) => void;
  /** Runs that are open at one time; absent: 2,000. */
  readonly mostOpen?: number;
}

interface Started {
  readonly event: StoredEvent;
  readonly executable: Executable;
  readonly reference: RunReference;
  /** Rule and instance: one run at a time; null: the order does not matter. */
  readonly line: string | null;
}

export class Runner {
  readonly #options: RunnerOptions;
  readonly #mostOpen: number;
  /** By depth of the chain, each in the order of the commits. */
  readonly #lines: Fifo<Started>[] = [];
  /** By rule and instance with an open or waiting run: the runs behind it; null: none. */
  readonly #following = new Map<string, Fifo<Started> | null>();
  /** Number of open runs by program. */
  readonly #inUse = new Map<string, number>();
  /** Open runs for events of reliable resources. */
  readonly #reliable = new Set<string>();
  /** Runs that have not begun; of these, those that may. */
  #waiting = 0;
  #queued = 0;
  #open = 0;
  #isPlanned = false;
  #idle: (() => void)[] = [];

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#mostOpen = options.mostOpen ?? MOST_OPEN;
  }

  /** Runs that have not ended, with those that wait. */
  get pending(): number {
    return this.#open + this.#waiting;
  }

  /** Whether a run with this program is open or waits. @param key `<rule> <program>` */
  uses(key: string): boolean {
    return this.#inUse.has(key);
  }

  /** Never throws, since the events are committed. A run that cannot start stays open in the journal for the next process. */
  begin(events: readonly StoredEvent[]): void {
    for (const event of events)
      for (const reference of event.runs)
        try {
          this.#add(event, reference);
        } catch (error) {
          this.#options.host.log.error({ err: error, event: event.uuid, rule: reference.rule }, 'a run could not begin');
        }
    this.#pump();
  }

  #add(event: StoredEvent, reference: RunReference): void {
    const { host, find, lost, refuse, backpressure } = this.#options;
    const { rule, program } = reference;
    if (program === STATEMENT) {
      // A client waits for this one: it does not queue behind rules.
      const run = new StatementRun(host, event, rule, () => {
        this.#open--;
        this.#pump();
      });
      this.#open++;
      void run.start();
      return;
    }
    if (refuse(event, rule)) return;
    const executable = find(rule, program);
    if (!executable) return lost(event, rule);
    const started = { event, executable, reference, line: lineOf(event, reference) };
    if (event.sequence) this.#reliable.add(`${event.uuid}/${rule}`);
    this.#waiting++;
    backpressure.add(event.value.length);
    const key = `${rule} ${program}`;
    this.#inUse.set(key, (this.#inUse.get(key) ?? 0) + 1);
    if (started.line === null || !this.#follows(started.line, started)) this.#queue(started);
  }

  /** Queues it behind an earlier run of its line. @returns false: there is none */
  #follows(line: string, started: Started): boolean {
    const following = this.#following.get(line);
    if (following === undefined) {
      this.#following.set(line, null);
      return false;
    }
    const queue = following ?? new Fifo<Started>();
    if (!following) this.#following.set(line, queue);
    queue.push(started);
    return true;
  }

  #queue(started: Started): void {
    (this.#lines[started.event.chain.depth] ??= new Fifo()).push(started);
    this.#queued++;
  }

  /** A run has ended: the next one of its line may start. */
  #leave(line: string): void {
    const next = this.#following.get(line)?.shift();
    if (next) this.#queue(next);
    else this.#following.delete(line);
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
    for (let begun = 0; this.#open < this.#mostOpen && this.#queued > 0; begun++) {
      if (begun === MOST_AT_ONCE) {
        this.#isPlanned = true;
        setImmediate(() => {
          this.#isPlanned = false;
          this.#pump();
        });
        return;
      }
      const next = this.#next();
      this.#queued--;
      this.#waiting--;
      this.#options.backpressure.remove(next.event.value.length);
      this.#start(next);
    }
    if (this.pending === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #start({ event, executable, reference, line }: Started): void {
    const { host } = this.#options;
    this.#open++;
    const ended = (): void => {
      this.#open--;
      this.#reliable.delete(`${event.uuid}/${executable.name}`);
      this.#unuse(`${executable.name} ${reference.program}`);
      if (line !== null) this.#leave(line);
      this.#pump();
    };
    try {
      new DurableRun(host, event, executable, reference, ended).start();
    } catch (error) {
      host.log.error({ err: error, event: event.uuid, rule: reference.rule }, 'a run could not begin');
      ended();
    }
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

/** How the value of an event of a single instance begins. */
const INSTANCE = '{"_id":"';
const ID_LENGTH = 24;

/** Redeliveries keep no order (integrations.md 12.1), and completions of several events have no single instance. */
function lineOf({ path, value, attempt = 1 }: StoredEvent, { rule, binds }: RunReference): string | null {
  if (attempt > 1 || binds === 'arguments' || !path.startsWith('/types/') || !value.startsWith(INSTANCE)) return null;
  const version = rule.indexOf(':');
  const id = value.slice(INSTANCE.length, INSTANCE.length + ID_LENGTH);
  return `${version < 0 ? rule : rule.slice(0, version)} ${path.slice(0, path.lastIndexOf('/'))}/${id}`;
}
