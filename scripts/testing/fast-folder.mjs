// Where tests have their files: in memory, where there is room for them. Their databases wait for the disk at each commit and at each new
// collection, though no test looks at what a failure of power leaves: a killed process loses nothing of what the system has been given, wherever
// that is. What does look at it (`npm run chaos -- --power`) brings a file system of its own.
import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A file system in memory, on Linux. */
const IN_MEMORY = '/dev/shm';
/** Several times what a whole run has at once. */
const ROOM_BYTES = 6 * 1024 ** 3;

/** @type {import('./fast-folder.d.mts').fastFolder} */
export function fastFolder(env = process.env, folder = IN_MEMORY, room = roomIn) {
  return !env.TMPDIR && existsSync(folder) && room(folder) >= ROOM_BYTES ? folder : tmpdir();
}

/** Half of the memory is for the programs. */
function roomIn(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, process.availableMemory() / 2);
}
