// Concurrent.Lock: nothing but what a lambda runs under (builtins.md 10).
import { NOTHING } from './stored-value.ts';
import type { Behaviour } from './shared-objects.ts';

export const sharedLock = (): Behaviour => ({
  size: 0,
  clears: 0,
  lockOf: () => null,
  call: () => undefined,
  read: () => NOTHING,
  write: () => undefined,
});
