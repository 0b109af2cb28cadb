// The flags of Node with which the service runs.
import { availableParallelism } from 'node:os';

/** What Node takes by itself. */
const USUAL_THREADS = 4;

/**
 * With few processors, fewer threads that help the collector than Node takes: it stops the main thread until the last of them is done, and those
 * that wait for a processor are done late.
 * @param {readonly string[]} [given] flags that somebody has set
 * @returns {string[]}
 */
export function serviceFlags(processors = availableParallelism(), given = [...process.execArgv, process.env.NODE_OPTIONS ?? '']) {
  const threads = Math.max(1, processors - 1);
  const isSet = given.some((flag) => flag.includes('--v8-pool-size'));
  return threads >= USUAL_THREADS || isSet ? [] : [`--v8-pool-size=${threads}`];
}
