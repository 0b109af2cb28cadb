// Configurations, and bringing them to nodes.
import type { Feature } from '../../resources/feature.ts';
import { deployment as deploy } from './commands.ts';
import { CONFIGURATIONS, DEPLOYCONFIGS } from './configurations-kind.ts';
import { deployment as deploymentBuiltins } from './deployment.ts';
import { resourceConfig } from './resource-config.ts';

export const deployment: Feature = {
  name: 'deployment',
  kinds: [CONFIGURATIONS, DEPLOYCONFIGS],
  commands: { configurations: { deploy: deploy('deploy'), undeploy: deploy('undeploy') } },
  builtins: { ...resourceConfig, ...deploymentBuiltins },
};
