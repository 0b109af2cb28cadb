// spec: integrations.md 12.6; resources-and-api.md 1.7
import { type Collection, MongoClient, type ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { IDEMPOTENCY_RECORDS } from './idempotency.ts';

let t: TestEngine;
let client: MongoClient;
let records: Collection<{ _id: ObjectId }>;
beforeAll(async () => {
  t = await openTestEngine();
  client = new MongoClient(String(process.env['CASCADE_TEST_MONGO']));
  records = client.db(`cascade_ns_${t.identity.namespace}`).collection(IDEMPOTENCY_RECORDS);
  await t.type('Row', { n: { type: 'Integer' }, tags: { type: 'String', multi: true } });
});
afterAll(async () => {
  await client.close();
  await t[Symbol.asyncDispose]();
});

const _id = async (): Promise<string> => {
  const [row] = JSON.parse((await t.ask('insert', 'Row', { body: '{"n":0}' })).body ?? '') as [{ _id: string }];
  return row._id;
};

const topic = async (): Promise<string> => {
  const name = `/topic${(await _id()).toLowerCase()}`;
  await t.ask('insert', 'topics', { body: JSON.stringify({ name }) });
  return name;
};

/** Requests that change something, on a subject of their own. */
const CHANGES: Readonly<Record<string, () => Promise<Pick<ApiRequest, 'op'> & Partial<ApiRequest>>>> = {
  'an INSERT': async () => ({ op: 'insert', object: { n: 1 }, parameters: { count: true } }),
  'an UPSERT': async () => ({ op: 'upsert', object: { _id: await _id(), n: 2 }, parameters: { count: true } }),
  'an UPDATE': async () => ({ op: 'update', resourceId: await _id(), object: { n: 3 }, parameters: { count: true } }),
  'an UPDATE of a version': async () => ({ op: 'update', resourceId: await _id(), object: { n: 3, ars_version: 1 } }),
  'a PATCH': async () => ({ op: 'patch', resourceId: await _id(), object: [{ op: 'add', path: '/tags', value: ['x'] }] }),
  'a PATCH of one operation': async () => ({ op: 'patch', resourceId: await _id(), object: { op: 'replace', path: '/n', value: 4 } }),
  'a DELETE': async () => ({ op: 'delete', resourceId: await _id(), parameters: { count: true } }),
  'a DELETE of one of a condition': async () => ({ op: 'delete', parameters: { where: { _id: await _id() }, count: true } }),
  'a DELETE of several': async () => ({ op: 'delete', parameters: { where: { _id: { $in: [await _id(), await _id()] } }, count: true } }),
  'an UPDATE of a definition': async () => ({ ...topics, op: 'update', resourceId: await topic(), object: { description: 'x' } }),
  'a PATCH of a definition': async () => ({
    ...topics,
    op: 'patch',
    resourceId: await topic(),
    object: [{ op: 'add', path: '/description', value: 'y' }],
  }),
  'a DELETE of a definition': async () => ({ ...topics, op: 'delete', resourceId: await topic(), parameters: { count: true } }),
  "a node's UPDATE": async () => ({ federation, op: 'update', parameters: { where: { _id: await _id() } }, object: { n: 5 } }),
  "a node's UPDATE of one": async () => ({ federation, op: 'update', resourceId: await _id(), object: { n: 5 } }),
  "a node's DELETE": async () => ({ federation, op: 'delete', parameters: { where: { _id: await _id() }, count: true } }),
};
const topics = { resourceName: 'topics', custom: false };
const federation = { isTyped: true } as NonNullable<ApiRequest['federation']>;

test.each(Object.keys(CHANGES))('%s that a crash left without its reply is answered as it was, and not made again', async (name) => {
  const change = await CHANGES[name]!();
  const request = (): ApiRequest => ({
    identity: t.identity,
    resourceName: 'Row',
    custom: true,
    parameters: {},
    requestId: `change ${name}`,
    ...structuredClone(change),
  });
  const first = await t.engine.execute(request());
  expect(first.status).toBeLessThan(300);
  // As the process leaves it that ends between the commit and the reply.
  expect((await records.updateMany({}, { $unset: { reply: 1 } })).modifiedCount).toBe(1);
  const after = await t.engine.execute(request());
  expect(comparable(after)).toEqual(comparable(first));
  await records.deleteMany({});
});

const comparable = ({ status, body, count, isTyped }: ApiReply) => ({ status, body, count, isTyped });

test('definitions of a condition, which are deleted one by one, are all deleted by the repetition', async () => {
  const names = [await topic(), await topic()];
  const where = { name: { $in: names } };
  const request = (): ApiRequest => ({ ...topics, identity: t.identity, op: 'delete', parameters: { where }, requestId: 'some' });
  await t.engine.execute(request());
  await t.ask('insert', 'topics', { body: JSON.stringify({ name: names[1] }) });
  await records.updateMany({}, { $unset: { reply: 1 } });
  await t.engine.execute(request());
  expect(await t.rows('topics', where)).toEqual([]);
});

test('who repeats a request that is in work gets an answer though the first to ask has gone', async () => {
  const id = await _id();
  let looked = 0;
  const request = {
    identity: t.identity,
    op: 'select',
    resourceName: 'Row',
    custom: null,
    parameters: { where: { tags: { $exists: false }, _id: id } },
    requestId: `gone ${id}`,
  };
  const first = t.engine.execute({ ...request, isGone: () => ++looked > 1 }); // at the beginning it is there
  const repeated = [t.engine.execute(request), t.engine.execute(request)];
  await expect(first).rejects.toMatchObject({ code: 'cascade.server.unavailable' });
  for (const one of await Promise.all(repeated)) expect(JSON.parse(one.body ?? '')).toMatchObject([{ _id: id }]);
});
