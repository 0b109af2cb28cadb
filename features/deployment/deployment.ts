// Deploys configurations to nodes (builtins.md 30), and records the outcomes in ArsDeployStatus.
import { randomUUID } from 'node:crypto';
import { DateTime, encodeInner, getOwn, isObject, type ObjectValue, text, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { provision } from '../federation/index.ts';
import { nodesThat } from '../nodes/index.ts';
import { read, insertOne, atomically } from '../../resources/instances/index.ts';
import { DEPLOY_STATUS } from './service-types.ts';
import type { Namespace, HostBuiltin, HostBuiltins } from '../../resources/catalog/index.ts';
import { adminOnly, own } from '../../resources/operations/index.ts';

const MOST = 10_000;

/** Resources that are deployed to the nodes of one condition. */
interface Part {
  readonly partition: string | null;
  readonly constraint: Value;
  readonly resources: readonly Value[];
}

const listIn = (object: ObjectValue, name: string): Value[] => {
  const value = own(object, name);
  return Array.isArray(value) ? value : [];
};

/** @throws cascade.resource.not.found */
function partsOf(space: Namespace, name: string, partitioned: boolean): Part[] {
  const kind = partitioned ? 'deployconfigs' : 'configurations';
  const found = space.catalog.definitions.get(kind, name);
  if (!found) throw apiError('cascade.resource.not.found', `/${kind}/${name}`);
  const part = (object: ObjectValue, partition: string | null): Part => ({
    partition,
    constraint: own(object, 'provisioningConstraint') ?? {},
    resources: listIn(object, 'resources'),
  });
  if (!partitioned) return [part(found, null)];
  return listIn(found, 'partitions').flatMap((one) => (isObject(one) ? [part(one, String(own(one, 'name')))] : []));
}

const carriedOut =
  (partitioned: boolean, operation: 'deploy' | 'undeploy'): HostBuiltin =>
  async (space, args, actor) => {
    const [configName = null, ...rest] = args;
    const [globalId, errorsOnly] = operation === 'deploy' ? [rest[0] ?? randomUUID(), rest[1]] : [randomUUID(), rest[0]];
    adminOnly(actor, operation, partitioned ? 'deployconfigs' : 'configurations');
    const parts = partsOf(space, String(configName), partitioned);
    return atomically(space, `deployment ${String(configName)}`, actor, async (batching) => {
      const before = await read(space, DEPLOY_STATUS, { globalId: String(globalId), configName: String(configName) }, MOST);
      const done = new Set(before.filter((one) => getOwn(one, 'status') === 'SUCCESS').map(placeOf));
      const records: Value[] = [];
      for (const { partition, constraint, resources } of parts)
        for (const node of nodesThat(space, constraint, actor))
          for (const resource of resources) {
            const place = { partition, node, resource: text(resource) };
            if (partitioned && done.has(placeOf(place))) continue;
            const [, kind = '', ...rest] = text(resource).split('/');
            const failed = await provision(space, node, kind, rest.join('/'), operation, actor);
            const timestamp = new DateTime(actor.clock.now());
            const outcome: ObjectValue = failed
              ? { status: 'FAILURE', error: { code: failed.code, message: failed.message }, timestamp }
              : { status: 'SUCCESS', timestamp };
            records.push(await insertOne(space, DEPLOY_STATUS, { globalId, configName, ...place, ...outcome }, batching));
          }
      return errorsOnly === true ? records.filter((one) => isObject(one) && getOwn(one, 'status') === 'FAILURE') : records;
    });
  };

const placeOf = (record: ObjectValue): string => encodeInner(['partition', 'node', 'resource'].map((name) => own(record, name)));

/**
 * Deploys by a client's command on a configuration (resources-and-api.md 2.13).
 * @returns the same records as the built-in, as inner JSON
 */
export const deployByCommand = (
  space: Namespace,
  name: string,
  operation: 'deploy' | 'undeploy',
  { globalId, errorsOnly }: { globalId: string | null; errorsOnly: boolean },
  actor: Actor,
): Promise<Answer> =>
  Promise.resolve(carriedOut(false, operation)(space, operation === 'deploy' ? [name, globalId, errorsOnly] : [name, errorsOnly], actor));

export const deployment: HostBuiltins = {
  'Deployment.deploy': carriedOut(false, 'deploy'),
  'Deployment.deployPartitions': carriedOut(true, 'deploy'),
  'Deployment.undeploy': carriedOut(false, 'undeploy'),
  'Deployment.undeployPartitions': carriedOut(true, 'undeploy'),
};
