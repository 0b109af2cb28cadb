// How much memory there is for the service and what it starts.
import { totalmem } from 'node:os';

/** Bytes of the machine, or of the container where that has less. */
export const availableMemory = (): number => Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
