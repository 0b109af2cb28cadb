// The types that store configurations of resources and the state of deployments.

import { keptByService } from '../../resources/catalog/index.ts';

export const RESOURCE_CONFIGS = keptByService(
  'ArsResourceConfig',
  { name: 'required unique String', value: 'Any', description: 'String' },
  { naturalKey: ['name'] },
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
  { name: 'deploystatus' },
);
