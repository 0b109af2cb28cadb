// A service without a master key (`--mongo` without CASCADE_MASTER_KEY): what it cannot keep is refused, by its reason, and not told to be
// tried again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
});
afterAll(() => t[Symbol.asyncDispose]());

const NODE = {
  name: 'depot',
  uri: 'https://nowhere.invalid',
  username: 'ann',
  password: 'hush',
  deliveryMode: 'bestEffort',
  properties: {},
};

test.each([
  ['secrets', { name: 'there', secret: 'hush' }, 'cascade.resource.property.invalid'],
  ['nodes', NODE, 'cascade.node.invalid'],
  ['sources', { name: 'there', type: 'REMOTE', config: { uri: NODE.uri, password: 'hush' } }, 'cascade.source.config.invalid'],
  ['types', { name: 'Kept', properties: { text: { type: 'String', encrypted: true } } }, 'cascade.resource.property.invalid'],
])('%s', async (resource, body, code) => {
  const refused = t.ask('insert', resource, { body: JSON.stringify(body) });
  await expect(refused).rejects.toMatchObject({ code, status: 400, message: expect.stringContaining('master key') });
});

test('there is no key for push subscriptions', async () => {
  await expect(t.ask('select', 'pushkey', {})).rejects.toMatchObject({ code: 'cascade.resource.not.found', status: 404 });
});
