// What a deployment tells of a node that fails (builtins.md 30). The node's client is one of this test.
import { expect, test } from 'vitest';
import type { Actor } from '../../runtime/context/index.ts';
import { Fenced } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { HttpFailure } from '../sources/index.ts';
import { provision } from './provisioning.ts';

type Ask = (request: unknown, carriage: { hop: number }) => Promise<unknown>;
const undeployed = async (ask: Ask, hop = 0, isClosed = false): Promise<string | null> => {
  const space = { states: { get: () => ({ clientOf: () => ({ ask }), isClosed }) } } as unknown as Namespace;
  const actor = { chain: { root: 'e', depth: 0, hop } } as unknown as Actor;
  return (await provision(space, 'far', 'types', 'Pump', 'undeploy', actor))?.code ?? null;
};

test.each([
  ['silent', new HttpFailure('timeout', 'no data'), 'io.service.federation.request.timeout'],
  ['unreachable', new HttpFailure('unconnected', 'nobody listens'), 'cascade.federation.unreachable'],
  ['without the resource', apiError('cascade.resource.not.found', '/types/Pump'), null],
])('of a node that is %s', async (_, error, code) => {
  expect(await undeployed(() => Promise.reject(error))).toBe(code);
});

// spec: integrations.md 11.3
test('a deployment is one installation further than what set it going, of eight', async () => {
  const hops: number[] = [];
  const ask: Ask = async (_, { hop }) => void hops.push(hop);
  expect(await undeployed(ask, 0)).toBeNull();
  expect(await undeployed(ask, 7)).toBeNull();
  expect(await undeployed(ask, 8)).toBe('cascade.federation.hops');
  expect(hops).toEqual([1, 8]);
});

test('a node whose client is closed with its namespace has not failed', async () => {
  const ask: Ask = () => Promise.reject(new HttpFailure('unconnected', 'closed'));
  await expect(undeployed(ask, 0, true)).rejects.toThrow(Fenced);
});
