// What the runs need of the rest of a namespace, and what can be run.

import type { Logger } from 'pino';
import type { Actor, Initiator } from '../context/actor.ts';
import type { Identity } from '../../identity/index.ts';
import type { Clock } from '../../platform/clock/index.ts';
import type { Answer, Committer, RunId, Step, StoredEvent, UnitOfWork, Write } from '../transactions/index.ts';
import type { DeferredCall } from '../../model/query/index.ts';
import type { Program, Sandbox } from '../../sandbox/index.ts';
import type { StageReached } from '../context/stages.ts';
import type { ConditionEnvironment } from '../triggers/index.ts';
import type { Executable } from '../programs/executable.ts';
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
  /** What the namespace's quota says of a run that begins now. */
  limits(): RunLimits;
  readonly log: Logger;
  /** Throws, at once or later, when whom code is to run as may not act any more; absent: everybody may. */
  admit?(identity: Identity): unknown;
  /** When a rule's run may begin, where it has to wait for its turn under a quota; undefined: now. */
  turn?(): Promise<void> | undefined;
  /** What conditions on events need. */
  readonly conditions: ConditionEnvironment;
  /** What a run reference stands for; null when its text is not kept any more. */
  executable(rule: string, program: string): Executable | null;
  /** What does a part of a condition that takes too long where conditions are decided. */
  programFor(work: DeferredCall): Program;
  /** Records an error in a condition of a rule. */
  conditionFailed(rule: string, error: unknown): void;
  /** No version of the rule runs for its event, as programs have told: it is not brought again (integrations.md 12.3). */
  declined(actor: Actor): Promise<void>;
  /** Carries out a request of a run (stdlib/isolate/protocol.ts, OpPayloads). */
  perform(kind: string, payloadJson: string, actor: Actor): Promise<Answer>;
  /** The unit that a request comes to, where nothing but its commit has to be waited for; null, or an error: `perform` has to be asked. */
  changeAtOnce(kind: string, payloadJson: string, initiator: Initiator): UnitOfWork | null;
  /** A rule's run has come to its end, or failed. */
  ran?(rule: string, outcome: 'done' | 'failed', seconds: number): void;
  /** Told of what a rule's run has reached; absent: nobody asks. */
  readonly reached?: StageReached;
  /** A run has ended, or starts again: what it held of the state is free. */
  release(run: string): void;
  /** Whether a run has a lock of the state. */
  holdsLocks(run: string): boolean;
  /** An instance, `<collection>/<id>`, as programs see it now (inner JSON); null: it is gone. */
  present(instance: string, actor: Actor): Promise<{ readonly json: string; readonly version: bigint } | null>;
  /** Steps that an earlier process recorded for a run, taken once. */
  takeRecorded(run: RunId): readonly Step[];
  /** The unit that tells of an error which left a run (language.md H4). */
  failure(resource: string, invocation: string, error: RunError, actor: Actor): Pick<UnitOfWork, 'writes' | 'events'>;
  /** The unit that gives an event up for a rule or procedure (integrations.md 12.5). */
  poisoned(event: StoredEvent, resource: string, error: RunError): Pick<UnitOfWork, 'writes' | 'events'>;
  /** Takes care of an event whose rule has no text any more: its run ends with that. */
  lost(event: StoredEvent, rule: string): void;
  /** Stores the end of a run that is given up, together with the writes by which its event is not brought again. */
  settle(event: StoredEvent, rule: string, store: (settled: readonly Write[]) => Promise<void>): Promise<void>;
  /** The write that keeps a run as it went; none when a storm of failures has filled what is kept. */
  record(recording: Recording): Write[];
  /** Whether runs of this resource are kept also when they don't fail. */
  isTraced(resource: string): boolean;
  /** Level of messages that a run of this resource keeps: ERROR 40 … TRACE 0. */
  logLevel(resource: string): number;
  /** The service that a run is within; null: none. */
  serviceOf(event: StoredEvent, executable: Executable): string | null;
  /** Source map of a module, for places in errors; null when it is not known any more. */
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
