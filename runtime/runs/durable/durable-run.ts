/* oxlint-disable max-lines -- the steps of one run share the state that a replay rebuilds */
// A run of a WHEN rule, which ends only with its completion mark in the journal. Effects are recorded with their commits, so that a replay
// after a crash is answered from the history and makes only what is missing; a lost race restarts it with fresh reads (language.md U7,
// integrations.md 12).

import type { Long } from 'mongodb';
import {
  type Actor,
  ChildRunIds,
  type Initiator,
  RestartRun,
  type StepStore,
  type Since,
  sinceOf,
  type Stage,
} from '../../context/index.ts';
import type { Identity } from '../../../identity/index.ts';
import {
  type Answer,
  type CausalChain,
  Fenced,
  keptAnswer,
  keyOf,
  Pending,
  type RunId,
  runIdOf,
  type RunReference,
  type Step,
  type StoredEvent,
  type UnitOfWork,
  VersionConflict,
  type Write,
} from '../../transactions/index.ts';
import type { Frame, WireError } from '../../../stdlib/isolate/index.ts';
import { Backoff, isRetryable } from '../../../platform/mongo/index.ts';
import { toWireError } from '../wire-error.ts';
import { apiError, type CascadeError, isApiError } from '../../../model/errors/index.ts';
import type { OpenRun, RunObserver } from '../../../sandbox/index.ts';
import { whenAdmitted } from '../admission.ts';
import { AttemptReads, type ReadingRun } from './attempt-reads.ts';
import { Attempts } from './attempts.ts';
import { choose } from '../decision.ts';
import { digestOf, isRepeatable, type Known, MOST_FROM_OUTSIDE, RunHistory, type Seen, seenIn, seenText } from '../history.ts';
import { Messages } from '../messages.ts';
import { callsAt } from '../call-sites.ts';
import { checkpointSite, Checkpoints } from '../checkpoints.ts';
import { type Given, RunRecorder } from '../run-recorder.ts';
import { RequestReadSet } from './request-read-set.ts';
import { RunInput } from './run-input.ts';
import { describe, locate } from '../error-location.ts';
import type { RunLimits } from '../run-limits.ts';
import type { RunError, RunHost } from '../types.ts';
import type { Executable } from '../../programs/index.ts';

/** Rule names of a chain that its events carry: enough to recognize a cycle. */
const NAMES_KEPT = 20;
/** The site under which the choice of the version is recorded. */
const CHOICE = 'version';

export class DurableRun implements RunObserver, ReadingRun, StepStore {
  readonly id: string;
  readonly #host: RunHost;
  readonly #event: StoredEvent;
  readonly #reference: RunReference;
  /** The version of the rule that runs. */
  #executable: Executable;
  readonly #ended: () => void;
  #messages: Messages;
  readonly #history: RunHistory;
  readonly #reads: AttemptReads;
  readonly #parts = new Checkpoints();
  /** Recorded steps of BEFORE rules and procedures that its statements have started; null: none yet. */
  #children: Map<RunId, readonly Step[]> | null = null;
  #startedAt: Date;
  readonly #limits: RunLimits;
  readonly #attempts = new Attempts();
  readonly #input: RunInput;
  /** The present attempt, in the sandbox. */
  #open: OpenRun | null = null;
  readonly #recorder = new RunRecorder();
  /** Null: nothing was retried yet. */
  #backoff: Backoff | null = null;
  #isChosen = false;
  #hasFailed = false;
  #hasEnded = false;
  /** Its error breaker is open. */
  #isSkipped = false;
  readonly #beganMs = performance.now();
  /** Origin of its stage times; undefined: its event was recovered from another process. */
  readonly since: Since | undefined;

  constructor(host: RunHost, event: StoredEvent, executable: Executable, reference: RunReference, ended: () => void) {
    this.#host = host;
    this.#event = event;
    this.#executable = executable;
    this.#limits = host.limits();
    this.#input = new RunInput(host, event, reference, this.#limits);
    this.since = sinceOf(event, reference.rule);
    this.#reference = reference;
    this.#ended = ended;
    this.id = runIdOf(event, executable.name);
    this.#messages = this.#newMessages();
    const steps = host.takeRecorded(this.id);
    this.#history = new RunHistory(steps);
    for (const step of steps) this.#parts.add(step);
    this.#startedAt = steps[0]?.startedAt ?? this.#now();
    this.#reads = new AttemptReads(this, host.contention);
  }

  get ruleName(): string {
    return this.#executable.name;
  }

  get holdsLocks(): boolean {
    return this.#host.holdsLocks(this.id);
  }

  get isTraced(): boolean {
    return this.#host.isTraced(this.#executable.resource);
  }

  start(): void {
    const turn = this.#host.turn?.();
    if (turn) void turn.then(() => this.#startNow());
    else this.#startNow();
  }

  #startNow(): void {
    this.#reached('run_begun');
    this.#host.executionTimes.begin(this.#expire, this.#limits.executionTimeMs);
    // A run that has effects already is completed, whatever the breaker says.
    const restMs = this.#history.isEmpty ? this.#host.errorBreaker.restMs(this.#executable.resource, this.#limits.errorBreaker) : 0;
    if (restMs === 0) return this.#admit();
    this.#isSkipped = true;
    this.fail(toWireError(apiError('cascade.execution.suspended', this.#executable.resource)));
  }

  #admit(): void {
    const attempt = this.#attempts.present;
    whenAdmitted(
      this.#host,
      this.#identity,
      () => {
        if (attempt === this.#attempts.present) this.#attemptNow();
      },
      (error) => {
        if (attempt !== this.#attempts.present) return;
        if (isRetryable(error))
          void this.#pause().then(() => {
            if (attempt === this.#attempts.present) this.#admit();
          });
        else this.fail(this.#asWire(error));
      },
    );
  }

  #attemptNow(): void {
    if (this.#reference.asks && !this.#isChosen) this.#attempts.track(this.#choose(this.#attempts.present));
    else this.#begin();
  }

  #begin(): void {
    const at = this.#startedAt.getTime();
    const input = this.#input.of(this.#executable);
    const alone = this.#attempts.areAlone && { alone: true };
    this.#open = this.#host.sandbox.start({ id: this.#attemptId, ...input, at, seed: this.id, observer: this, ...alone });
  }

  #given(): Given {
    const { event, ...input } = this.#input.of(this.#executable);
    const kept = event && { event: { key: event.key, binds: event.binds, json: event.json } };
    return { id: this.#attemptId, ...input, ...kept, opts: { ...input.opts, at: this.#startedAt.getTime(), seed: this.id } };
  }

  // ------------------------------------------------------------ whether it runs
  /** Chooses the version that runs, if any: recorded, so that a replay continues with the same one. */
  async #choose(attempt: number): Promise<void> {
    const actor = this.#actor({ site: CHOICE, nth: 0 });
    const kept = this.#history.answerTo(CHOICE, 0, () => '')?.answer;
    let chosen: RunReference | null;
    try {
      chosen = kept
        ? this.#version(JSON.parse((kept as { ok: string }).ok) as string | null)
        : await choose(this.#host, this.#reference, this.#input.held, actor);
      if (!kept) await actor.commit({ writes: [], events: [] }, { ok: JSON.stringify(chosen?.rule ?? null) });
      if (!chosen) await this.#host.declined(this.#actor({ site: CHOICE, nth: 1 }));
    } catch (error) {
      if (error instanceof Fenced) return; // the next owner replays the run
      if (!isRetryable(error) && !(error instanceof RestartRun)) return this.fail(this.#asWire(error));
      await this.#pause();
      return attempt === this.#attempts.present ? this.#choose(attempt) : undefined;
    }
    if (attempt !== this.#attempts.present) return;
    if (!chosen) return this.done();
    const executable = this.#host.executable(chosen.rule, chosen.program);
    if (!executable) {
      this.#host.lost(this.#event, this.#executable.name);
      this.#hasFailed = true;
      return this.#end();
    }
    this.#isChosen = true;
    this.#executable = executable;
    this.#messages = this.#newMessages();
    this.#begin();
  }

  #version(rule: string | null): RunReference | null {
    let one: RunReference | null = this.#reference;
    while (one && one.rule !== rule) one = one.asks?.next ?? null;
    return one;
  }

  #newMessages(): Messages {
    return new Messages(this.id, this.#executable.resource, this.#identity.username, this.#host.clock);
  }

  op(site: string, nth: number, kind: string, payloadJson: string, isLast: boolean): void {
    const tail = isLast && !this.isTraced; // a traced run is recorded when it has ended
    this.#recorder.asked(site, nth, kind, payloadJson);
    const known = this.#history.answerTo(site, nth, () => digestOf(kind, payloadJson));
    if (known) this.#repeat(known);
    else if (!(tail && this.#endBy(site, nth, kind, payloadJson)))
      this.#attempts.track(this.#perform(site, nth, kind, payloadJson, tail, this.#attempts.present));
  }

  log(k: number, level: string, text: string): void {
    this.#messages.add(k, level, text);
  }

  done(): void {
    if (!this.#reads.hasFollowed) this.#done();
    else this.#whenStanding(() => this.#done());
  }

  /** Continues when the pending changes are stored that the decision was based on. */
  #whenStanding(then: () => void): void {
    const attempt = this.#attempts.present;
    this.#attempts.began();
    this.#reads.standing().then(
      () => {
        this.#attempts.settled();
        if (attempt === this.#attempts.present) then();
      },
      (error: unknown) => {
        this.#attempts.settled();
        if (attempt === this.#attempts.present && error instanceof RestartRun) this.#again(error.contended, error.missed);
      },
    );
  }

  #done(): void {
    if (this.#messages.waiting.length === 0 && !this.isTraced) {
      this.#host.committer.markDone(this.id);
      this.#end();
    } else void this.#close({ writes: this.isTraced ? this.#recorded(null) : [], events: [] });
  }

  fail(error: WireError & { frames?: readonly Frame[]; poison?: boolean }): void {
    if (this.#hasEnded) return;
    if (!this.#reads.hasFollowed) this.#attempts.end(() => this.#failed(error));
    else this.#whenStanding(() => this.#attempts.end(() => this.#failed(error)));
  }

  /** Its isolate is gone and its record is too long to be repeated there: it restarts from its history. */
  lost(): void {
    this.#attempts.lostIsolate();
    this.#attempts.end(() => this.#restart(null));
  }

  /** Ends the run: it has been open for too long (language.md 10). */
  readonly #expire = (limit: string): void => this.#endBeyond(apiError('cascade.execution.timeout', this.#executable.resource, limit));

  /** Ends the run, wherever it is, for a limit that the service itself has found exceeded. */
  #endBeyond(error: CascadeError): void {
    if (this.#open) this.#host.sandbox.drop(this.#open);
    this.#host.release(this.id); // it may wait for a lock
    this.#host.contention.leave(this.id);
    this.#attempts.end(() => this.#giveUp(toWireError(error), false));
  }

  #failed(error: WireError & { frames?: readonly Frame[]; poison?: boolean }): void {
    const violatesLimit = isLimitViolation(error);
    if (violatesLimit && !error.poison && this.#attempts.violatedLimit()) return this.#retryIsolated(error);
    this.#giveUp(error, violatesLimit);
  }

  /** @param isPoison the event is given up for this rule, since its runs harm others */
  #giveUp(error: WireError & { frames?: readonly Frame[] }, isPoison: boolean): void {
    this.#hasFailed = true;
    const located = locate(error, this.#executable, this.#host);
    this.#messages.append('ERROR', describe(located));
    void this.#close(this.#leftBy(located, isPoison), isPoison);
  }

  /** What the failure leaves in the store; nothing where that cannot be told, since the run ends all the same. */
  #leftBy(located: RunError, isPoison: boolean): Pick<UnitOfWork, 'writes' | 'events'> {
    try {
      const failure = this.#host.failure(this.#executable.resource, this.#messages.invocation, located, this.#actor({ site: '', nth: 0 }));
      if (!isPoison) return { writes: [...failure.writes, ...this.#recorded(located)], events: failure.events };
      const dead = this.#host.poisoned(this.#event, this.#executable.resource, located);
      return { writes: [...failure.writes, ...dead.writes], events: [...failure.events, ...dead.events] };
    } catch (error) {
      this.#host.log.error({ err: error, run: this.id }, 'what a run leaves at its end could not be told');
      return { writes: [], events: [] };
    }
  }

  // ------------------------------------------------------------ StepStore: its children restart with it
  taken(run: RunId): readonly Step[] {
    const known = this.#children?.get(run);
    if (known) return known;
    const steps = this.#host.takeRecorded(run);
    if (steps.length > 0) (this.#children ??= new Map()).set(run, steps);
    return steps;
  }

  stored(step: Step): void {
    const children = (this.#children ??= new Map<RunId, readonly Step[]>());
    children.set(step.run, [...(children.get(step.run) ?? []), step]);
  }

  // ------------------------------------------------------------ inside
  get #initiator(): Initiator {
    return { identity: this.#identity, clock: this.#host.clock, chain: this.#chain, since: this.since };
  }

  #reached(stage: Stage): void {
    if (this.since) this.#host.reached?.(this.#reference.rule, stage, performance.now() - this.since.fromMs);
  }

  get #chain(): CausalChain {
    const { depth, via = [], ...rest } = this.#event.chain;
    return { ...rest, depth: depth + 1, via: [...via.slice(1 - NAMES_KEPT), this.#executable.name] };
  }

  /** The writes that keep the recording; none when it is too large. */
  #recorded(error: RunError | null): Write[] {
    const facts = { invocation: this.#messages.invocation, executable: this.#executable, event: this.#event, given: this.#given() };
    const recording = this.#recorder.recording(facts, error);
    return recording ? this.#host.record(recording) : [];
  }

  get #identity(): Identity {
    return this.#input.identityOf(this.#executable);
  }

  #now(): Date {
    return new Date(this.#host.clock.now());
  }

  get #attemptId(): string {
    return this.#attempts.present === 0 ? this.id : `${this.id}#${this.#attempts.present}`;
  }

  /** Answers a request from the history. */
  #repeat({ answer, at, seen, stale }: Known): void {
    if (stale !== null) this.#attempts.track(this.#show(stale, answer, at, this.#attempts.present));
    else {
      for (const [instance, version] of seen) this.#reads.remember(instance, version);
      this.#answer(answer, at);
    }
  }

  /** Answers a change of this run with the present state of the instance, which another run has changed since. */
  async #show(instance: string, answer: Answer, at: Date, attempt: number): Promise<void> {
    try {
      await this.#reads.standing();
      const present = await this.#host.present(instance, this.#actor({ site: '', nth: 0 }));
      if (attempt !== this.#attempts.present) return;
      // What it has read in this attempt must be what its own change shows, or an update by that read would overwrite another's change.
      if (present && this.#reads.hasReadOther(instance, present.version)) throw new RestartRun(instance);
      if (present) this.#reads.remember(instance, present.version);
      this.#answer(present ? { ok: present.json } : answer, at);
    } catch (error) {
      if (attempt !== this.#attempts.present || error instanceof Fenced) return;
      if (error instanceof RestartRun) return this.#again(error.contended, error.missed);
      if (!isRetryable(error)) return this.#answer({ error: this.#asWire(error) }, at);
      await this.#pause();
      if (attempt === this.#attempts.present) await this.#show(instance, answer, at, attempt);
    }
  }

  async #perform(site: string, nth: number, kind: string, payloadJson: string, tail: boolean, attempt: number): Promise<void> {
    if (attempt !== this.#attempts.present) return;
    const at = this.#now();
    const state = { committed: false };
    const request = digestOf(kind, payloadJson);
    const readSet = new RequestReadSet(this.#reads, () => attempt === this.#attempts.present);
    let answer: Answer;
    for (const [key, version] of seenIn(this.#parts.seenOf(site, nth))) this.#reads.remember(key, version);
    try {
      if (!FOLLOWING.has(kind)) await this.#reads.standing();
      if (kind === 'update' && this.#host.contention.isEngaged(this.id)) await this.#host.contention.turnOf(this.id);
      answer = await this.#host.perform(kind, payloadJson, this.#actor({ site, nth, tail, at, state, request, readSet }));
    } catch (error) {
      if (attempt !== this.#attempts.present) return;
      if (error instanceof VersionConflict) return this.#again(`${error.collection}/${error.id.toHexString()}`);
      if (error instanceof RestartRun) return this.#again(error.contended, error.missed);
      if (error instanceof Fenced) return; // the next owner replays the run
      if (isRetryable(error)) {
        // Acknowledged work is retried until the store is back.
        await this.#pause();
        return this.#perform(site, nth, kind, payloadJson, tail, attempt);
      }
      answer = { error: this.#asWire(error) };
    }
    if (this.#attempts.areOver) return this.#leave();
    if (attempt !== this.#attempts.present) return;
    if (!state.committed && isRepeatable(kind, answer)) {
      const seen = readSet.text;
      this.#history.add({ site, nth, at, answer, request, ...(seen !== undefined && { seen }) });
    }
    this.#answer(answer, at);
  }

  /**
   * Commits a tail effect together with the end of the run, where the change is known synchronously, as mostly. Where that is impossible,
   * or fails, `#perform` does it and reports the error.
   */
  #endBy(site: string, nth: number, kind: string, payloadJson: string): boolean {
    let change: UnitOfWork | null;
    try {
      change = this.#host.changeAtOnce(kind, payloadJson, this.#initiator);
    } catch (error) {
      if (!isApiError(error))
        this.#host.log.error({ err: error, resource: this.#executable.resource }, 'an effect could not be told at once');
      return false;
    }
    if (!change || (startsRuns(change) && !this.#host.backpressure.isLow)) return false;
    if (this.#reads.hasFollowed) return false;
    const { writes } = change;
    const logs = this.#messages.waiting;
    const stored = (): void => {
      this.#reached('effect_committed');
      this.#messages.stored(logs);
      if (this.#host.contention.isEngaged(this.id)) this.#host.contention.changed(writes.map(keyOf), this.id);
      this.#attempts.over();
      this.#leave();
      this.#attempts.settled();
    };
    const attempt = this.#attempts.present;
    const failed = (error: unknown): void => {
      if (!(error instanceof Fenced)) this.#attempts.track(this.#perform(site, nth, kind, payloadJson, true, attempt));
      this.#attempts.settled();
    };
    this.#attempts.began();
    this.#host.committer.enqueue({ writes, events: change.events, done: [this.id], logs }, true, stored, failed);
    return true;
  }

  /** The end is stored: the isolate drops the run. */
  #leave(): void {
    if (this.#open) this.#host.sandbox.drop(this.#open);
    this.#end();
  }

  #asWire(error: unknown): WireError {
    if (!isApiError(error))
      this.#host.log.error({ err: error, resource: this.#executable.resource }, 'a request of a rule failed unexpectedly');
    return toWireError(error);
  }

  #actor({
    site,
    nth,
    tail = false,
    at = this.#now(),
    state = { committed: false },
    request = '',
    readSet = new RequestReadSet(this.#reads, () => true),
  }: Asked): Actor {
    let parts = 0;
    return {
      identity: this.#identity,
      clock: this.#host.clock,
      chain: this.#chain,
      since: this.since,
      event: { event: this.#event, rule: this.#reference.rule },
      readSet,
      childRunIds: new ChildRunIds(`${this.id}/${site}.${nth}`, this),
      state: {
        run: this.id,
        keep: (answer) => {
          if (this.#history.keep(site, nth, { request, answer, at })) return;
          this.#endBeyond(apiError('cascade.execution.memory', this.#executable.resource, MOST_FROM_OUTSIDE));
        },
      },
      depth: 1 + callsAt(site),
      checkpoints: this.#parts.of(site, nth),
      commit: async (unit, answer, part) => {
        const last = answer !== undefined;
        const ends = last && tail && !('error' in answer); // a failure is reported by the run before it ends
        const taken = (unit.keysTaken ?? []).map((key) => [key, 1n] as const);
        const seen = seenText(last ? [...shownBy(unit), ...taken, ...seenIn(this.#parts.seenOf(site, nth))] : taken);
        const step: Step = {
          run: this.id,
          site: last ? site : part ? checkpointSite(site, part.number) : `${site}~${parts++}`,
          nth,
          at,
          startedAt: this.#startedAt,
          answer: answer ? keptAnswer(answer) : { ok: part?.note ?? 'null' },
          request,
          ...(seen !== undefined && { seen }),
          reads: this.#history.recent,
        };
        const logs = this.#messages.waiting;
        const change = { ...unit, logs: [...(unit.logs ?? []), ...logs] };
        const whole = { ...change, ...(ends ? { done: [this.id] } : { steps: [step] }), after: this.#reads.unstored() };
        const commit = () => this.#submit(whole);
        await (startsRuns(unit) ? this.#host.backpressure.pass(commit) : commit());
        if (unit.writes.length > 0 || unit.events.length > 0) this.#reached('effect_committed');
        this.#messages.stored(logs);
        if (this.#host.contention.isEngaged(this.id)) this.#host.contention.changed(unit.writes.map(keyOf), this.id);
        this.#history.committed(step);
        this.#parts.add(step);
        for (const [key, version] of taken) readSet.mark(key, version);
        if (last) state.committed = true;
        if (ends) this.#attempts.over();
      },
    };
  }

  /** Stores a unit. A change of the instance that it has the turn for is what the next run in the queue follows. */
  #submit(unit: UnitOfWork): Promise<void> {
    const { committer, contention } = this.#host;
    if (!contention.isEngaged(this.id)) return committer.submit(unit, true);
    const write = unit.writes.find((one) => one.op === 'replace' && contention.hasTurn(keyOf(one), this.id));
    if (write?.op !== 'replace') return committer.submit(unit, true);
    const version = (write.document['ars_version'] as Long).toBigInt();
    const pending = new Pending(write.collection, write.id, write.document, version);
    const stored = committer.submit({ ...unit, pending }, true);
    contention.pass(keyOf(write), this.id, pending);
    return stored;
  }

  /** Retries it in an isolate of its own: another run may have caused the failure (integrations.md 12.5). */
  #retryIsolated({ code }: WireError): void {
    this.#host.log.warn({ run: this.id, code, tries: this.#attempts.limitViolations }, 'a run did harm and is tried again alone');
    this.#restart(null);
  }

  /** Restarts it in the queue of the contended instance: nobody waits for its requests before its turn. */
  #again(contended: string, missed: string | null = null): void {
    if (this.#open) this.#host.sandbox.drop(this.#open);
    this.#attempts.end(() => {
      if (this.#attempts.areTooMany) return this.#failed(this.#asWire(new Error(`${contended} changed too often`)));
      // A computed change waits in the service, not in the program's turn.
      if (this.#reads.computesAgain(contended)) return this.#restart(contended, missed);
      const { contention } = this.#host;
      // With a lock it queues for the lock instead: no run is in two queues at a time.
      if (this.holdsLocks) contention.leave(this.id);
      else contention.moveTo(contended, this.id);
      contention.lost(this.#executable.name, contended.slice(0, contended.lastIndexOf('/')));
      this.#restart(contended, missed);
    });
  }

  /**
   * Restarts the run from its event; committed effects are answered from the history.
   * @param contended the instance for which it lost a race; null: none
   * @param missed see RestartRun
   */
  #restart(contended: string | null, missed: string | null = null): void {
    this.#history.restart(contended, missed);
    this.#reads.restart();
    this.#messages.restart();
    this.#recorder.restart();
    this.#host.release(this.id);
    if (this.#history.isEmpty) this.#startedAt = this.#now(); // else its requests are to be the same as before
    this.#admit();
  }

  /** Waits before a retry while the store is unavailable. */
  #pause(): Promise<void> {
    return (this.#backoff ??= new Backoff()).pause();
  }

  #answer(answer: Answer, at: Date): void {
    this.#backoff?.reset();
    this.#recorder.answered(answer, at.getTime());
    if (this.#open) this.#host.sandbox.answer(this.#open, answer, at.getTime());
  }

  /** Stores the end of the run with further writes. */
  async #close(unit: Pick<UnitOfWork, 'writes' | 'events'>, isGivenUp = false): Promise<void> {
    this.#host.executionTimes.end(this.#expire); // it has ended, however long the store takes: it must not end once more
    const logs = this.#messages.waiting;
    const store = (settled: readonly Write[]): Promise<void> =>
      this.#host.committer.submit({ ...unit, writes: [...unit.writes, ...settled], done: [this.id], logs }, true);
    try {
      await (isGivenUp ? this.#host.settle(this.#event, this.#reference.rule, store) : store([]));
      this.#messages.stored(logs);
    } catch (error) {
      if (isRetryable(error)) {
        await this.#pause();
        return this.#close(unit, isGivenUp);
      }
      if (!(error instanceof Fenced)) {
        this.#host.log.error({ err: error, run: this.id }, 'what a run leaves at its end could not be stored');
        this.#host.committer.markDone(this.id); // it has ended all the same, and must not be replayed
      }
    }
    this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#host.ran?.(this.#executable.name, this.#hasFailed ? 'failed' : 'done', (performance.now() - this.#beganMs) / 1_000);
    this.#reached('run_ended');
    this.#host.executionTimes.end(this.#expire);
    if (!this.#isSkipped) this.#host.errorBreaker.ended(this.#executable.resource, this.#hasFailed, this.#limits.errorBreaker);
    this.#host.contention.leave(this.id);
    this.#host.release(this.id);
    this.#hasEnded = true;
    this.#ended();
  }
}

/** Requests that may follow pending changes: their effects are stored with these or after them. All others wait. */
const FOLLOWING = new Set(['select', 'insert', 'update']);

const HARM = new Set(['cascade.execution.timeout', 'cascade.execution.memory']);

/** Whether a limit itself ended the run, not an error that a program raised under its code. */
const isLimitViolation = ({ code, status, poison }: WireError & { poison?: boolean }): boolean =>
  poison === true || (HARM.has(code) && status === 429);

/** A request to the host. */
interface Asked {
  readonly site: string;
  readonly nth: number;
  readonly tail?: boolean;
  readonly at?: Date;
  readonly state?: { committed: boolean };
  /** digestOf() */
  readonly request?: string;
  readonly readSet?: RequestReadSet;
}

/** The instances, with their versions, that the answer to a change shows. */
const shownBy = ({ writes }: UnitOfWork): Seen =>
  writes.flatMap((write) => (write.op === 'replace' ? [[keyOf(write), (write.document['ars_version'] as Long).toBigInt()] as const] : []));

const startsRuns = (unit: UnitOfWork): boolean => unit.events.some((event) => event.runs.length > 0);
