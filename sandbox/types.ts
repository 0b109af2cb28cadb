// The words between the sandbox and who uses it. Texts named …Json are inner JSON (stdlib/values/inner-json.ts), passed on as they are.
import type { Logger } from 'pino';
import type { Value } from '../stdlib/values/index.ts';
import type { Level } from './confinement/index.ts';
import type { ProcessEntry } from './entries.ts';
import type { Stalls } from '../platform/stalls/index.ts';
import type { Clock } from '../platform/clock/index.ts';
import type { Frame, ProcedureInfo, StartOptions, WireError } from '../stdlib/isolate/index.ts';

export type { WireError } from '../stdlib/isolate/index.ts';

/** A compiled body and its constants: what an isolate is sent once and then named by. */
export interface Program {
  /** sha256 of the module's source and the constants. */
  id: string;
  module: ProgramModule;
  /** Inner JSON text of an array. */
  constantsJson: string;
}

export interface ProgramModule {
  hash: string;
  source: string;
  /** CompiledModule.reads */
  reads?: readonly string[] | null;
}

/** The answer of resolveProcedure(): what the isolate needs of a procedure, with the program itself instead of its name. */
export type ResolvedProcedure = Omit<ProcedureInfo, 'program'> & { program: Program };

/** What the caller decides of a run; fuel (of a slice) and memory are the sandbox's unless given. */
export type RunOptions = Omit<StartOptions, 'at' | 'seed' | 'fuel'> & { fuel?: number };

export interface RunRequest {
  /** Unique among the open runs of this sandbox. */
  id: string;
  namespace: string;
  /** The body to run; null when `procedure` names what to run. */
  program: Program | null;
  /** Section of a rule, or what a condition of it asks for; 'main' when absent. */
  entry?: string;
  /** Full name of a procedure that is called from outside: resolved, its arguments checked and converted. */
  procedure?: string;
  /** Inner JSON text of an array. */
  argsJson: string;
  /** Named arguments of `procedure`, instead of argsJson. */
  namedJson?: string | null;
  /** The event that a rule is started for, instead of arguments. */
  event?: RunEvent;
  /** What now() gives at first, ms since the epoch. */
  at: number;
  /** StartOptions.seed */
  seed: string;
  /** Runs that have the same object begin a little faster; it does not change. */
  opts: RunOptions;
  /** CPU time of this run, when it is less than what the sandbox gives to every run. */
  cpuTimeMs?: number;
  /** Run apart from others from the beginning, as it has done harm before (integrations.md 12.5). */
  alone?: boolean;
  observer: RunObserver;
}

/** Runs of one key that follow each other share it: it is sent once, and each has its own copy. */
export interface RunEvent {
  key: string;
  /** What the program takes of it: the event object, or the value alone. */
  binds: 'event' | 'value';
  /** Inner JSON of that. It is not asked for where `value` will do. */
  readonly json: string;
  /** The event's value, where it is at hand: of a program that reads only members of it, those alone are sent. It does not change any more. */
  value?: Value;
  /** About the length of `json`, where that is made when it is asked for. */
  length?: number;
}

/** Told what a run does, each thing exactly once, however often the run has to be repeated. Called synchronously; must not throw. */
export interface RunObserver {
  /** A request; answered by `answer`, or never when the run is dropped. No other comes before the answer. */
  op(site: string, nth: number, kind: string, payloadJson: string, tail: boolean): void;
  log(k: number, level: string, text: string): void;
  done(valueJson: string): void;
  fail(failure: RunFailure): void;
  /**
   * Its isolate is gone, through no fault of its own, and its record is too long to repeat it in another one: it is over here. Absent: it fails
   * with `cascade.server.error`.
   */
  lost?(): void;
}

export type RunFailure = WireError & {
  frames: Frame[];
  /** It took its surroundings down three times, the last two alone: not to be repeated (integrations.md 12.5). */
  poison?: boolean;
};

export type Reply = { ok: string } | { list: string } | { error: WireError };

export interface SandboxOptions {
  /** Worker threads; the number of cores when absent, at least 2. */
  lanes?: number;
  /** Between two heartbeats. Three without an answer end the process. */
  heartbeatMs?: number;
  /** Of one isolate. */
  memoryLimitMb?: number;
  /** CPU time of one run (language.md 10). */
  cpuTimeMs?: number;
  /** What one run may hold (language.md 10); the isolate estimates it. */
  memoryBytes?: number;
  /** Loop turns and calls until a run of an unknown program gives way; later runs get what takes about 5 ms. */
  sliceFuel?: number;
  /** How long one batch may keep an isolate before it is thrown away. */
  stepTimeoutMs?: number;
  /** How long a namespace whose run has taken a process down is kept apart. */
  quarantineMs?: number;
  /** How long after a start, or after its last one was taken, a process in waiting is started. */
  standbyAfterMs?: number;
  /** Its process is started by `prepare`, or by the first run: a service without programs needs none. It is started at once when absent. */
  opensWithProgram?: boolean;
  /** The script of the isolates instead of the built one: for tests. */
  bundle?: string;
  /** How far the operating system must shut the process in; less than that is a refusal to start. 'none' when absent. */
  requireLevel?: Level;
  /** Stronger means are not used: for tests of the weaker ones. */
  confineAtMost?: Level;
  /** What runs in the process instead of the built entry: for tests. */
  entry?: ProcessEntry;
  resolveProcedure: (namespace: string, name: string) => Promise<ResolvedProcedure | null>;
  /** What the answers of programs cost this thread is measured by it. */
  stalls?: Stalls;
  /** What now() gives where a run goes on by itself; the machine's clock when absent. */
  clock?: Clock;
  log: Logger;
}

/** A run that was started: what it is answered and dropped by. */
export interface OpenRun {
  readonly isOpen: boolean;
}

export interface Sandbox extends AsyncDisposable {
  /** A program may come: its process is started, unless it is there. */
  prepare(): void;
  /** Its observer hears nothing before this returns. */
  start(run: RunRequest): OpenRun;
  /** Forgets the run everywhere; its observer hears no more. */
  drop(run: OpenRun): void;
  /** @param at what now() gives from here on, ms since the epoch; the present when absent */
  answer(run: OpenRun, reply: Reply, at?: number): void;
  /** The next call of this procedure asks resolveProcedure() again, in every isolate. */
  procedureChanged(namespace: string, name: string): void;
  /** Of the process that runs everything but suspects; undefined while it is being replaced. */
  pid(): number | undefined;
  stats(): SandboxStats;
}

export interface SandboxStats {
  runs: number;
  /** Processes that ended without being asked to. */
  deaths: number;
  /** Starts of runs after the first. */
  replays: number;
  quarantinePid: number | undefined;
  /** Of the process that takes the next one's place. */
  standbyPid: number | undefined;
  quarantinedNamespaces: string[];
  lanes: LaneStats[];
}

export interface LaneStats {
  isolates: number;
  batchesInFlight: number;
  waitingItems: number;
}
