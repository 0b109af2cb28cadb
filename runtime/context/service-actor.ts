// The service itself, where it does something without being asked.

import type { Actor } from './actor.ts';
import type { Namespace } from '../../resources/catalog/types.ts';

export const serviceActor = (space: Namespace): Actor => ({
  identity: { username: 'system', namespace: space.name, profiles: [], ofService: true },
  clock: space.clock,
  chain: { root: null, depth: 0 },
  commit: (unit) => space.committer.submit(unit, true),
  reading: null,
  childKey: null,
  depth: 0,
});
