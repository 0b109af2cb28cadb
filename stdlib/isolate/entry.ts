// The script that is bundled for the isolate (dist/stdlib/isolate-bundle.js): it leaves one name behind, which modules cannot reach.
import { createDriver } from './driver.ts';
import { refuseLambdasAsJson, removeUnneeded } from './realm.ts';

/** Deep enough for the call depth, so that a failure tells its whole way. */
const FRAMES = 100;

const driver = createDriver();

refuseLambdasAsJson();
removeUnneeded(globalThis);

const cascade = {
  ...driver,
  step([batch]: readonly [string]): [string] {
    // Not when the script runs: it runs for a snapshot, and V8 puts a limit of its own there when a context is made from one.
    Error.stackTraceLimit = FRAMES;
    return [driver.step(batch)];
  },
};
Object.defineProperty(globalThis, '$cascade', { value: Object.freeze(cascade), enumerable: false });
