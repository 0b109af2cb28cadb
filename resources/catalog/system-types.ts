// Shapes of system resources, for conditions, sorting and, where their members are instances, for storage.

import { systemType } from './system-type.ts';

export const TYPE_SHAPE = systemType(
  'ArsType',
  {
    name: 'String',
    role: 'String',
    properties: 'Object',
    naturalKey: 'multi String',
    indexes: 'multi Object',
    foreignKeys: 'multi Object',
    audited: 'Boolean',
    groupEnabled: 'Boolean',
    groupRequired: 'Boolean',
    userAccessLevel: 'String',
    adminAccessLevel: 'String',
    accessLevels: 'Object',
    maxStorage: 'Integer',
    maxObjects: 'Integer',
    expiresAfter: 'Object',
    rulesSuppressed: 'Boolean',
    description: 'String',
    version: 'String',
    documentation: 'multi String',
  },
  ['name'],
);

export const RULE_SHAPE = systemType(
  'ArsRuleSet',
  {
    name: 'String',
    version: 'String',
    ruleText: 'String',
    active: 'Boolean',
    activationConstraint: 'Object',
    triggers: 'multi Object',
    errors: 'multi Object',
    compileWarnings: 'multi Object',
    description: 'String',
  },
  ['name'],
);

export const PROCEDURE_SHAPE = systemType(
  'ArsProcedure',
  {
    name: 'String',
    serviceName: 'String',
    ruleText: 'String',
    parameters: 'multi Object',
    returnType: 'Object',
    visibility: 'String',
    hidden: 'Boolean',
    profiles: 'multi String',
    updateInterface: 'Boolean',
    errors: 'multi Object',
    compileWarnings: 'multi Object',
    description: 'String',
  },
  ['name'],
);

export const SERVICE_SHAPE = systemType(
  'ArsService',
  {
    name: 'String',
    description: 'String',
    interface: 'multi Any',
    active: 'Boolean',
    eventTypes: 'Object',
    globalType: 'String',
    partitionedType: 'String',
    replicationFactor: 'Integer',
    scheduledProcedures: 'Object',
  },
  ['name'],
);

export const SCALAR_SHAPE = systemType(
  'ArsScalar',
  {
    name: 'String',
    baseType: 'String',
    toInternal: 'String',
    toExternal: 'String',
    toConstraint: 'String',
    comparator: 'String',
    maxLength: 'Integer',
    scale: 'Integer',
    description: 'String',
  },
  ['name'],
);

export const TOPIC_SHAPE = systemType(
  'ArsTopic',
  {
    name: 'String',
    description: 'String',
    isReliable: 'Boolean',
    redeliveryFrequency: 'Integer',
    redeliveryTTL: 'Integer',
    autoUnwind: 'Boolean',
    messageType: 'String',
  },
  ['name'],
);

export const SOURCE_SHAPE = systemType(
  'ArsSource',
  {
    name: 'String',
    description: 'String',
    type: 'String',
    direction: 'String',
    config: 'Object',
    active: 'Boolean',
    pipelineRules: 'multi String',
    activationConstraint: 'String',
    messageType: 'String',
    autoUnwind: 'Boolean',
    isReliable: 'Boolean',
    redeliveryFrequency: 'Integer',
    redeliveryTTL: 'Integer',
    mockMode: 'Boolean',
    mockProcedures: 'Object',
    isUnavailable: 'Boolean',
    state: 'String',
  },
  ['name'],
);

export const DEBUGCONFIG_SHAPE = systemType(
  'ArsDebugConfig',
  { name: 'String', type: 'String', value: 'String', resources: 'multi String', isGlobal: 'Boolean', expiresAt: 'DateTime' },
  ['name'],
);

export const SCHEDULED_EVENT_SHAPE = systemType(
  'ArsScheduledEvent',
  {
    name: 'String',
    periodic: 'Boolean',
    occursAt: 'DateTime',
    interval: 'Integer',
    cron: 'String',
    zone: 'String',
    topic: 'String',
    message: 'Object',
    active: 'Boolean',
    isTransient: 'Boolean',
  },
  ['name'],
);

export const CONFIGURATION_SHAPE = systemType(
  'ArsConfiguration',
  {
    name: 'String',
    description: 'String',
    resources: 'multi ResourceReference',
    provisioningConstraint: 'Object',
    provisionAsTree: 'Boolean',
    active: 'Boolean',
  },
  ['name'],
);
export const DEPLOYCONFIG_SHAPE = systemType('ArsDeployConfig', { name: 'String', partitions: 'multi Object' }, ['name']);

export const USER_SHAPE = systemType(
  'ArsUser',
  {
    username: 'Username',
    password: 'secret String',
    oldPassword: 'secret String',
    profiles: 'multi String',
    email: 'String',
    preferredUsername: 'String',
    firstName: 'String',
    lastName: 'String',
    active: 'Boolean',
    lastLogin: 'DateTime',
  },
  ['username'],
);

export const TOKEN_SHAPE = systemType(
  'ArsToken',
  {
    accessToken: 'secret String',
    name: 'String',
    profiles: 'multi String',
    singleNamespace: 'Boolean',
    username: 'Username',
    expiresAt: 'DateTime',
    tokenType: 'String',
    lastUsedAt: 'DateTime',
  },
  ['name'],
);

export const ORGANIZATION_SHAPE = systemType(
  'ArsOrganization',
  { name: 'String', description: 'String', namespace: 'String', quota: 'Object' },
  ['name'],
);

export const NAMESPACE_SHAPE = systemType(
  'ArsNamespace',
  { namespace: 'String', organizationRef: 'ResourceReference', encryptionKey: 'secret String' },
  ['namespace'],
);

export const LOG_TYPE = systemType('ArsLogMessage', {
  invocationId: 'String',
  level: 'String',
  message: 'String',
  sequenceId: 'Integer',
  timestamp: 'DateTime',
  resource: 'ResourceReference',
  username: 'Username',
});

export const SNAPSHOT_TYPE = systemType('ArsRuleSnapshot', {
  entryType: 'String',
  resource: 'ResourceReference',
  error: 'Object',
  line: 'Integer',
  column: 'Integer',
  invocationId: 'String',
  timestamp: 'DateTime',
  username: 'Username',
});

/** The system properties of the service's own types. */
export const systemProperties = { ars_namespace: 'system', ars_version: 1 } as const;
