// The types that store chats, tracks and collaborations (builtins.md 23 to 30).

import { keptByService, type InstanceResource } from '../../resources/catalog/index.ts';

export const CHATS = keptByService('ArsChat', {
  situationId: 'String',
  topic: 'required String',
  users: 'multi indexed String',
  createdBy: 'String',
  createdAt: 'DateTime',
  modifiedAt: 'DateTime',
});

export const CHAT_MESSAGES = keptByService(
  'ArsChatMessage',
  {
    chatId: 'required String',
    sequence: 'Integer',
    type: 'String',
    msg: 'String',
    metadata: 'Object',
    sender: 'String',
    notified: 'multi String',
    timestamp: 'DateTime',
  },
  { indexes: ['chatId -sequence', 'chatId timestamp'] },
);

export const TRACKS = keptByService(
  'ArsActiveTrack',
  {
    activity: 'required String',
    username: 'required String',
    level: 'String',
    distanceFilter: 'Real',
    desiredAccuracy: 'Real',
    destination: 'GeoJSON',
    destinationRadius: 'Real',
    arrivalTopic: 'String',
    reportingTopic: 'required indexed String',
    lastLocation: 'GeoJSON',
    lastActive: 'DateTime',
    startedAt: 'DateTime',
    collaborationId: 'indexed String',
  },
  // All of a fleet may report on one topic, so that its index alone would read the tracks of all for each position.
  { indexes: ['username reportingTopic'] },
);

/** A system resource: it answers an object for an object. */
export const COLLABORATIONS: InstanceResource = {
  ...keptByService(
    'ArsCollaboration',
    {
      id: 'required unique String',
      name: 'String',
      status: 'String',
      entities: 'Object',
      collaborators: 'Object',
      results: 'Object',
      createdAt: 'DateTime',
      closedAt: 'DateTime',
    },
    { naturalKey: ['id'], name: 'collaborations', indexes: ['entities.$**'] },
  ),
  answers: 'object',
};

export const ACTIVITY_PATTERNS = keptByService(
  'ArsActivityPattern',
  { name: 'required unique String', procedure: 'required String', required: 'multi String', defaults: 'Object' },
  { naturalKey: ['name'] },
);

export const COLLABORATION_TYPES = keptByService(
  'ArsCollaborationType',
  {
    name: 'required unique String',
    trigger: 'required String',
    entityRole: 'String',
    activities: 'multi Object',
    rule: 'String',
  },
  { naturalKey: ['name'] },
);

export const SERVICE_RESOURCES: readonly InstanceResource[] = [
  CHATS,
  CHAT_MESSAGES,
  TRACKS,
  COLLABORATIONS,
  ACTIVITY_PATTERNS,
  COLLABORATION_TYPES,
];
