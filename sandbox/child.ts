// One life of a sandbox process, seen from the service: its pipes, its heartbeat, its end. What the frames mean is left to process-supervisor.ts.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { parse } from 'node:path';
import type { Logger } from 'pino';
import { chainOf, type Confinement, endOrphans } from './confinement/index.ts';
import type { ProcessEntry } from './entries.ts';
import { frameReader, writeFrame } from './frames.ts';
import {
  type BatchHeader,
  type BatchReply,
  DESCRIPTORS,
  type FromProcess,
  type LaneHeader,
  type LaneSettings,
  MARK_BYTES,
  type ToProcess,
} from './wire.ts';

/** Missed heartbeats that end a process. */
const PATIENCE = 3;
/** For its start a process gets longer: on a busy machine, or from a slow disk, reading its code takes its time. */
const START_MS = 30_000;
/** What a process has written before its end is read within this time. */
const READ_OUT_MS = 1_000;
/** Of what a process writes to its standard error, as much is logged. */
const MAX_STDERR_BYTES = 16_384;

export interface ChildOptions {
  lanes: number;
  settings: LaneSettings;
  bundle: string;
  heartbeatMs: number;
  entry: ProcessEntry;
  confinement: Confinement;
  log: Logger;
}

export interface ChildEvents {
  ready(): void;
  reply(lane: number, reply: BatchReply, text: string): void;
  /** The batch is about to be begun. */
  mark(lane: number, batch: number): void;
  /** Once, whatever the reason; nothing comes after it. */
  exit(end: ChildEnd): void;
}

/** Why a process is no more: by itself (crash, out of memory), killed from here, or killed by somebody else. */
export interface ChildEnd {
  by: 'itself' | 'us' | 'stranger';
  signal: string | null;
  stderr: string;
}

export interface Child {
  readonly pid: number | undefined;
  readonly isReady: boolean;
  send(lane: number, header: BatchHeader, items: string): void;
  kill(): void;
  readonly exited: Promise<void>;
}

// oxlint-disable-next-line max-lines-per-function -- the life of a process: what it is sent, what it says and how it ends share their state
export function openChild(options: ChildOptions, events: ChildEvents): Child {
  const { entry, confinement } = options;
  const lanePipes = Array.from({ length: options.lanes }, () => 'pipe' as const);
  const filterDescriptor = DESCRIPTORS.firstLane + options.lanes;
  const { program, args } = confinement.command(process.execPath, [...entry.flags, entry.file, ...(entry.args ?? [])], filterDescriptor);
  const child = spawn(program, args, {
    env: {},
    cwd: parse(entry.file).root,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', ...lanePipes, ...(confinement.filter ? (['pipe'] as const) : [])],
    windowsHide: true,
  });
  const pipe = (descriptor: number): Socket => child.stdio[descriptor] as Socket;
  const control = pipe(DESCRIPTORS.control);
  const stderr = collectStderr(child, options.log);
  let readyLanes = 0;
  /** Its lanes stand, and it is shut in: programs of users may come. */
  let isReady = false;
  let { pid } = child;
  let missed = 0;
  let killed = false;
  /** Whoever still holds the other ends, half-started, ends by that, and nobody waits for them. */
  const closePipes = (): void => {
    for (const stream of child.stdio) stream?.destroy();
  };
  const kill = (): void => {
    killed = true;
    // The innermost itself: what is around it has then waited for it when it ends.
    if (isReady && pid !== undefined && child.exitCode === null && endProcess(pid)) return;
    // While it starts, bubblewrap may not have tied what it starts to its own life yet.
    const around = child.pid === undefined || child.exitCode !== null ? [] : chainOf(child.pid);
    child.kill('SIGKILL');
    for (const one of around.slice(1)) endProcess(one);
    closePipes();
  };
  const serves = (): void => {
    missed = 0;
    isReady = true;
    events.ready();
  };
  /** What a broken process sends must never break us. */
  const guarded = (handle: (chunk: Buffer) => void) => (chunk: Buffer) => {
    try {
      handle(chunk);
    } catch (error) {
      options.log.error({ err: error }, 'the sandbox process sent what is no frame');
      kill();
    }
  };

  const heartbeat = setInterval(() => {
    // Counts turns of our own loop, not time: when it is we who were busy, the answers come first.
    missed += 1;
    if (missed > (isReady ? PATIENCE : START_MS / options.heartbeatMs)) {
      options.log.error({ pid }, 'the sandbox process does not answer its heartbeat');
      kill();
    } else writeFrame(control, { kind: 'ping' } satisfies ToProcess, '');
  }, options.heartbeatMs);

  control.on(
    'data',
    guarded(
      frameReader<FromProcess>((header) => {
        missed = 0;
        if (header.kind === 'became' && !isReady) serves();
      }),
    ),
  );
  /** After its last file has been opened and before the first program comes. Limits first: whoever is another user then takes none from us. */
  const shutIn = async (outer: number): Promise<void> => {
    try {
      pid = await confinement.shut(outer);
      if (confinement.user === null) serves();
      else writeFrame(control, { kind: 'become', user: confinement.user } satisfies ToProcess, '');
    } catch (error) {
      if (killed || child.exitCode !== null || child.signalCode !== null) return;
      options.log.error({ err: error, pid }, 'the sandbox process cannot be shut in: it is not used');
      kill();
    }
  };
  pipe(DESCRIPTORS.marks).on('data', markReader(events.mark));
  for (let lane = 0; lane < options.lanes; lane += 1)
    pipe(DESCRIPTORS.firstLane + lane).on(
      'data',
      guarded(
        frameReader<LaneHeader>((header, text) => {
          if (header.kind === 'batch') events.reply(lane, header, text);
          else if (++readyLanes === options.lanes) {
            missed = 0;
            void shutIn(child.pid as number);
          }
        }),
      ),
    );
  // A broken pipe is the first sign of an end; 'exit' follows.
  for (const stream of child.stdio.slice(DESCRIPTORS.control)) stream?.on('error', () => {});
  if (confinement.filter) pipe(filterDescriptor).end(confinement.filter);
  writeFrame(control, { kind: 'open', lanes: options.lanes, settings: options.settings } satisfies ToProcess, options.bundle);

  const exited = new Promise<void>((resolve) => {
    let over = false;
    const end = (signal: string | null): void => {
      if (over) return;
      over = true;
      clearInterval(heartbeat);
      if (!isReady) void endOrphans(entry.file); // what it had begun to start may not have noticed
      const fromOutside = signal === 'SIGKILL' || signal === 'SIGTERM' || signal === 'SIGHUP';
      events.exit({ by: killed ? 'us' : fromOutside ? 'stranger' : 'itself', signal, stderr: stderr() });
      resolve();
    };
    // 'close' comes after 'exit', when all that was written before the end has been read.
    child.on('close', (code, signal) => end(signal ?? signalOf(code)));
    // What it wrote before its end is read first; what it had only begun to start may hold the pipes for ever.
    child.on('exit', () => setTimeout(closePipes, isReady ? READ_OUT_MS : 0).unref());
    child.on('error', (error) => {
      options.log.error({ err: error }, 'the sandbox process cannot be started');
      if (child.pid === undefined) end(null);
    });
  });

  return {
    get pid() {
      return pid;
    },
    get isReady() {
      return isReady;
    },
    send: (lane, header, items) => writeFrame(pipe(DESCRIPTORS.firstLane + lane), header, items),
    kill,
    exited,
  };
}

/** @returns false when there is no such process any more, or it is not ours */
function endProcess(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

/** A wrapper around a process exits with 128 and the number of the signal that ended it. */
function signalOf(code: number | null): string | null {
  if (code === null || code <= 128) return null;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] ?? null;
}

function collectStderr(child: ChildProcess, log: Logger): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    if (text.length < MAX_STDERR_BYTES) {
      text += part;
      log.warn({ pid: child.pid, stderr: part.slice(0, MAX_STDERR_BYTES) }, 'the sandbox process says');
    }
  });
  return () => text;
}

function markReader(mark: (lane: number, batch: number) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const all = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    for (; at + MARK_BYTES <= all.length; at += MARK_BYTES) mark(all.readUInt32LE(at), all.readUInt32LE(at + 4));
    rest = all.subarray(at);
  };
}
