/* oxlint-disable max-lines -- the windows of one rule version share indexes that change together */
// A rule over several events: all versions of one name share what they wait for, since they have the same WHEN (language.md V6). What the
// machine decides becomes units of the committer: evaluations that are kept, runs that begin, events that are no longer needed.

import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { CompiledRule, ConditionData, TriggerSpec } from '../../compiler/index.ts';
import type { TaskTracker } from '../../platform/structures/index.ts';
import type { Clock, Timer } from '../../platform/clock/index.ts';
import {
  type Committer,
  type Completion,
  Fenced,
  keyOf,
  type RunId,
  type RunReference,
  type StoredEvent,
  type UnitOfWork,
  type Write,
  writeCompletion,
} from '../transactions/index.ts';
import type { Value } from '../../stdlib/values/index.ts';
import { GivenContext, type RunHost } from '../runs/index.ts';
import type { Executable } from '../programs/index.ts';
import { timed } from '../context/index.ts';
import { retryUntilAvailable } from '../../platform/mongo/index.ts';
import type { Cipher } from '../../model/types/index.ts';
import {
  askedIn,
  byVersionDescending,
  conditionOf,
  type ConditionEnvironment,
  type EvaluationContext,
  withoutAsked,
} from '../triggers/index.ts';
import { type Arrival, asksPrograms, Asking, type Decided, givenBy } from './asking.ts';
import { Correlation } from './correlation.ts';
import { ExpectEvery, ExpectWithin } from './expectations.ts';
import { insertion, type Owner, removal } from './evaluation-store.ts';
import { BindingsContext, EventValues } from './bindings-context.ts';
import { type Bindings, type Evaluation, type MatchedEvent, type Machine, NOTHING, type Outcome, toMatchedEvent } from './types.ts';

/** A version of such a rule, as it comes into force. */
export interface CorrelatedRule {
  readonly compiled: CompiledRule;
  /** The name without its version. */
  readonly baseName: string;
  readonly executable: Executable;
}

export interface CorrelationHost {
  readonly namespace: string;
  readonly clock: Clock;
  readonly committer: Committer;
  readonly conditions: ConditionEnvironment;
  /** What is kept is sealed with it; null while the namespace has no key. */
  readonly cipher: () => Cipher | null;
  readonly log: Logger;
  /** Records an error in a condition of a rule, or that it has too much open. */
  failed(rule: string, error: unknown): void;
  /** Runs what conditions ask programs for. */
  readonly runs: () => RunHost;
  readonly full: (most: number) => Error;
  /** Whether a rule of this program's editor may have an event; absent: all may. */
  readonly mayTake?: (editor: Executable['identity'], path: string, payload: Value, by: string) => boolean;
  readonly mostOpen: number;
  /** How many evaluations end, or move, in one unit. */
  readonly evaluationsAUnit?: number;
}

/** What an event, or the end of an evaluation, leads to: all of it in one unit. */
interface PendingWrite {
  readonly writes: readonly Write[];
  readonly done: readonly RunId[];
  readonly event: StoredEvent | null;
  /** It is stored in the unit of the one before: a restart in between would take the one without the other for something else. */
  readonly isJoined: boolean;
}

/** How long the journal keeps the event of an evaluation before the evaluation moves to a collection of its own. */
const HELD_FOR_MS = 10_000;
/** Evaluations that end, or move, in one unit; and characters of what they complete, beyond which it takes no more. */
const EVALUATIONS_A_UNIT = 1_000;
const LENGTH_A_UNIT = 1_000_000;
/** As many as are reckoned for what is written. */
const BYTES_A_CHARACTER = 4;
const FULL_REPORT_EVERY_MS = 60_000;
const NO_PLACES: Bindings = { places: [], events: [] };

export class VersionGroup {
  readonly owner: Owner;
  /** The triggers that events are matched against. */
  readonly triggers: readonly TriggerSpec[];
  /** What stands for the family among the runs of an event. */
  readonly reference: string;
  readonly #host: CorrelationHost;
  readonly #shape: CompiledRule;
  readonly #versions = new Map<string, CorrelatedRule>();
  /** The youngest first; null when they have changed. */
  #byYouth: readonly CorrelatedRule[] | null = null;
  /** What is to be stored, in the order in which it came about. */
  #backlog: PendingWrite[] = [];
  /** A unit of it is under way: the next one follows when that is stored, as it may build upon it. */
  #isStoring = false;
  readonly #values = new EventValues();
  readonly #busy: TaskTracker;
  /** Programs decide a part of the conditions: then events are taken one after the other. */
  readonly #asking: Asking | null;
  readonly #ending = new AbortController();
  #line: Promise<void> = Promise.resolve();
  #machine: Machine;
  #held: { readonly evaluation: Evaluation; readonly sinceMs: number }[] = [];
  #timer: { readonly timer: Timer; readonly timeMs: number } | null = null;
  #reportedFullMs = Number.NEGATIVE_INFINITY;
  #isEnded = false;
  /** Ended because the service stops: the next owner goes on, so nothing is given up. */
  #isStopped = false;
  /** RULE WHERE of the versions, as compiled for the types that there are. */
  #wheres = new WeakMap<CompiledRule, (context: EvaluationContext) => boolean>();

  constructor(host: CorrelationHost, busy: TaskTracker, { compiled, baseName }: CorrelatedRule) {
    this.#host = host;
    this.#busy = busy;
    this.#shape = compiled;
    this.owner = { rule: baseName, when: whenOf(compiled) };
    this.reference = `~${baseName}`;
    const { constraint } = compiled;
    this.triggers = constraint
      ? compiled.triggers.map((trigger) => ({ ...trigger, condition: both(trigger.condition, constraint) }))
      : compiled.triggers;
    this.#asking = asksPrograms(this.triggers, compiled) ? this.#newAsking() : null;
    this.#machine = this.#newMachine();
  }

  get open(): number {
    return this.#machine.open;
  }

  /** The evaluations in which an event stands. */
  openWith(uuid: string): Evaluation[] {
    return [...this.#machine.evaluations()].filter(({ events }) => events.some((one) => one.uuid === uuid));
  }

  get versions(): ReadonlyMap<string, CorrelatedRule> {
    return this.#versions;
  }

  /** Throws what the WHERE of a version would throw when it is first asked. */
  try({ compiled: { where } }: CorrelatedRule): void {
    if (where) conditionOf(where, this.triggers, this.#host.conditions);
  }

  put(rule: CorrelatedRule): void {
    this.#versions.set(rule.compiled.fullName, rule);
    this.#byYouth = null;
  }

  remove(fullName: string): void {
    this.#versions.delete(fullName);
    this.#byYouth = null;
  }

  /** Whether the editors of all versions may have an event: which version will run is known only when all events are there. */
  mayTake(path: string, payload: Value, by: string): boolean {
    for (const { executable } of this.#versions.values())
      if (this.#host.mayTake?.(executable.identity, path, payload, by) === false) return false;
    return true;
  }

  /** In force from now on, with what was restored. */
  start(): void {
    if (this.#machine.open === 0) this.#enqueue(this.#machine.begin(this.#host.clock.now()), null);
    this.flush();
  }

  /** What has been restored is forgotten. */
  empty(): void {
    this.#machine = this.#newMachine();
  }

  restore(evaluation: Evaluation): void {
    this.#machine.restore(evaluation);
  }

  /** A type has changed: conditions are made anew, what is open stays open. */
  retype(): void {
    const open = [...this.#machine.evaluations()];
    this.#machine = this.#newMachine();
    this.#wheres = new WeakMap();
    for (const evaluation of open) this.#machine.restore(evaluation);
    const since = new Map(this.#held.map(({ evaluation, sinceMs }) => [evaluation.order, sinceMs]));
    this.#held = [...this.#machine.evaluations()]
      .filter(({ storedIn }) => storedIn === 'journal')
      .map((evaluation) => ({ evaluation, sinceMs: since.get(evaluation.order) ?? 0 }));
  }

  /**
   * A committed event that satisfies these triggers. `flush` stores what follows.
   * @param value its value, where it is known
   * @param isReplayed it was taken over
   */
  arrive(event: StoredEvent, places: readonly number[], value: Value | undefined, isReplayed: boolean): void {
    const matched = toMatchedEvent(event, this.triggers[places[0] ?? 0]?.paths);
    if (this.#asking) return this.#arriveAsked(this.#asking, event, matched, places, isReplayed);
    this.#values.expect(matched, value);
    this.#enqueue(this.#machine.arrive(matched, places, isReplayed), matched);
  }

  /** As `arrive`, when programs have told what they are asked: after all that came before, and stored at once. */
  #arriveAsked(asking: Asking, event: StoredEvent, matched: MatchedEvent, places: readonly number[], isReplayed: boolean): void {
    this.#line = this.#line.then(async () => {
      const decided = await this.#decide(asking, { event, matched, places, isReplayed });
      if (this.#isStopped || decided === 'fenced') return;
      // Otherwise a restart would take the event up again, for a rule that has been changed since.
      if (this.#isEnded || !decided) return this.#host.committer.markDone(this.#runFor(matched));
      this.#values.expect(matched);
      const isNeeded = decided.places.length > 0;
      this.#enqueue(isNeeded ? this.#machine.arrive(matched, decided.places, isReplayed, decided.answers) : NOTHING, matched);
      this.flush();
    });
    this.#busy.track(this.#line);
  }

  /** Asks again for as long as only the store is away. @returns null where it cannot be told, or is no longer of interest */
  async #decide(asking: Asking, arrival: Arrival): Promise<Decided | 'fenced' | null> {
    if (this.#isEnded) return null;
    try {
      return await retryUntilAvailable(() => asking.decide(arrival), { isWanted: () => !this.#isEnded });
    } catch (error) {
      if (error instanceof Fenced) return 'fenced';
      if (!this.#isEnded) this.#host.log.error({ err: error, rule: this.owner.rule }, 'what a condition asks for could not be told');
      return null;
    }
  }

  /** Moves what the journal has held for long to the store. */
  spill(): void {
    const until = performance.now() - HELD_FOR_MS;
    const count = this.#held.findIndex(({ sinceMs }) => sinceMs > until);
    const due = this.#held.splice(0, count < 0 ? this.#held.length : count).filter(({ evaluation }) => evaluation.isOpen);
    for (const { evaluation } of due)
      this.#backlog.push({ writes: this.#insertions([evaluation]), done: [this.#runOf(evaluation)], event: null, isJoined: false });
    this.flush();
  }

  /** The rule is changed, deleted or no longer active: nothing is waited for any more (language.md K9). */
  end(): void {
    this.#isEnded = true;
    this.#timer?.timer.cancel();
    for (const one of this.#machine.evaluations()) this.#backlog.push(this.#leave([one], null));
    this.flush();
  }

  /** The service stops: what is open goes on at the next start. */
  stop(): void {
    this.#isStopped = true;
    this.#isEnded = true;
    this.#timer?.timer.cancel();
    this.#ending.abort(new Fenced('the namespace is closed here')); // a program that is asked has no end that could be waited for
  }

  // ------------------------------------------------------------ time
  #arm(): void {
    const dueMs = this.#machine.nextDueMs;
    if (this.#isEnded || dueMs === null || (this.#timer && this.#timer.timeMs <= dueMs)) return;
    this.#timer?.timer.cancel();
    this.#timer = { timeMs: dueMs, timer: this.#host.clock.at(dueMs, () => this.#due()) };
  }

  /** What arrived in time may still be on its way to the store: it comes first. */
  #due(): void {
    const nowMs = this.#host.clock.now();
    this.#timer = null;
    this.#busy.track(
      this.#host.committer.settled().then(async () => {
        await this.#line;
        if (this.#isEnded) return;
        this.#enqueue(this.#machine.expire(nowMs), null);
        this.flush();
      }),
    );
  }

  // ------------------------------------------------------------ what follows
  /** @param cause the event that has arrived; null: time has passed */
  #enqueue({ opened, closed, completed, timedOut, parts }: Outcome, cause: MatchedEvent | null): void {
    const { toStore, isHeld } = this.#keep(opened, cause);
    const from = this.#backlog.length;
    const partsOf = (evaluation: Evaluation): readonly Evaluation[] => parts?.get(evaluation) ?? [];
    const within = parts && new Set([...toStore, ...completed.map(({ evaluation }) => evaluation)].flatMap(partsOf));
    for (const evaluation of closed) if (!within?.has(evaluation)) this.#backlog.push(this.#leave([evaluation], null));
    for (const { evaluation, bindings } of completed)
      this.#backlog.push(this.#leave([evaluation, ...partsOf(evaluation)], this.#completion('main', bindings, cause)));
    for (const evaluation of timedOut) this.#backlog.push(this.#leave([evaluation], this.#completion('timeout', evaluation, null)));
    const alone: Evaluation[] = [];
    for (const evaluation of toStore) {
      if (partsOf(evaluation).length === 0) alone.push(evaluation);
      else {
        const { writes, done } = this.#leave(partsOf(evaluation), null);
        this.#backlog.push({ writes: [...writes, ...this.#insertions([evaluation])], done, event: null, isJoined: false });
      }
    }
    // The end of the event goes with the last of what it led to: with nothing left to do it would be taken for one that came alone.
    const done = cause && !isHeld ? [this.#runFor(cause)] : [];
    if (done.length + alone.length > 0)
      this.#backlog.push({ writes: this.#insertions(alone), done, event: null, isJoined: this.#backlog.length > from });
  }

  /** Evaluations are closed: what becomes of them, and what is left of how they were kept. */
  #leave(evaluations: readonly Evaluation[], event: StoredEvent | null): PendingWrite {
    return {
      writes: evaluations.flatMap((one) => (one.storedIn === 'store' ? removal(this.owner, one) : [])),
      done: evaluations.flatMap((one) => (one.storedIn === 'journal' ? [this.#runOf(one)] : [])),
      event,
      isJoined: false,
    };
  }

  /** Stores what has followed since the last time: units of which each holds together what belongs together, one after another. */
  flush(): void {
    this.#arm();
    if (this.#isStoring || this.#backlog.length === 0) return;
    this.#isStoring = true;
    this.#busy.track(this.#storeAll());
  }

  async #storeAll(): Promise<void> {
    const most = this.#host.evaluationsAUnit ?? EVALUATIONS_A_UNIT;
    while (this.#backlog.length > 0) {
      const backlog = this.#backlog;
      this.#backlog = [];
      for (let from = 0, end = 0; from < backlog.length; from = end) {
        for (let length = 0; end < backlog.length; end++) {
          const next = backlog[end] as PendingWrite;
          if (!next.isJoined && (end - from >= most || length >= LENGTH_A_UNIT)) break;
          length += lengthOf(next);
        }
        await this.#store(backlog.slice(from, end));
      }
    }
    this.#isStoring = false;
  }

  /** What passes is waited for, however long: what comes after is behind it. What the store does not take keeps nothing else from it. */
  async #store(some: readonly PendingWrite[]): Promise<void> {
    const unit = unitOf(some);
    if (unit.writes.length + unit.events.length === 0) return this.#markDone(unit);
    try {
      await retryUntilAvailable(() => this.#host.committer.submit(unit, true));
    } catch (error) {
      if (error instanceof Fenced) return; // another process goes on with it
      const middle = some.findIndex(({ isJoined }, i) => i >= some.length / 2 && !isJoined);
      if (middle > 0) {
        await this.#store(some.slice(0, middle));
        return this.#store(some.slice(middle));
      }
      this.#host.log.error(
        { err: error, rule: this.owner.rule, namespace: this.#host.namespace },
        'what a rule waits for could not be stored',
      );
      this.#markDone(unit);
    }
  }

  #markDone({ done = [] }: UnitOfWork): void {
    for (const run of done) this.#host.committer.markDone(run);
  }

  #insertions(open: readonly Evaluation[]): Write[] {
    for (const one of open) one.storedIn = 'store';
    return open.flatMap((one) => insertion(this.owner, one, this.#host.cipher()));
  }

  /**
   * Sees to it that a restart finds what was opened: by the event itself, whose run stays open in the journal, where the event opened
   * nothing else; by a document otherwise.
   * @returns what is to be stored, and whether the event's run stays open
   */
  #keep(opened: readonly Evaluation[], cause: MatchedEvent | null): { toStore: readonly Evaluation[]; isHeld: boolean } {
    if (opened.length === 0) return { toStore: opened, isHeld: false };
    const open = opened.filter(({ isOpen }) => isOpen);
    const own = cause ? open.filter(({ events }) => events.length === 1 && events[0] === cause) : [];
    const [held] = own;
    if (!held || own.length > 1) return { toStore: open, isHeld: false };
    held.storedIn = 'journal';
    this.#held.push({ evaluation: held, sinceMs: performance.now() });
    return { toStore: open.filter((one) => one !== held), isHeld: true };
  }

  #runFor = ({ uuid }: MatchedEvent): RunId => `${uuid}/${this.reference}/1`;

  #runOf({ events }: Evaluation): RunId {
    const [only] = events;
    if (!only) throw new TypeError('an evaluation without an event is not kept by the journal');
    return this.#runFor(only);
  }

  /** The event by which the chosen version runs, or null when none does. A time-out begins a chain of its own. */
  #completion(entry: Completion['entry'], bindings: Bindings, cause: MatchedEvent | null): StoredEvent | null {
    const shown = this.#machine instanceof ExpectEvery ? NO_PLACES : bindings;
    const context = (): EvaluationContext => new BindingsContext(shown, this.triggers, this.#values, this.#host.namespace);
    const reference = this.#choose(context, entry);
    if (!reference) return null;
    const uuid = uuidOf([
      this.owner.rule,
      entry,
      bindings.events.map((one) => one.uuid),
      bindings.places, // the same events may be complete in two ways at once
      (bindings as Partial<Evaluation>).deadlineMs ?? 0,
    ]);
    const { args, events } = givenBy(shown, this.triggers, this.#shape.variables, this.#host.namespace);
    const event: StoredEvent = {
      uuid,
      path: `/rules/${reference.rule}`,
      value: writeCompletion({ entry, eventArgs: events, argsJson: `[${args.join(',')}]` }),
      at: new Date(this.#host.clock.now()),
      by: cause?.by ?? bindings.events[0]?.by ?? 'system',
      chain: cause ? (cause.chain ?? { root: cause.uuid, depth: 0 }) : { root: uuid, depth: 0 },
      runs: [reference],
    };
    return timed(event, undefined);
  }

  /**
   * The run of a completion that is delivered once more, by the versions of now.
   * @param by who has raised its last event
   * @returns null where none would run, also because the variables are others by now
   */
  again({ entry, eventArgs, argsJson }: Completion, by: string): RunReference | null {
    const args = (JSON.parse(argsJson) as unknown[]).map((arg) => JSON.stringify(arg));
    const { variables } = this.#shape;
    if (args.length !== variables.length) return null;
    const context = new GivenContext(this.triggers, { args, events: eventArgs });
    // The rule may have got another editor since.
    const mayTake = (variable: string): boolean => {
      const value = context.payload(variable);
      const paths = this.triggers.flatMap((trigger) => (trigger.variable === variable ? trigger.paths : []));
      return value === null || paths.some((path) => this.mayTake(path, value, by));
    };
    return variables.every(mayTake) ? this.#choose(() => context, entry) : null;
  }

  /**
   * The youngest version whose RULE WHERE holds now that all variables are bound (language.md V8), and those to try where programs decide.
   */
  #choose(context: () => EvaluationContext, entry: Completion['entry']): RunReference | null {
    this.#byYouth ??= [...this.#versions.values()].sort((a, b) => byVersionDescending(a.compiled, b.compiled));
    const tried: CorrelatedRule[] = [];
    for (const version of this.#byYouth) {
      if (!this.#mayRun(version, context)) continue;
      tried.push(version);
      if (askedIn(version.compiled.where).length === 0) break;
    }
    const { triggers } = this;
    return tried.reduceRight<RunReference | null>((next, { compiled, executable }) => {
      // A version without TIMEOUT is chosen like any other, and then nothing runs.
      const runs = entry === 'main' || compiled.hasTimeout;
      const reference: RunReference = { rule: compiled.fullName, program: executable.program.id, binds: 'arguments' };
      if (askedIn(compiled.where).length === 0) return runs ? reference : null;
      if (!runs && next === null) return null;
      return { ...reference, asks: { triggers, condition: compiled.where, next, ...(!runs && { runsNothing: true }) } };
    }, null);
  }

  /** As far as that can be told without a program. */
  #mayRun({ compiled }: CorrelatedRule, context: () => EvaluationContext): boolean {
    const where = withoutAsked(compiled.where);
    if (!where) return true;
    try {
      return this.#whereOf(compiled, where)(context());
    } catch (error) {
      this.#host.failed(compiled.fullName, error);
      return false;
    }
  }

  #whereOf(compiled: CompiledRule, where: ConditionData): (context: EvaluationContext) => boolean {
    const known = this.#wheres.get(compiled);
    if (known) return known;
    const made = conditionOf(where, this.triggers, this.#host.conditions);
    this.#wheres.set(compiled, made);
    return made;
  }

  #newAsking(): Asking {
    return new Asking({
      runs: this.#host.runs(),
      triggers: this.triggers,
      variables: this.#shape.variables,
      reference: this.reference,
      rule: this.owner.rule,
      machine: () => this.#machine,
      program: () => this.#versions.values().next().value?.executable ?? null,
      signal: this.#ending.signal,
    });
  }

  #newMachine(): Machine {
    const { correlation, expect, fullName } = this.#shape;
    const { conditions, namespace, mostOpen } = this.#host;
    if (expect) return expect.kind === 'every' ? new ExpectEvery(expect.intervalMs) : new ExpectWithin(expect.intervalMs);
    if (!correlation) throw new TypeError(`${fullName} waits for nothing`);
    const context = new BindingsContext(NO_PLACES, this.triggers, this.#values, namespace);
    return new Correlation({
      spec: correlation,
      triggers: this.triggers,
      conditions,
      mostOpen,
      environment: {
        contextOf: (bindings) => {
          context.bindings = bindings;
          return context;
        },
        onError: (error) => this.#host.failed(this.#anyName, error),
        onFull: () => this.#full(),
      },
    });
  }

  get #anyName(): string {
    return this.#versions.keys().next().value ?? this.owner.rule;
  }

  #full(): void {
    const nowMs = this.#host.clock.now();
    if (nowMs - this.#reportedFullMs < FULL_REPORT_EVERY_MS) return;
    this.#reportedFullMs = nowMs;
    this.#host.failed(this.#anyName, this.#host.full(this.#host.mostOpen));
  }
}

/** Whether a rule has a trigger that may wait for anything beyond the event that starts it. */
export const isCorrelated = ({ correlation, expect }: CompiledRule): boolean => correlation !== null || expect !== null;

/** Whether it does wait: EXPECT without TIMEOUT is for the choice of the version alone (language.md 6.3, V8). */
export const waits = ({ compiled: { correlation, hasTimeout } }: CorrelatedRule): boolean => correlation !== null || hasTimeout;

/** What is the same as long as a restart may go on with the evaluations of before. */
export const whenOf = ({ triggers, correlation, constraint, expect }: CompiledRule): string =>
  hash('sha256', JSON.stringify([triggers, correlation, constraint, expect]));

/** Characters that are stored with it. */
const lengthOf = ({ writes, event }: PendingWrite): number =>
  writes.reduce((sum, write) => sum + ((write.op === 'insert' ? write.mostBytes : 0) ?? 0) / BYTES_A_CHARACTER, event?.value.length ?? 0);

const unitOf = (some: readonly PendingWrite[]): UnitOfWork => ({
  writes: withoutPassing(some.flatMap(({ writes }) => writes)),
  events: some.flatMap(({ event }) => event ?? []),
  done: some.flatMap(({ done }) => done),
});

/** Without the evaluations that come and go within the unit. */
function withoutPassing(writes: readonly Write[]): readonly Write[] {
  if (!writes.some(({ op }) => op === 'delete')) return writes;
  const inserted = new Set(writes.flatMap((write) => (write.op === 'insert' ? [keyOf(write)] : [])));
  if (inserted.size === 0) return writes;
  const passing = new Set(writes.flatMap((write) => (write.op === 'delete' && inserted.has(keyOf(write)) ? [keyOf(write)] : [])));
  return passing.size === 0 ? writes : writes.filter((write) => !passing.has(keyOf(write)));
}

const both = (a: ConditionData | null, b: ConditionData): ConditionData => (a ? { op: 'and', terms: [a, b] } : b);

/** The same for the same, so that a repetition is recognised. */
function uuidOf(facts: readonly unknown[]): string {
  const hex = hash('sha256', JSON.stringify(facts));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
