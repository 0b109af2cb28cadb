// Before each test file: a thread is told of it and of the tests that run, so that a file that hangs ends (watchdog.mjs), and with it a run
// of CI that nobody would learn anything from.
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';

/** One for a process, which may run several files. */
const holder = globalThis as { cascadeWatchdog?: Worker };
holder.cascadeWatchdog ??= new Worker(new URL('./watchdog.mjs', import.meta.url));
holder.cascadeWatchdog.unref();

const tell = (message: { file: string } | { isOver: true } | { begun: string } | { ended: string }): void =>
  holder.cascadeWatchdog?.postMessage(message);

beforeAll(() => tell({ file: expect.getState().testPath ?? 'a test file' }));

beforeEach(({ task }) => {
  const { id, name } = task;
  tell({ begun: `${id} ${name}` });
  return () => tell({ ended: `${id} ${name}` });
});

afterAll(() => tell({ isOver: true }));
