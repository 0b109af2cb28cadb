/* oxlint-disable max-lines -- the life of worker threads and of runs in them */
// The sandbox as a whole: gives each run an isolate, passes on what runs ask for and are told, repeats those that lost their isolate,
// and keeps those apart that do harm. Processes are process-supervisor.ts's, batches lane-queue.ts's, the record of a run is run.ts's.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import type { RunId } from '../stdlib/isolate/index.ts';
import { encodeInner, shownAll } from '../stdlib/values/index.ts';
import { type Clock, systemClock } from '../platform/clock/index.ts';
import { CascadeError, CascadeErrors } from '../model/errors/index.ts';
import { chargeCpu } from './cpu-time.ts';
import { announce, type Confinement, endOrphans, openConfinement } from './confinement/index.ts';
import { bundleFile, type ProcessEntry, processEntry } from './entries.ts';
import { FuelGauge } from './fuel.ts';
import { failureOf, type Limit, type RunLimits } from './failures.ts';
import type { Batch, IsolateState, LaneRun } from './isolate-state.ts';
import type { LaneQueue } from './lane-queue.ts';
import { type OutItem, readOutbox } from './outbox.ts';
import { OpenRuns } from './open-runs.ts';
import { Procedures } from './procedures.ts';
import { Quarantine } from './quarantine.ts';
import { Run } from './run.ts';
import { startItem } from './start-item.ts';
import { WarmStandby } from './warm-standby.ts';
import { type Death, ProcessSupervisor, type SupervisorEvents } from './process-supervisor.ts';
import type {
  OpenRun,
  Reply,
  ResolvedProcedure,
  RunFailure,
  RunRequest,
  Sandbox,
  SandboxOptions,
  SandboxStats,
  WireError,
} from './types.ts';
import type { BatchReply } from './wire.ts';

const DEFAULTS = {
  heartbeatMs: 1_000,
  memoryLimitMb: 512,
  cpuTimeMs: 20_000,
  memoryBytes: 256 * 1024 * 1024,
  sliceFuel: 20_000,
  stepTimeoutMs: 2_000,
  quarantineMs: 600_000,
  standbyAfterMs: 2_000,
};
/** Used part of an isolate's heap above which it gets no new runs, and above which it is replaced. */
const HEAP_FULL = 0.6;
const HEAP_OVERFULL = 0.8;
/** Ends of its surroundings that one run may cause. */
const MAX_STRIKES = 3;
/** As many ends from outside count as one of the run's own making. */
const INTERRUPTIONS_PER_STRIKE = 3;
/** Pings that may be missing before the process takes the service for dead. */
const SILENT_HEARTBEATS = 15;
/** What is kept of all open runs, in characters. */
const MAX_RECORDS_LENGTH = 256 * 1024 * 1024;
const TIDY_MS = 30_000;
/** Runs of a namespace that go to one lane when they begin one after the other. */
const RUNS_TOGETHER = 16;

/** @throws when the sandbox process can't be started; one that is opened with the first program is tried again and again */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const entry = options.entry ?? processEntry();
  const confinement = await confinementFor(entry, options);
  announce(confinement, options.log, options.requireLevel ?? 'none');
  const sandbox = new LiveSandbox(options, entry, confinement);
  if (!options.opensWithProgram) await sandbox.open();
  return sandbox;
}

async function confinementFor(
  entry: ProcessEntry,
  { confineAtMost, log }: Pick<SandboxOptions, 'confineAtMost' | 'log'>,
): Promise<Confinement> {
  void endOrphans(entry.file).then((count) => {
    if (count > 0) log.info({ count }, 'processes that a killed service had left while its sandbox started were ended');
  });
  return openConfinement({ ...entry, ...(confineAtMost && { atMost: confineAtMost }) });
}

class LiveSandbox implements Sandbox {
  readonly #settings: typeof DEFAULTS;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #main: ProcessSupervisor;
  /** For suspects: one lane, one batch of one run at a time. It has a process while it is needed. */
  readonly #isolated: ProcessSupervisor;
  readonly #standby: WarmStandby;
  readonly #quarantine: Quarantine;
  readonly #procedures: Procedures;
  readonly #gauge: FuelGauge;
  readonly #records = { held: 0, most: MAX_RECORDS_LENGTH };
  /** Those that live in an isolate. */
  readonly #live = new OpenRuns<LaneRun>();
  /** Where the last run of this turn went, and how many more may follow it there before the lanes are compared again. */
  #lastHome: IsolateState | null = null;
  #sharesLeft = 0;
  #open = 0;
  readonly #tidy: NodeJS.Timeout;
  #deaths = 0;
  #replays = 0;
  #isClosed = false;

  constructor(options: SandboxOptions, entry: ProcessEntry, confinement: Confinement) {
    const given = Object.entries(options).filter(([name, value]) => name in DEFAULTS && value !== undefined);
    this.#settings = { ...DEFAULTS, ...Object.fromEntries(given) };
    this.#log = options.log;
    this.#clock = options.clock ?? systemClock;
    const { heartbeatMs, memoryLimitMb, stepTimeoutMs } = this.#settings;
    const child = {
      lanes: options.lanes ?? Math.max(2, availableParallelism()),
      settings: { memoryLimitMb, stepTimeoutMs, silenceMs: heartbeatMs * SILENT_HEARTBEATS },
      bundle: options.bundle ?? readFileSync(bundleFile(), 'utf8'),
      heartbeatMs,
      entry,
      confinement,
      log: options.log,
    };
    const standby = (this.#standby = new WarmStandby(child, this.#settings.standbyAfterMs));
    const events: SupervisorEvents = {
      replied: (lane, batch, reply, text) => {
        const { stalls } = options;
        if (!stalls) return this.#replied(lane, batch, reply, text);
        stalls.run('program', batch.isolate.namespace, 'answers of programs', () => this.#replied(lane, batch, reply, text));
      },
      evicted: (isolate) => this.#rehome(isolate),
      died: (death) => this.#died(death),
      turned: () => {
        this.#lastHome = null;
      },
    };
    this.#main = new ProcessSupervisor(
      { child, standby, limits: { batches: 8, runsPerBatch: 256, memoryBytes: this.#settings.memoryBytes }, log: options.log },
      events,
    );
    const alone = {
      child: { ...child, lanes: 1 },
      standby,
      limits: { batches: 1, runsPerBatch: 1, memoryBytes: this.#settings.memoryBytes },
      log: options.log,
    };
    this.#isolated = new ProcessSupervisor(alone, events);
    this.#quarantine = new Quarantine(this.#settings.quarantineMs);
    this.#gauge = new FuelGauge(this.#settings.sliceFuel);
    this.#procedures = new Procedures(options.resolveProcedure);
    this.#tidy = setInterval(() => this.#closeIdleQuarantine(), Math.min(TIDY_MS, this.#settings.quarantineMs)).unref();
  }

  open(): Promise<void> {
    return this.#main.open('once');
  }

  prepare(): void {
    if (!this.#main.isOpen && !this.#isClosed) void this.#main.open('patiently');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#tidy);
    this.#live.clear();
    await Promise.all([this.#main.close(), this.#isolated.close(), this.#standby.close()]);
  }

  start(request: RunRequest): OpenRun {
    if (this.#isClosed) throw new Error('the sandbox is closed');
    this.prepare();
    const run: LaneRun = new Run<IsolateState>(request, this.#records);
    this.#open += 1;
    this.#place(run);
    return run;
  }

  drop(open: OpenRun): void {
    const run = open as LaneRun;
    if (run.isOpen) this.#forget(run, true);
  }

  answer(open: OpenRun, reply: Reply, at: number = this.#clock.now()): void {
    const run = open as LaneRun;
    if (!run.isOpen || !run.hasOpenRequest || this.#isClosed) return;
    const next = run.answered(reply, at);
    if (run.isolate === null) this.#place(run);
    else if (next && 'item' in next) run.isolate.push({ runs: [run], text: next.item });
    else if (next) {
      const { site, nth, kind, payloadJson, tail } = next.pass;
      this.#notify(run, () => run.request.observer.op(site, nth, kind, payloadJson, tail));
    }
  }

  procedureChanged(namespace: string, name: string): void {
    this.#procedures.changed(namespace, name);
    for (const lane of [...this.#main.lanes, ...this.#isolated.lanes])
      for (const isolate of lane.isolates)
        if (isolate.namespace === namespace) isolate.push({ runs: [], text: JSON.stringify(['forget', name]) });
  }

  pid(): number | undefined {
    return this.#main.pid;
  }

  stats(): SandboxStats {
    return {
      runs: this.#open,
      deaths: this.#deaths,
      replays: this.#replays,
      quarantinePid: this.#isolated.pid,
      standbyPid: this.#standby.pid,
      quarantinedNamespaces: this.#quarantine.namespaces(performance.now()),
      lanes: this.#main.lanes.map((lane) => lane.stats()),
    };
  }

  /** Begins a life of the run, the first or another one. */
  #place(run: LaneRun): void {
    if (run.hasBegun) {
      if (!run.isRepeatable) return this.#lose(run);
      this.#replays += 1;
    }
    const isolate = this.#isolateFor(run);
    run.begin(isolate, this.#live.next());
    isolate.runCount += 1;
    this.#live.put(run);
    run.sliceFuel ||= run.request.opts.fuel ?? this.#gauge.fuelFor(run); // the same in each life, so that slices are
    if (run.request.event) isolate.pushStart(run);
    else isolate.push(startItem(run, isolate, this.#settings.memoryBytes));
  }

  #isolateFor({ isAlone, request: { id, namespace } }: LaneRun): IsolateState {
    const isIsolated = isAlone || (!this.#quarantine.isEmpty && this.#quarantine.holds(namespace, performance.now()));
    if (isIsolated) return this.#quarantineLane().isolate(isAlone ? `${namespace}\n${id}` : namespace, namespace);
    const last = this.#lastHome;
    if (last?.namespace === namespace && this.#sharesLeft > 0 && !last.isLost && !last.isRetiring) {
      this.#sharesLeft -= 1;
      return last;
    }
    this.#sharesLeft = RUNS_TOGETHER;
    return (this.#lastHome = chooseLane(this.#main.lanes, namespace).isolate(namespace, namespace));
  }

  #quarantineLane(): LaneQueue {
    if (!this.#isolated.isOpen) void this.#isolated.open('patiently');
    return this.#isolated.lanes[0] as LaneQueue;
  }

  #replied(lane: LaneQueue, batch: Batch, reply: BatchReply, text: string): void {
    const { isolate } = batch;
    if (reply.lost === 'stale') return;
    if (reply.lost) {
      this.#log.warn({ namespace: isolate.namespace, reason: reply.lost, detail: reply.detail }, 'an isolate was thrown away');
      lane.lose(isolate, false);
      this.#strikeAll([batch], reply.lost, [isolate]);
      return;
    }
    for (const [hash, detail] of reply.unloadable ?? []) this.#log.error({ module: hash, detail }, 'a module does not load');
    let outbox: OutItem[];
    try {
      outbox = readOutbox(text);
    } catch (error) {
      this.#log.error({ err: error, namespace: isolate.namespace }, 'an isolate answered what is no outbox');
      lane.lose(isolate, true);
      this.#strikeAll([batch], 'error', [isolate]);
      return;
    }
    const runOf = (wireId: RunId): LaneRun | undefined => {
      const run = this.#live.get(wireId as number);
      return run?.isolate === isolate ? run : undefined;
    };
    chargeCpu(reply.cpuMs, outbox, runOf, this.#gauge);
    for (const out of outbox) {
      if (out[0] === 'ended') this.#end(out[1], runOf);
      else {
        const run = runOf(out[1]);
        if (run) this.#take(run, isolate, out);
      }
    }
    if (!this.#quarantine.isEmpty) for (const run of batch.runs) if (run.isAlone && run.turn === 'caller') this.#quarantine.clear(run);
    this.#lookAtHeap(batch);
    if (isolate.holdsTooMuchSource(this.#settings.memoryLimitMb)) isolate.retire();
  }

  #end(ranges: readonly RunId[], runOf: (id: RunId) => LaneRun | undefined): void {
    for (let i = 0; i < ranges.length; i += 2) {
      const first = ranges[i] as number;
      const behind = first + (ranges[i + 1] as number);
      for (let id = first; id < behind; id += 1) {
        const run = runOf(id);
        if (!run) continue;
        this.#forget(run, false);
        try {
          run.request.observer.done('null');
        } catch (error) {
          this.#observerFailed(run, error);
        }
      }
    }
  }

  #take(run: LaneRun, isolate: IsolateState, out: Exclude<OutItem, ['ended', ...unknown[]]>): void {
    const { observer } = run.request;
    switch (out[0]) {
      case 'op': {
        if (this.#isOverCpuTime(run)) return;
        const [, , site, nth, kind, payloadJson, tail] = out;
        const known = run.asks({ site, nth, kind, payloadJson, tail });
        if (known === 'pass') this.#notify(run, () => observer.op(site, nth, kind, payloadJson, tail));
        else if (known !== null) isolate.push({ runs: [run], text: known });
        return;
      }
      case 'slice':
        run.fuel = out[2];
        if (run.cpuMs > this.#cpuTimeOf(run)) this.#stopAtSlice(run, isolate);
        else this.#goOn(run, isolate, out[3]);
        return;
      case 'resolve':
        run.turn = 'procedure';
        this.#resolve(run, isolate, out[2]);
        return;
      case 'log':
        if (run.logs(out[2])) this.#notify(run, () => observer.log(out[2], out[3], out[4]));
        return;
      case 'done':
        this.#forget(run, false);
        this.#notify(run, () => observer.done(out[2]));
        return;
      case 'fail':
        this.#forget(run, false);
        this.#notify(run, () => observer.fail(out[2]));
    }
  }

  /** Ends a run that is over its time where it has just given way: the isolate raises the error there, with its place in the program. */
  #stopAtSlice(run: LaneRun, isolate: IsolateState): void {
    const at = run.goesOn(this.#clock.now());
    const { code, message, params, status } = this.#failure(run, 'timeout');
    const error: WireError = { code, message, params, status };
    isolate.push({ runs: [run], text: `["err",${run.wireId},${JSON.stringify(error)},${at}]` });
  }

  /** @param charged what the run holds by its own estimate, which only grows; beyond the limit, what the isolate holds is what counts */
  #goOn(run: LaneRun, isolate: IsolateState, charged: number): void {
    const at = run.goesOn(this.#clock.now());
    const limit = run.request.opts.memory ?? this.#settings.memoryBytes;
    if (charged <= limit) {
      isolate.push({ runs: [run], text: `["go",${run.wireId},${at}]` });
      return;
    }
    const heapBytes = Math.round(isolate.heap * this.#settings.memoryLimitMb * 1024 * 1024);
    // What others have left behind there counts, too, until the engine takes it away.
    if (heapBytes > limit && !isolate.isOfOneRun && run.isRepeatable) this.#setApart(run);
    else isolate.push({ runs: [run], text: `["go",${run.wireId},${at},${heapBytes}]` });
  }

  /** The run begins anew in an isolate of its own, where it can be seen what it does. */
  #setApart(run: LaneRun): void {
    const { isolate } = run;
    run.strikes = Math.max(run.strikes, 1);
    if (isolate) {
      isolate.runCount -= 1;
      isolate.push({ runs: [], text: `["drop",${run.wireId}]` });
    }
    this.#live.remove(run);
    run.isolate = null;
    this.#place(run);
  }

  #resolve(run: LaneRun, isolate: IsolateState, name: string): void {
    const asked = isolate.asked.get(name);
    if (asked) {
      asked.push(run);
      return;
    }
    const runs = [run];
    isolate.asked.set(name, runs);
    /** Those that still wait for it here: others may have lost their isolate meanwhile. */
    const waiting = (): LaneRun[] => {
      isolate.asked.delete(name);
      return runs.filter((one) => one.isolate === isolate && one.turn === 'procedure');
    };
    this.#procedures.find(isolate.namespace, name, {
      found: (info) => {
        const woken = waiting();
        for (const one of woken) one.turn = 'isolate';
        if (woken.length > 0) isolate.push({ runs: woken, text: procedureItem(name, info, isolate), program: info?.program ?? null });
      },
      failed: (error) => {
        const woken = waiting();
        if (error instanceof CascadeErrors) {
          // Its text no longer compiles: an error of the call like any other. A run has one error.
          for (const one of woken) one.turn = 'isolate';
          if (woken.length > 0) isolate.push({ runs: woken, text: refusalItem(name, error.errors[0] as CascadeError) });
          return;
        }
        if (!(error instanceof CascadeError)) this.#log.error({ err: error, procedure: name }, 'a procedure cannot be looked up');
        for (const one of woken) this.#fail(one, error instanceof CascadeError ? failureFrom(error) : this.#failure(one, 'error'));
      },
    });
  }

  #cpuTimeOf({ request }: LaneRun): number {
    return Math.min(request.cpuTimeMs ?? Number.POSITIVE_INFINITY, this.#settings.cpuTimeMs);
  }

  #isOverCpuTime(run: LaneRun): boolean {
    if (run.cpuMs <= this.#cpuTimeOf(run)) return false;
    this.#fail(run, this.#failure(run, 'timeout'));
    return true;
  }

  #lookAtHeap({ isolate, runs }: Batch): void {
    if (isolate.heap <= HEAP_FULL) return;
    if (isolate.heap <= HEAP_OVERFULL) {
      if (isolate.runCount === 0) isolate.retire();
      return;
    }
    if (isolate.isOfOneRun || isolate.runCount === 1) {
      for (const run of this.#runsIn(isolate)) this.#fail(run, this.#failure(run, 'memory'));
      return;
    }
    // Who of them holds so much shows itself alone; the others begin anew here.
    this.#log.warn({ namespace: isolate.namespace, heap: isolate.heap }, 'an isolate is replaced before its memory ends');
    for (const run of runs) if (run.isolate === isolate) run.strikes = Math.max(run.strikes, 1);
    isolate.retire();
  }

  #died(death: Death): void {
    this.#deaths += 1;
    const reason = death.cause === 'hang' ? 'timeout' : 'memory';
    if (death.cause === 'interruption') this.#interruptAll(death);
    else this.#strikeAll(death.suspects, reason, death.isolates);
  }

  /** The isolates are gone: the suspects are held to account for it, all others just go on elsewhere. */
  #strikeAll(batches: Batch[], reason: Limit, isolates: IsolateState[]): void {
    const suspects = new Set<LaneRun>();
    for (const batch of batches) for (const run of batch.runs) if (run.isolate === batch.isolate) suspects.add(run);
    const guilty = [...suspects].filter((run) => run.isolate?.isOfOneRun);
    for (const run of guilty) this.#quarantine.convict(run.request.namespace, performance.now());
    for (const run of suspects) {
      run.strikes += 1;
      this.#quarantine.suspect(run);
    }
    for (const isolate of isolates) this.#rehome(isolate, suspects, reason);
  }

  /** That says nothing of the runs, unless it always happens to the same one. */
  #interruptAll({ suspects, isolates }: Death): void {
    const often = new Set<LaneRun>();
    for (const batch of suspects)
      for (const run of batch.runs)
        if (run.isolate === batch.isolate && ++run.interruptions % INTERRUPTIONS_PER_STRIKE === 0) {
          run.strikes += 1;
          often.add(run);
        }
    for (const isolate of isolates) this.#rehome(isolate, often, 'memory');
  }

  /** All that live in an isolate which is no more: who has something to do begins anew at once, who waits does so when the answer comes. */
  #rehome(isolate: IsolateState, struck?: ReadonlySet<LaneRun>, reason: Limit = 'error'): void {
    const runs = this.#runsIn(isolate);
    isolate.runCount = 0;
    for (const run of runs) {
      this.#live.remove(run);
      run.isolate = null;
    }
    for (const run of runs) {
      if (!run.isOpen) continue; // dropped by an observer meanwhile
      if (run.strikes >= MAX_STRIKES && struck?.has(run)) this.#fail(run, { ...this.#failure(run, reason), poison: true });
      else if (run.turn !== 'caller') this.#place(run);
      else if (!run.isRepeatable) this.#lose(run);
    }
  }

  #failure(run: LaneRun, limit: Limit): RunFailure {
    const limits: RunLimits = { cpuTimeMs: this.#cpuTimeOf(run), memoryBytes: run.request.opts.memory ?? this.#settings.memoryBytes };
    return failureOf(limit, run.request.opts.resource, limits);
  }

  #fail(run: LaneRun, failure: RunFailure): void {
    this.#forget(run, true);
    this.#notify(run, () => run.request.observer.fail(failure));
  }

  /** The run cannot be repeated from here: its owner restarts it. */
  #lose(run: LaneRun): void {
    const { observer } = run.request;
    if (!observer.lost) return this.#fail(run, this.#failure(run, 'error'));
    this.#forget(run, true);
    this.#notify(run, () => observer.lost?.());
  }

  /** @param isLive it may still be going on over there */
  #forget(run: LaneRun, isLive: boolean): void {
    if (run.isOpen) this.#open -= 1;
    run.isOpen = false;
    this.#live.remove(run);
    this.#quarantine.clear(run);
    run.forgetRecord();
    const { isolate } = run;
    run.isolate = null;
    if (!isolate) return;
    isolate.runCount -= 1;
    if (isolate.isOfOneRun) isolate.retire();
    else if (isLive) isolate.push({ runs: [], text: `["drop",${run.wireId}]` });
  }

  #notify(run: LaneRun, notify: () => void): void {
    try {
      notify();
    } catch (error) {
      this.#observerFailed(run, error);
    }
  }

  /** Who waits for the run must not wait for ever: the observer is told that it failed, once. */
  #observerFailed(run: LaneRun, error: unknown): void {
    this.#log.error({ err: error, run: run.request.id }, 'the observer of a run failed');
    if (run.isOpen) this.#forget(run, true);
    try {
      run.request.observer.fail(this.#failure(run, 'error'));
    } catch (again) {
      this.#log.error({ err: again, run: run.request.id }, 'the observer of a run failed to end it');
    }
  }

  /** Looked for where it is rare, so that nothing need be kept where there are many. */
  #runsIn(isolate: IsolateState): LaneRun[] {
    return [...this.#live].filter((run) => run.isolate === isolate);
  }

  #closeIdleQuarantine(): void {
    if (!this.#isolated.isOpen || this.#quarantine.namespaces(performance.now()).length > 0) return;
    for (const lane of this.#isolated.lanes) for (const isolate of lane.isolates) if (!isolate.isIdle) return;
    void this.#isolated.close();
  }
}

/** The lane with least before it; among equals the namespace's own, so that a quiet namespace needs one isolate. */
function chooseLane(lanes: readonly LaneQueue[], namespace: string): LaneQueue {
  let hash = 0;
  for (let i = 0; i < namespace.length; i += 1) hash = (Math.imul(hash, 31) + namespace.charCodeAt(i)) >>> 0;
  let best: LaneQueue | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < lanes.length; i += 1) {
    const lane = lanes[(hash + i) % lanes.length] as LaneQueue;
    const isFull = (lane.find(namespace)?.heap ?? 0) > HEAP_FULL;
    const load = lane.backlog + (isFull ? 1e9 : 0);
    if (load < least) {
      least = load;
      best = lane;
    }
  }
  return best as LaneQueue;
}

function procedureItem(name: string, info: ResolvedProcedure | null, isolate: IsolateState): string {
  return JSON.stringify(['procedure', name, info && { ...info, program: isolate.nameOf(info.program) }]);
}

function refusalItem(name: string, { code, message, params, status }: CascadeError): string {
  const refused: WireError = { code, message, params: JSON.parse(encodeInner(shownAll(params))) as unknown[], status };
  return JSON.stringify(['procedure', name, { refused }]);
}

function failureFrom({ code, message, params, status }: CascadeError): RunFailure {
  return { code, message, params, status, frames: [] };
}
