// Before each test file: a thread is told of it and of the tests that run, so that a file that hangs ends (watchdog.mjs). When its tests are
// over, the file writes its verdict into the folder of the run, so that it is known whatever becomes of vitest's own messages (judge.mjs).
import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, beforeEach, type RunnerTask } from 'vitest';
import { usedCpuMs } from './cpu.ts';

type Message = { file: string } | { isOver: true } | { begun: string } | { ended: string };

/** One for a process, which may run several files. What keeps the process alive now is vitest's, not the tests'. */
const holder = globalThis as { cascadeWatchdog?: Worker; cascadeUsedCpuMs?: number };
holder.cascadeWatchdog ??= new Worker(new URL('./watchdog.mjs', import.meta.url), {
  workerData: { open: process.getActiveResourcesInfo() },
});
holder.cascadeWatchdog.unref();

const post = (message: Message): void => holder.cascadeWatchdog?.postMessage(message);

beforeAll(({}, { file }) => post({ file: relative(process.cwd(), file.filepath) }));

beforeEach(({ task }) => {
  const { id, name } = task;
  post({ begun: `${id} ${name}` });
  return () => post({ ended: `${id} ${name}` });
});

// Hooks of this kind run in reverse order: this one is the last of the file, and does not run when one of the file's own fails.
afterAll(({}, { file, tasks }) => {
  const states = results(tasks);
  const used = usedCpuMs();
  const verdict = {
    file: relative(process.cwd(), file.filepath),
    passed: states.filter((state) => state === 'pass').length,
    failed: states.filter((state) => state === 'fail').length,
    // Since the process began, or since the file before this one, with what both have imported.
    cpuMs: used - (holder.cascadeUsedCpuMs ?? 0),
  };
  holder.cascadeUsedCpuMs = used;
  if (process.env.CASCADE_TEST_CHANNEL) appendFileSync(join(process.env.CASCADE_TEST_CHANNEL, 'verdicts'), `${JSON.stringify(verdict)}\n`);
  post({ isOver: true });
});

function results(tasks: readonly RunnerTask[]): (string | undefined)[] {
  return tasks.flatMap((task) => [task.result?.state, ...(task.type === 'suite' ? results(task.tasks) : [])]);
}
