// Time that passes while the machine sleeps, too, as the monotonic clock of a process does not on Linux. Reading it opens a file: it is for
// now and then, not for each request.

import { uptime } from 'node:os';

/** Milliseconds, to the hundredth of a second; null where nobody knows. */
export function sinceBoot(): number | null {
  try {
    return uptime() * 1_000;
  } catch {
    return null; // a container may hide it
  }
}
