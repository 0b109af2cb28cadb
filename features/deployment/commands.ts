// Commands of configurations.
import { decodeInner, getOwn } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { toJson } from '../../model/values/index.ts';
import type { Command } from '../../resources/catalog/index.ts';
import { objectOf, textIn, reply } from '../../resources/requests/index.ts';
import { deployByCommand } from './deployment.ts';

/** Deploys a configuration to its nodes, or undeploys it (4.20). Body: `globalId` of a deployment, `errorsOnly`. */
export const deployment =
  (operation: 'deploy' | 'undeploy'): Command =>
  async (space, id, { object }, actor) => {
    const data = objectOf(object ?? null);
    const globalId = textIn('configurations', data, 'globalId');
    const errorsOnly = Object.hasOwn(data, 'errorsOnly') ? getOwn(data, 'errorsOnly') : false;
    if (typeof errorsOnly !== 'boolean') throw apiError('cascade.resource.property.invalid', 'configurations', 'errorsOnly', 'no Boolean');
    const answer = await deployByCommand(space, id, operation, { globalId, errorsOnly }, actor);
    return reply(toJson('ok' in answer ? decodeInner(answer.ok) : []));
  };
