// The script that is bundled for the isolate (dist/stdlib/isolate-bundle.js): it leaves one name behind, which modules cannot reach.
import { createDriver } from './driver.ts';
import { refuseLambdasAsJson } from './lambdas.ts';

/** Deep enough for the call depth, so that a failure tells its whole way. */
const FRAMES = 100;
/** Nothing here needs them, and modules cannot name them: they are one way less for whoever finds a hole. */
const UNNEEDED = ['eval', 'Function', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry'];

const driver = createDriver();

refuseLambdasAsJson();
for (const name of UNNEEDED) Reflect.deleteProperty(globalThis, name);

const cascade = {
  ...driver,
  step(batch: string): string {
    // Not when the script runs: it runs for a snapshot, and V8 puts a limit of its own there when a context is made from one.
    Error.stackTraceLimit = FRAMES;
    return driver.step(batch);
  },
};
Object.defineProperty(globalThis, '$cascade', { value: Object.freeze(cascade), enumerable: false });
