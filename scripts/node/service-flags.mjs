// The flags of Node with which the service runs.
import { availableParallelism } from 'node:os';

/** What Node takes by itself. */
const USUAL_THREADS = 4;

/**
 * How much the heap may grow between two major collections, in percent of what is live. V8 takes up to 300: beside clients with large bodies,
 * 400 MB of dead ones, which the main thread then gives back to the system in one go (20 of a collection's 33 ms).
 */
const GROWTH = '--heap-growing-percent=100';

/**
 * With few processors, fewer threads that help the collector than Node takes: it stops the main thread until the last of them is done, and those
 * that wait for a processor are done late.
 * @param {readonly string[]} [given] flags that somebody has set, which stay
 * @returns {string[]}
 */
export function serviceFlags(processors = availableParallelism(), given = [...process.execArgv, process.env.NODE_OPTIONS ?? '']) {
  const threads = Math.max(1, processors - 1);
  const wanted = [...(threads < USUAL_THREADS ? [`--v8-pool-size=${threads}`] : []), GROWTH];
  return wanted.filter((flag) => !given.some((other) => other.includes(flag.replace(/=.*/, ''))));
}
