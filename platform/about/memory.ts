// How much memory there is for the service and what it starts.
import { totalmem } from 'node:os';

let available: number | null = null;

/** Bytes of the machine, or of the container where that has less; asked of the system once, since its answer is read from several files. */
export const availableMemory = (): number => (available ??= Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()));
