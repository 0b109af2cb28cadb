// Whether code may run at all: whom it runs as may be gone, or suspended, since it was written, scheduled or set going (resources-and-api.md 7.6).

import type { Identity } from '../../identity/index.ts';
import type { RunHost } from './types.ts';

/** Goes on, or refuses with the reason; at once where the rights are in memory, as they mostly are. */
export function whenAdmitted(host: RunHost, identity: Identity, go: () => void, refuse: (reason: unknown) => void): void {
  let asked: unknown;
  try {
    asked = host.admit?.(identity);
  } catch (error) {
    return refuse(error);
  }
  if (asked instanceof Promise) asked.then(go, refuse);
  else go();
}
