// Collaboration of users: chats, tracks, collaborations, recommendations.
import type { Feature } from '../../resources/catalog/index.ts';
import { activityPatterns } from './activity-patterns.ts';
import { chat } from './chat.ts';
import { collaborationGeneration } from './collaboration-generation.ts';
import { collaborations } from './collaborations.ts';
import { locationTracking } from './location-tracking.ts';
import { recommend } from './recommend.ts';
import { SERVICE_RESOURCES } from './service-types.ts';
import { awaitsPositions, followPositions } from './tracking.ts';

export const collaboration: Feature = {
  name: 'collaboration',
  instances: SERVICE_RESOURCES,
  follower: { concerns: awaitsPositions, follow: followPositions },
  builtins: { ...recommend, ...chat, ...locationTracking, ...collaborations, ...activityPatterns, ...collaborationGeneration },
};
