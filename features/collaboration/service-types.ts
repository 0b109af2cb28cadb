// The types in which built-in services keep what they know (builtins.md 23 to 30). Their instances are read and written like those of
// users' types; a service changes several of them in one unit (runtime/builtins/together.ts). A collection is made with its first instance.

import { getOwn, isObject } from '../../stdlib/values/index.ts';
import { type Shape, systemType } from '../../resources/catalog/system-type.ts';
import type { InstanceResource } from '../../resources/catalog/types.ts';

const OPERATIONS = new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']);

/** @param name of the resource: that of the type, or of a system resource */
function keptByService(typeName: string, shape: Shape, naturalKey: readonly string[] = [], name = typeName): InstanceResource {
  const type = systemType(typeName, shape, naturalKey);
  return { kind: 'instances', name, type, collection: type.collection, operations: OPERATIONS, defaultSort: { _id: 1 }, late: true };
}

export const CHATS = keptByService('ArsChat', {
  situationId: 'String',
  topic: 'required String',
  users: 'multi indexed String',
  createdBy: 'String',
  createdAt: 'DateTime',
  modifiedAt: 'DateTime',
});

export const CHAT_MESSAGES = keptByService('ArsChatMessage', {
  chatId: 'required indexed String',
  sequence: 'Integer',
  type: 'String',
  msg: 'String',
  metadata: 'Object',
  sender: 'String',
  notified: 'multi String',
  timestamp: 'DateTime',
});

export const TRACKS = keptByService('ArsActiveTrack', {
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
});

const MESSAGES = keptByService('ArsPayloadMessage', {
  source: 'String',
  category: 'String',
  title: 'String',
  payload: 'Object',
  users: 'multi String',
  clientName: 'String',
  pendingUsers: 'multi indexed String',
  unknownUsers: 'multi String',
  sentAt: 'DateTime',
  sentBy: 'String',
  expiresAt: 'DateTime',
  recipients: 'multi Object',
  collaborationId: 'indexed String',
});

/** Of the recipients everybody sees the own entry. */
export const PAYLOAD_MESSAGES: InstanceResource = {
  ...MESSAGES,
  seen: {
    instance(shown, username) {
      const recipients = Object.hasOwn(shown, 'recipients') ? getOwn(shown, 'recipients') : null;
      if (!Array.isArray(recipients)) return shown;
      return { ...shown, recipients: recipients.filter((one) => isObject(one) && one['username'] === username) };
    },
    stages: (username) => [
      {
        $addFields: {
          recipients: { $filter: { input: '$recipients', as: 'one', cond: { $eq: ['$$one.username', { $literal: username }] } } },
        },
      },
    ],
  },
};

export const RESOURCE_CONFIGS = keptByService(
  'ArsResourceConfig',
  { name: 'required unique String', value: 'Any', description: 'String' },
  ['name'],
);

export const COLLABORATIONS = keptByService(
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
  ['id'],
  'collaborations',
);

export const ACTIVITY_PATTERNS = keptByService(
  'ArsActivityPattern',
  { name: 'required unique String', procedure: 'required String', required: 'multi String', defaults: 'Object' },
  ['name'],
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
  ['name'],
);

export const DEPLOY_STATUS = keptByService(
  'ArsDeployStatus',
  {
    globalId: 'indexed String',
    configName: 'indexed String',
    partition: 'String',
    node: 'String',
    resource: 'String',
    status: 'String',
    error: 'Object',
    timestamp: 'DateTime',
  },
  [],
  'deploystatus',
);

export const SERVICE_RESOURCES: readonly InstanceResource[] = [
  CHATS,
  CHAT_MESSAGES,
  TRACKS,
  PAYLOAD_MESSAGES,
  RESOURCE_CONFIGS,
  COLLABORATIONS,
  ACTIVITY_PATTERNS,
  COLLABORATION_TYPES,
  DEPLOY_STATUS,
];
