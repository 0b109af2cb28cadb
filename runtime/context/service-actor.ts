// The actor for what the service does without being asked.

import type { Actor } from './actor.ts';
import type { Clock } from '../../platform/clock/index.ts';
import type { Committer } from '../transactions/index.ts';

export const serviceActor = (space: { readonly name: string; readonly clock: Clock; readonly transactions: Committer }): Actor => ({
  identity: { username: 'system', namespace: space.name, profiles: [], ofService: true },
  clock: space.clock,
  chain: { root: null, depth: 0 },
  commit: (unit) => space.transactions.submit(unit, true),
  readSet: null,
  childRunIds: null,
  depth: 0,
});
