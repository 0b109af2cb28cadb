// Configurations and their deployment to nodes.
import type { Feature } from '../../resources/catalog/index.ts';
import { deployment as deploy } from './commands.ts';
import { CONFIGURATIONS, DEPLOYCONFIGS } from './configurations-kind.ts';
import { deployment as deploymentBuiltins } from './deployment.ts';
import { resourceConfig } from './resource-config.ts';
import { DEPLOY_STATUS, RESOURCE_CONFIGS } from './service-types.ts';

export const deployment: Feature = {
  name: 'deployment',
  kinds: [CONFIGURATIONS, DEPLOYCONFIGS],
  instances: [RESOURCE_CONFIGS, DEPLOY_STATUS],
  commands: { configurations: { deploy: deploy('deploy'), undeploy: deploy('undeploy') } },
  builtins: { ...resourceConfig, ...deploymentBuiltins },
};
