// A run whose caller waits for its value: a procedure called from outside, a BEFORE rule, the body of EXECUTE *. Within a durable run its
// effects are recorded in that run's history, so that a replay does not make them twice.

import { createHash, randomUUID } from 'node:crypto';
import { type Actor, ChildRunIds, RestartRun } from '../context/index.ts';
import type { Identity } from '../../identity/index.ts';
import { type Answer, Fenced, keptAnswer, type Step, type UnitOfWork, type Write } from '../transactions/index.ts';
import type { Frame, WireError } from '../../stdlib/isolate/index.ts';
import type { OpenRun, RunObserver, RunRequest } from '../../sandbox/index.ts';
import { apiError, isApiError } from '../../model/errors/index.ts';
import { isRetryable, retryUntilAvailable } from '../../platform/mongo/index.ts';
import { fromWireError, toWireError } from './wire-error.ts';
import { whenAdmitted } from './admission.ts';
import { digestOf, isRepeatable, RunHistory } from './history.ts';
import { Messages } from './messages.ts';
import { callsAt } from './call-sites.ts';
import { checkpointSite, Checkpoints } from './checkpoints.ts';
import { type Given, RunRecorder } from './run-recorder.ts';
import { describe, locate } from './error-location.ts';
import { isolateLimits, mostCalls, type RunLimits } from './run-limits.ts';
import type { RunError, RunHost } from './types.ts';
import type { Executable } from '../programs/index.ts';

export interface DirectCall {
  readonly executable: Pick<Executable, 'resource' | 'name' | 'service'> & Partial<Pick<Executable, 'map' | 'program'>>;
  /** The program, or the name of a procedure that the sandbox resolves itself. */
  readonly body: Pick<RunRequest, 'program' | 'procedure' | 'entry'>;
  readonly argsJson: string;
  /** Indexes of the arguments that are event objects (without `newValue`). */
  readonly eventArgs?: number[];
  readonly namedJson?: string | null;
  /** Set by EXECUTE: an empty array, or one with the key of the partition (inner JSON, parsed). */
  readonly executed?: RunRequest['opts']['executed'];
  /** Whether another node has called it, to which no Sequence inside a value can go. */
  readonly toNode?: boolean;
  readonly identity: Identity;
  /** The calling context: its chain continues, and its history holds the effects. */
  readonly caller: Pick<Actor, 'chain' | 'childRunIds' | 'depth' | 'within' | 'headers' | 'event' | 'state' | 'signal'>;
  /** CPU time of this run, where it is less than that of any run. */
  readonly cpuTimeMs?: number;
  /** Time until the run is ended, from now on: its caller waits no longer. */
  readonly deadlineMs?: number;
  /** Whether an escaping error is kept as a snapshot (language.md H4); by the outermost run only where programs that call it fail with it. */
  readonly snapshot: 'always' | 'outermost' | 'never';
}

/** Runs it. Resolves to the value's inner JSON. @throws CascadeError that escaped from the program, after it was recorded */
export function runDirect(host: RunHost, call: DirectCall): Promise<string> {
  return new Promise((resolve, reject) => new DirectRun(host, call, resolve, reject).start());
}

/** Whether there is nothing to store, as often for a run without a history. */
const isNothing = ({ writes, events, steps, logs }: UnitOfWork): boolean =>
  writes.length === 0 && events.length === 0 && !steps?.length && !logs?.length;

class DirectRun implements RunObserver {
  readonly #host: RunHost;
  readonly #call: DirectCall;
  readonly #resolve: (valueJson: string) => void;
  readonly #reject: (error: unknown) => void;
  readonly #id: string;
  /** Whether effects are recorded under its id. */
  readonly #recorded: boolean;
  readonly #limits: RunLimits;
  readonly #history: RunHistory;
  readonly #parts = new Checkpoints();
  readonly #messages: Messages;
  readonly #startedAt: Date;
  readonly #recorder = new RunRecorder();
  /** Ends the runs within this one, where it can end before them; null: it cannot. */
  readonly #ending: AbortController | null;
  #open: OpenRun | null = null;
  #deadline: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(host: RunHost, call: DirectCall, resolve: (valueJson: string) => void, reject: (error: unknown) => void) {
    this.#host = host;
    this.#call = call;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#recorded = call.caller.childRunIds !== null;
    this.#ending = call.caller.signal || call.deadlineMs !== undefined ? new AbortController() : null;
    this.#limits = host.limits();
    this.#id = call.caller.childRunIds === null ? randomUUID() : `${call.caller.childRunIds.next()}/${call.executable.name}`;
    this.#messages = new Messages(this.#id, call.executable.resource, call.identity.username, host.clock);
    const stepStore = call.caller.childRunIds?.stepStore;
    const steps = stepStore ? stepStore.taken(this.#id) : this.#recorded ? host.takeRecorded(this.#id) : [];
    this.#history = new RunHistory(steps);
    for (const step of steps) this.#parts.add(step);
    this.#startedAt = steps[0]?.startedAt ?? this.#now();
  }

  start(): void {
    const most = mostCalls(this.#limits);
    // Each run on the stack is held until those within it have ended: without a bound a rule that sets itself going would fill the memory.
    if (this.#call.caller.depth >= most)
      return this.fail(toWireError(apiError('cascade.execution.depth', this.#call.executable.resource, most)));
    this.#host.executionTimes.begin(this.#expire, this.#limits.executionTimeMs);
    const { deadlineMs, caller } = this.#call;
    const { signal } = caller;
    if (deadlineMs !== undefined) this.#deadline = setTimeout(() => this.#expire(`${deadlineMs} ms`), deadlineMs);
    if (signal?.aborted) return this.#leave();
    signal?.addEventListener('abort', this.#leave, { once: true });
    whenAdmitted(
      this.#host,
      this.#call.identity,
      () => this.#go(),
      (error) => (isRetryable(error) ? this.#giveUp(error) : this.fail(toWireError(error))),
    );
  }

  #go(): void {
    if (this.#isOver) return; // it ended while its rights were being read
    const given = this.#call.cpuTimeMs ?? Number.POSITIVE_INFINITY;
    const cpuTimeMs = Math.min(given, this.#limits.cpuTimeMs ?? Number.POSITIVE_INFINITY);
    const { opts, ...rest } = this.#given();
    const { at, seed, ...lasting } = opts;
    this.#open = this.#host.sandbox.start({
      ...rest,
      at,
      seed,
      opts: lasting,
      ...(Number.isFinite(cpuTimeMs) && { cpuTimeMs }),
      observer: this,
    });
  }

  #given(): Given {
    const { executable, identity, caller, eventArgs, executed, toNode } = this.#call;
    return {
      ...this.#call.body,
      id: this.#id,
      namespace: this.#host.namespace,
      argsJson: this.#call.argsJson,
      namedJson: this.#call.namedJson ?? null,
      opts: {
        at: this.#startedAt.getTime(),
        seed: createHash('sha256').update(this.#id).digest('hex'),
        level: this.#host.logLevel(executable.resource),
        namespace: this.#host.namespace,
        username: identity.username,
        resource: executable.resource,
        service: executable.service,
        depth: this.#call.body.procedure === undefined ? caller.depth + 1 : caller.depth, // the isolate counts a procedure itself
        ...isolateLimits(this.#limits),
        ...(eventArgs && { eventArgs }),
        ...(executed && { executed }),
        ...(toNode && { toNode }),
      },
    };
  }

  op(site: string, nth: number, kind: string, payloadJson: string): void {
    this.#recorder.asked(site, nth, kind, payloadJson);
    const known = this.#history.answerTo(site, nth, () => digestOf(kind, payloadJson));
    if (known) this.#answer(known.answer, known.at);
    else void this.#perform(site, nth, kind, payloadJson);
  }

  /** Ends the run: it has been open for too long (language.md 10). */
  readonly #expire = (limit: string): void => {
    if (this.#open) this.#host.sandbox.drop(this.#open);
    this.#ending?.abort();
    this.fail({ ...toWireError(apiError('cascade.execution.timeout', this.#call.executable.resource, limit)), frames: [] });
  };

  readonly #leave = (): void => {
    const reason: unknown = this.#call.caller.signal?.reason;
    if (!(reason instanceof Fenced)) return this.#expire('its caller has gone');
    this.#ending?.abort(reason);
    this.#giveUp(reason); // its namespace is closed here, which is no failure of it
  };

  log(k: number, level: string, text: string): void {
    this.#messages.add(k, level, text);
  }

  done(valueJson: string): void {
    this.#note(false);
    this.#settle({ writes: this.#kept(null), events: [] }).then(() => this.#resolve(valueJson), this.#reject);
  }

  fail(failure: WireError & { frames?: readonly Frame[] }): void {
    this.#note(true);
    const escaped = fromWireError(failure);
    // The program's own error is the answer, also where no record of it can be kept.
    this.#settle(this.#recordOf(failure)).then(
      () => this.#reject(escaped),
      (error) => {
        if (isRetryable(error) || error instanceof Fenced || error instanceof RestartRun) return this.#reject(error);
        this.#host.log.error({ err: error, run: this.#id }, 'what a run leaves at its end could not be stored');
        this.#reject(escaped);
      },
    );
  }

  #recordOf(failure: WireError & { frames?: readonly Frame[] }): Pick<UnitOfWork, 'writes' | 'events'> {
    try {
      const located = locate(failure, this.#call.executable, this.#host);
      this.#messages.append('ERROR', describe(located));
      const actor = this.#actor('', 0, this.#now(), { committed: false });
      const unit = this.#isToTell
        ? this.#host.failure(this.#call.executable.resource, this.#messages.invocation, located, actor)
        : { writes: [], events: [] };
      return { ...unit, writes: [...unit.writes, ...this.#kept(located)] };
    } catch (error) {
      this.#host.log.error({ err: error, run: this.#id }, 'what a run leaves at its end could not be told');
      return { writes: [], events: [] };
    }
  }

  get #isToTell(): boolean {
    const { snapshot, caller } = this.#call;
    return snapshot === 'always' || (snapshot === 'outermost' && caller.state === undefined);
  }

  /** Counts for the error breaker, unless a program has called it. */
  #note(hasFailed: boolean): void {
    const { executable, snapshot } = this.#call;
    if (snapshot !== 'never') this.#host.errorBreaker.ended(executable.resource, hasFailed, this.#limits.errorBreaker);
  }

  #now(): Date {
    return new Date(this.#host.clock.now());
  }

  async #perform(site: string, nth: number, kind: string, payloadJson: string): Promise<void> {
    const at = this.#now();
    const state = { committed: false };
    const request = this.#recorded ? digestOf(kind, payloadJson) : '';
    const isOfRun = this.#call.caller.event !== undefined;
    let answer: Answer;
    try {
      // As part of a run the statement was acknowledged: it is retried until the store is back. A client gets an error instead.
      answer = await retryUntilAvailable(() => this.#host.perform(kind, payloadJson, this.#actor(site, nth, at, state, request)), {
        isRetried: (error) => isOfRun && isRetryable(error),
      });
    } catch (error) {
      // The next owner replays the run that it is part of. What a client asked for ends here, whatever the program would make of an error.
      if (error instanceof Fenced) return isOfRun || this.#isOver ? undefined : this.#giveUp(error);
      if (isOfRun && error instanceof RestartRun) return this.#giveUp(error);
      if (!isApiError(error) && !(error instanceof RestartRun))
        this.#host.log.error({ err: error, resource: this.#call.executable.resource }, 'a request of a program failed unexpectedly');
      answer = { error: toWireError(error) };
    } finally {
      if (this.#isOver) this.#host.release(this.#id); // it has ended meanwhile: nobody else would give back what this took
    }
    if (!state.committed && this.#recorded && isRepeatable(kind, answer)) this.#history.add({ site, nth, at, answer, request });
    this.#answer(answer, at);
  }

  /** Ends it without a record: who has called it starts again, or is told to. */
  #giveUp(reason: unknown): void {
    this.#unwatch();
    if (this.#open) this.#host.sandbox.drop(this.#open);
    this.#host.release(this.#id);
    this.#reject(reason);
  }

  #unwatch(): void {
    this.#isOver = true;
    this.#host.executionTimes.end(this.#expire);
    if (this.#deadline) clearTimeout(this.#deadline);
    this.#call.caller.signal?.removeEventListener('abort', this.#leave);
  }

  #answer(answer: Answer, at: Date): void {
    this.#recorder.answered(answer, at.getTime());
    if (this.#open) this.#host.sandbox.answer(this.#open, answer, at.getTime());
  }

  /** The writes that keep the recording; none when it is too large or not wanted. */
  #kept(error: RunError | null): Write[] {
    const { executable, snapshot } = this.#call;
    if (snapshot === 'never' || (error === null && !this.#host.isTraced(executable.resource))) return [];
    const facts = { invocation: this.#messages.invocation, executable, event: null, given: this.#given() };
    const recording = this.#recorder.recording(facts, error);
    return recording ? this.#host.record(recording) : [];
  }

  #actor(site: string, nth: number, at: Date, state: { committed: boolean }, request = ''): Actor {
    const { identity, caller } = this.#call;
    let parts = 0;
    return {
      identity,
      clock: this.#host.clock,
      chain: caller.chain,
      ...(caller.event && { event: caller.event }),
      readSet: null,
      childRunIds: this.#recorded ? new ChildRunIds(`${this.#id}/${site}.${nth}`, caller.childRunIds?.stepStore) : null,
      depth: caller.depth + 1 + callsAt(site),
      within: caller.within,
      ...(this.#ending && { signal: this.#ending.signal }),
      state: { run: this.#id, within: caller.state, keep: () => undefined }, // a direct run does not restart
      headers: caller.headers,
      checkpoints: this.#parts.of(site, nth),
      commit: async (unit, answer, part) => {
        const last = answer !== undefined;
        const step: Step = {
          run: this.#id,
          site: last ? site : part ? checkpointSite(site, part.number) : `${site}~${parts++}`,
          nth,
          at,
          startedAt: this.#startedAt,
          answer: answer ? keptAnswer(answer) : { ok: part?.note ?? 'null' },
          request,
          reads: this.#history.recent,
        };
        const logs = this.#messages.waiting;
        const whole = this.#withStep(unit, step, [...(unit.logs ?? []), ...logs]);
        const starts = unit.events.some((event) => event.runs.length > 0);
        const commit = () => this.#host.committer.submit(whole, this.#recorded || starts);
        if (!isNothing(whole)) await (starts ? this.#host.backpressure.pass(commit) : commit());
        this.#messages.stored(logs);
        caller.within?.stored(unit.writes);
        caller.childRunIds?.stepStore?.stored?.(step);
        if (this.#recorded) this.#history.committed(step);
        if (last) state.committed = true;
      },
    };
  }

  #withStep(unit: UnitOfWork, step: Step, logs: UnitOfWork['logs']): UnitOfWork {
    const kept = this.#call.caller.childRunIds?.stepStore?.write?.(step);
    if (kept) return { ...unit, writes: [...unit.writes, kept], logs };
    return this.#recorded ? { ...unit, steps: [step], logs } : { ...unit, logs };
  }

  /** Stores the rest before the caller gets the result. */
  async #settle(unit: Pick<UnitOfWork, 'writes' | 'events'>): Promise<void> {
    this.#unwatch();
    this.#host.release(this.#id);
    const logs = this.#messages.waiting;
    if (logs.length === 0 && unit.writes.length === 0 && unit.events.length === 0) return;
    await this.#host.committer.submit({ ...unit, logs }, true);
    this.#messages.stored(logs);
  }
}
