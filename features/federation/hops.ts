// How many installations a statement has come through (integrations.md 11.3).
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';

const MOST_HOPS = 8;

/** The number of the installation that a request of this actor is for. @throws cascade.federation.hops */
export function hopOf({ chain }: Pick<Actor, 'chain'>): number {
  const hop = (chain.hop ?? 0) + 1;
  if (hop > MOST_HOPS) throw apiError('cascade.federation.hops', `more than ${MOST_HOPS} installations follow one another`);
  return hop;
}
