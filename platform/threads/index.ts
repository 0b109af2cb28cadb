// The priority of threads that do long work beside the main one.
import { getPriority, setPriority } from 'node:os';

const NICE = 10;

/**
 * Lowers the priority of the calling thread, which then waits for the processor, and nothing else for it. Only Linux has priorities of threads;
 * elsewhere they are those of the process, and nothing is done.
 */
export function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(Math.max(getPriority(), NICE)); // a service may be nicer already
}
