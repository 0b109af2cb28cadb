// What runs need of their namespace, and the programs that can run.

import type { Logger } from 'pino';
import type { Actor, Initiator, StageReached } from '../context/index.ts';
import type { Identity } from '../../identity/index.ts';
import type { Clock } from '../../platform/clock/index.ts';
import type { Answer, Committer, RunId, Step, StoredEvent, UnitOfWork, Write } from '../transactions/index.ts';
import type { Program, Sandbox } from '../../sandbox/index.ts';
import type { ConditionEnvironment } from '../triggers/index.ts';
import type { Executable, SingleCall } from '../programs/index.ts';
import type { Contention } from './contention.ts';
import type { ErrorBreaker } from './error-breaker.ts';
import type { ExecutionTimes } from './execution-times.ts';
import type { Backpressure } from './backpressure.ts';
import type { Recording } from './run-recorder.ts';
import type { RunLimits } from './run-limits.ts';

export interface RunHost {
  readonly namespace: string;
  readonly clock: Clock;
  readonly sandbox: Sandbox;
  readonly committer: Committer;
  readonly contention: Contention;
  readonly backpressure: Backpressure;
  readonly executionTimes: ExecutionTimes;
  readonly errorBreaker: ErrorBreaker;
  /** The quota's limits for a run that starts now. */
  limits(): RunLimits;
  readonly log: Logger;
  /** Throws, or rejects, when the user may not act any more; absent: everybody may. */
  admit?(identity: Identity): unknown;
  /** Waits for a run's turn under a quota; undefined: it may start now. */
  turn?(): Promise<void> | undefined;
  /** The environment of conditions on events. */
  readonly conditions: ConditionEnvironment;
  /** Resolves a run reference; null when the text is not kept any more. */
  executable(rule: string, program: string): Executable | null;
  /** The program of a deferred call, or of a built-in that EXECUTE ASYNC calls. */
  programFor(call: SingleCall): Program;
  /** Records an error in a condition of a rule. */
  conditionFailed(rule: string, error: unknown): void;
  /** No version of the rule runs for its event: the event is acknowledged for it (integrations.md 12.3). */
  declined(actor: Actor): Promise<void>;
  /** Carries out a request of a run (stdlib/isolate/protocol.ts, OpPayloads). */
  perform(kind: string, payloadJson: string, actor: Actor): Promise<Answer>;
  /** The unit of a request that needs nothing but its commit; null, or an error: `perform` has to do it. */
  changeAtOnce(kind: string, payloadJson: string, initiator: Initiator): UnitOfWork | null;
  /** Counts a rule's run that has ended. */
  ran?(rule: string, outcome: 'done' | 'failed', seconds: number): void;
  /** Called with the stages that a rule's run has reached; absent: not measured. */
  readonly reached?: StageReached;
  /** Frees the locks and objects of a run that has ended or restarts. */
  release(run: string): void;
  /** Whether a run holds a lock of a service's state. */
  holdsLocks(run: string): boolean;
  /** An instance, `<collection>/<id>`, as programs see it now (inner JSON); null: it is gone. */
  present(instance: string, actor: Actor): Promise<{ readonly json: string; readonly version: bigint } | null>;
  /** Steps that an earlier process recorded for a run, taken once. */
  takeRecorded(run: RunId): readonly Step[];
  /** The unit that records an error which escaped from a run (language.md H4). */
  failure(resource: string, invocation: string, error: RunError, actor: Actor): Pick<UnitOfWork, 'writes' | 'events'>;
  /** The unit that gives an event up for a rule or procedure (integrations.md 12.5). */
  poisoned(event: StoredEvent, resource: string, error: RunError): Pick<UnitOfWork, 'writes' | 'events'>;
  /** Handles an event whose rule has no text any more: its run ends with that. */
  lost(event: StoredEvent, rule: string): void;
  /** Stores the end of a run that is given up, with the writes that stop the redelivery of its event. */
  settle(event: StoredEvent, rule: string, store: (settled: readonly Write[]) => Promise<void>): Promise<void>;
  /** The write that keeps a recording; none when recordings of failures exceed their bound. */
  record(recording: Recording): Write[];
  /** Whether successful runs of this resource are recorded, too. */
  isTraced(resource: string): boolean;
  /** Level of messages that a run of this resource keeps: ERROR 40 … TRACE 0. */
  logLevel(resource: string): number;
  /** The service that a run belongs to; null: none. */
  serviceOf(event: StoredEvent, executable: Executable): string | null;
  /** Source map of a module, for the location of errors; null when unknown. */
  mapOf(module: string): { readonly map: string; readonly resource: string } | null;
}

/** An error that escaped, with its place in the rule's own text. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  readonly params: readonly unknown[];
  readonly status: number;
  readonly line: number | null;
  readonly column: number | null;
  /** Innermost call first. */
  readonly stack: readonly { readonly resource: string; readonly line: number; readonly column: number }[];
}
