// The entry of the sandbox process: holds the lanes' threads, answers heartbeats, and ends when nobody needs it any more.
// It has no environment, no files but its own code, no sockets but the pipes to the service. Ends by a signal only: a thread that is
// stuck inside the engine would hold up any other way out.
import { Socket } from 'node:net';
import { Piscina } from 'piscina';
import { frameReader, writeFrame } from './frames.ts';
// With it isolated-vm is loaded before the lanes load it: it announces its global initialization before that is done (src/module/isolate.cc of
// 6.2.0), so of two threads that load it first at the same time, the faster one makes an isolate without a platform: SIGSEGV.
import { compileBundle } from './isolate-host.ts';
import type { LaneTask } from './lane.ts';
import { DESCRIPTORS, type FromProcess, type LaneSettings, type ToProcess } from './wire.ts';

const control = new Socket({ fd: DESCRIPTORS.control, readable: true, writable: true });
let lastPing = performance.now();

/** Without a reason: the service is gone, or wants it so. */
function end(reason?: unknown): never {
  if (reason) process.stderr.write(`${reason instanceof Error ? reason.stack : String(reason)}\n`);
  process.kill(process.pid, reason ? 'SIGABRT' : 'SIGKILL');
  throw new Error('unreachable');
}

function open(lanes: number, settings: LaneSettings, bundle: string): void {
  const pool = new Piscina({
    filename: new URL('./lane.js', import.meta.url).href,
    minThreads: lanes,
    maxThreads: lanes,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics: 'disabled',
    recordTiming: false,
  });
  const compiled = compileBundle(bundle); // while the threads start
  for (let lane = 0; lane < lanes; lane += 1) {
    const task: LaneTask = { lane, descriptor: DESCRIPTORS.firstLane + lane, settings, bundle, compiled };
    pool.run(task).then(
      () => end(),
      (error: unknown) => end(error),
    );
  }
  setInterval(() => {
    if (performance.now() - lastPing > settings.silenceMs) end();
  }, settings.silenceMs / 4);
}

/** From root to a user that owns nothing, in all threads; there is no way back. */
function become(user: number): void {
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
}

control.on(
  'data',
  frameReader<ToProcess>((header, text) => {
    lastPing = performance.now();
    if (header.kind === 'open') open(header.lanes, header.settings, text);
    else if (header.kind === 'become') {
      become(header.user);
      writeFrame(control, { kind: 'became' } satisfies FromProcess, '');
    } else writeFrame(control, { kind: 'pong' } satisfies FromProcess, '');
  }),
);
control.on('error', () => end());
control.on('close', () => end());
process.on('uncaughtException', (error) => end(error));
process.on('SIGINT', () => {}); // Ctrl-C goes to the whole group; the service decides when this process ends
process.on('SIGTERM', () => {});
