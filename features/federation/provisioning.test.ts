// What a deployment tells of a node that fails (builtins.md 30). The node's client is one of this test.
import { expect, test } from 'vitest';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { HttpFailure } from '../sources/index.ts';
import { provision } from './provisioning.ts';

const undeployed = async (error: Error): Promise<string | null> => {
  const client = { ask: () => Promise.reject(error) };
  const space = { states: { get: () => ({ clientOf: () => client }) } } as unknown as Namespace;
  return (await provision(space, 'far', 'types', 'Pump', 'undeploy', {} as Actor))?.code ?? null;
};

test.each([
  ['silent', new HttpFailure('timeout', 'no data'), 'io.service.federation.request.timeout'],
  ['unreachable', new HttpFailure('unconnected', 'nobody listens'), 'cascade.federation.unreachable'],
  ['without the resource', apiError('cascade.resource.not.found', '/types/Pump'), null],
])('of a node that is %s', async (_, error, code) => {
  expect(await undeployed(error)).toBe(code);
});
