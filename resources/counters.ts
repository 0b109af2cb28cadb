// Counts a process's work, for metrics (resources-and-api.md 9.4). The only names are those of resources.

import type { Cause, Stall } from '../platform/stalls/index.ts';
import { RuleStages } from './rule-stages.ts';

export interface Activations {
  readonly namespace: string;
  readonly rule: string;
  readonly outcome: 'done' | 'failed';
  count: number;
}

/** Bound of the rules that are counted by name; those whose first run comes later are counted as one. */
const MOST_NAMED = 10_000;
const OTHERS = '-';

/** First parts of event paths: the kinds of resources that events come from. */
const KINDS = new Set(['types', 'topics', 'sources', 'services', 'audits', 'namespaces', 'users', 'inbox']);

export class Counters {
  /** Number of committed events, by the kind of their resource. */
  readonly events = new Map<string, number>();
  readonly activations = new Map<string, Activations>();
  /** Durations from an event to the stages of its rules. */
  readonly stages = new RuleStages();
  /** Called with the duration of each run of a rule; one listener at most. */
  onRan: ((seconds: number) => void) | null = null;
  /** Number of stalls of the main thread, by cause. */
  readonly stalls = new Map<Cause, number>();
  /** Called with the duration of each stall; one listener at most. */
  onStalled: ((seconds: number, cause: Cause) => void) | null = null;

  event(path: string): void {
    const kind = path.slice(1, path.indexOf('/', 1));
    const name = KINDS.has(kind) ? kind : 'other';
    this.events.set(name, (this.events.get(name) ?? 0) + 1);
  }

  stalled({ ms, cause }: Stall): void {
    this.onStalled?.(ms / 1_000, cause);
    this.stalls.set(cause, (this.stalls.get(cause) ?? 0) + 1);
  }

  ran(namespace: string, rule: string, outcome: Activations['outcome'], seconds: number): void {
    this.onRan?.(seconds);
    const key = `${namespace} ${rule} ${outcome}`;
    const known = this.activations.get(key);
    if (known) known.count++;
    else if (this.activations.size < MOST_NAMED) this.activations.set(key, { namespace, rule, outcome, count: 1 });
    else this.#others(namespace, outcome);
  }

  #others(namespace: string, outcome: Activations['outcome']): void {
    const key = `${namespace} ${OTHERS} ${outcome}`;
    const known = this.activations.get(key);
    if (known) known.count++;
    else this.activations.set(key, { namespace, rule: OTHERS, outcome, count: 1 });
  }
}
