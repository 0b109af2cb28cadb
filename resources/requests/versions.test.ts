// If-Match of changes that others overtake (resources-and-api.md 1.7): the version that it names is changed or deleted, or none is.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { ApiReply } from '../api.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  await t.type('Row', { n: { type: 'Integer' } });
});
afterAll(() => t[Symbol.asyncDispose]());

const CONFLICT = 'cascade.update.authorization.or.version.conflict';
const change = (op: string, [resourceName, resourceId]: [string, string], body?: object, ifMatch?: string): Promise<ApiReply> =>
  t.engine.execute({
    ...{ identity: t.identity, op, resourceName, resourceId, custom: resourceName === 'Row', parameters: {}, address: '10.0.0.1' },
    ...(body && { object: parseJson(JSON.stringify(body)) }),
    ...(ifMatch !== undefined && { ifMatch }),
  });
const outcome = async (asked: Promise<ApiReply>): Promise<unknown> =>
  asked.then(({ status }) => status).catch(({ code }: Error & { code: string }) => code);

test('a definition that others change first is not deleted by its former version', async () => {
  await t.ask('insert', 'topics', { body: '{"name":"/contested"}' });
  const at: [string, string] = ['topics', '/contested'];
  const changes = [1, 2, 3].map((n) => change('update', at, { description: `${n}` }));
  expect(await Promise.all([...changes, change('delete', at, undefined, '"1"')].map(outcome))).toEqual([200, 200, 200, CONFLICT]);
  expect(JSON.parse((await change('selectOne', at)).body ?? '')).toMatchObject({ description: '3', ars_version: 4 });
  expect(await outcome(change('delete', at, undefined, '"4"'))).toBe(204);
});

test('a star means whatever version there is then', async () => {
  const [{ _id }] = JSON.parse((await t.ask('insert', 'Row', { body: '[{"n":0}]' })).body ?? '') as [{ _id: string }];
  const at: [string, string] = ['Row', _id];
  expect(await Promise.all([1, 2, 3].map((n) => outcome(change('update', at, { n }, n === 2 ? '"7", *' : '*'))))).toEqual([200, 200, 200]);
  expect(await outcome(change('delete', at, undefined, '*'))).toBe(204);
  expect(await outcome(change('update', at, { n: 4 }, '*'))).toBe('cascade.resource.not.found');
});
