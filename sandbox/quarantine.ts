// Decides which runs get an isolate of their own: those in whose step an isolate or process has ended (suspects), and for a while all of a
// namespace with a guilty one. Pure: the time is a parameter.
import type { LaneRun } from './isolate-state.ts';

export class Quarantine {
  readonly #quarantineMs: number;
  readonly #until = new Map<string, number>();
  readonly #suspects = new Map<string, Set<LaneRun>>();

  constructor(quarantineMs: number) {
    this.#quarantineMs = quarantineMs;
  }

  /** Nobody is kept apart, as nearly always. */
  get isEmpty(): boolean {
    return this.#suspects.size === 0 && this.#until.size === 0;
  }

  /** While there are suspects of a namespace, its other runs are apart too: the next of them may do the same. */
  holds(namespace: string, now: number): boolean {
    return this.#suspects.has(namespace) || (this.#until.get(namespace) ?? 0) > now;
  }

  suspect(run: LaneRun): void {
    const { namespace } = run.request;
    const suspects = this.#suspects.get(namespace);
    if (suspects) suspects.add(run);
    else this.#suspects.set(namespace, new Set([run]));
  }

  /** It has finished, or has come past the step that it was suspected for. */
  clear(run: LaneRun): void {
    if (this.#suspects.size === 0) return;
    const { namespace } = run.request;
    const suspects = this.#suspects.get(namespace);
    if (suspects?.delete(run) && suspects.size === 0) this.#suspects.delete(namespace);
  }

  convict(namespace: string, now: number): void {
    this.#until.set(namespace, now + this.#quarantineMs);
  }

  /** Forgets what is over. @returns the namespaces that are held */
  namespaces(now: number): string[] {
    for (const [namespace, until] of this.#until) if (until <= now) this.#until.delete(namespace);
    return [...new Set([...this.#until.keys(), ...this.#suspects.keys()])];
  }
}
