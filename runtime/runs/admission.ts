// Asks whether a user may still run code: since it was written or scheduled the user may be gone or suspended (resources-and-api.md 7.6).

import type { Identity } from '../../identity/index.ts';
import type { RunHost } from './types.ts';

/** Calls `go` or `refuse`: at once where the rights are in memory, as they mostly are. */
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
