// Recommenders (builtins.md 27): both take the same four parameters, as those of users do.
import type { Declaration } from './declaration.ts';

const PARAMETERS = '(matchDirectives: Object|null, pattern: Object, candidateType: String, matchType?: String) => List';

export const recommend: readonly Declaration[] = [
  {
    call: `Recommend.defaultRecommendations${PARAMETERS}`,
    forms: 'S',
    about: 'The instances that are most like the pattern in the properties that both have.',
    errors: ['cascade.resource.not.found', 'cascade.lang.range', 'cascade.query.too.expensive'],
    effect: 'suspends',
  },
  {
    call: `Recommend.nearbyRecommendations${PARAMETERS}`,
    forms: 'S',
    about: 'The instances that are nearest to the places of the pattern.',
    errors: ['cascade.resource.not.found', 'cascade.lang.range', 'cascade.query.too.expensive', 'cascade.recommend.type.mismatch'],
    effect: 'suspends',
  },
];
