// Configurations, and bringing them to nodes.
import { getOwn } from '../../stdlib/values/index.ts';
import type { Feature } from '../../resources/feature.ts';
import { deployment as deploy } from './commands.ts';
import { CONFIGURATIONS, DEPLOYCONFIGS } from './configurations-kind.ts';
import { deployment as deploymentBuiltins } from './deployment.ts';
import { checkNodes } from './nodes.ts';
import { resourceConfig } from './resource-config.ts';

export const deployment: Feature = {
  name: 'deployment',
  kinds: [CONFIGURATIONS, DEPLOYCONFIGS],
  commands: { configurations: { deploy: deploy('deploy'), undeploy: deploy('undeploy') } },
  operations: {
    nodes: async (space, payload, actor) => {
      checkNodes(space, getOwn(payload, 'where'), getOwn(payload, 'cardinality'), actor);
      return { ok: 'null' };
    },
  },
  builtins: { ...resourceConfig, ...deploymentBuiltins },
};
