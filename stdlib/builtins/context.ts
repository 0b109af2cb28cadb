// What a built-in may have of the run that calls it. The driver (stdlib/isolate) implements it; tests use a plain one.
import type { SearchBounds, Value } from '../values/index.ts';

export interface BuiltinContext extends SearchBounds {
  /** The instant of the run, ms since the epoch; never goes back. */
  now(): number;
  /** Uniform in 0 ≤ r < 1, drawn from the run's seed. */
  random(): number;
  /** A random UUID of version 4, lower case, drawn from the run's seed. */
  uuid(): string;
  /** A Sequence of the language over elements that ask nothing of the host; it is read at most once. */
  sequence(elements: Iterable<Value>): Value;
  /** A Sequence of `{label: element}` over Lists, Sequences and Objects; within one label in order. */
  merge(labelled: readonly (readonly [label: string, collection: Value])[]): Value;
  /** Counts what a value grows by, in bytes; fails when the run holds too much. */
  charge(bytes: number): void;
  /**
   * Something takes about as long as so many turns of a loop: a run gives way the sooner. Told before, so that it can be refused where
   * everybody waits for it.
   */
  spend(turns: number): void;
  /** Whether messages of the level are kept; others need not be made. */
  logs(level: number): boolean;
  /** One message of the run; levels ERROR 40, WARN 30, INFO 20, DEBUG 10, TRACE 0. */
  log(level: number, message: string): void;
  /** A warning that a run gives at most once for each `topic`. */
  warnOnce(topic: string, message: string): void;
}

/** What a run knows of itself from its start. */
export interface RunFacts {
  readonly username: string;
  readonly namespace: string;
  /** The service whose code runs now; null outside of one. */
  readonly service: string | null;
}
