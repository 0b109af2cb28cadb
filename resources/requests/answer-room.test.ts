// spec: integrations.md 12.6
import { type Db, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { AnswerRoom } from './answer-room.ts';

let t: TestEngine;
let client: MongoClient;
let db: Db;
beforeAll(async () => {
  t = await openTestEngine();
  client = new MongoClient(String(process.env['CASCADE_TEST_MONGO']));
  db = client.db(`answers${new ObjectId().toHexString()}`);
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
  await t[Symbol.asyncDispose]();
});

test('where kept replies take more than their bound only short ones are kept, until some have expired', async () => {
  const room = new AnswerRoom();
  const answers = db.collection('answers');
  expect(await room.look(db, 'answers', 10_000)).toBe(false);
  expect(room.longest('execute')).toBeGreaterThan(1_000_000);
  await answers.insertOne({ reply: 'x'.repeat(20_000) });
  expect([await room.look(db, 'answers', 10_000), await room.look(db, 'answers', 10_000)]).toEqual([true, false]);
  expect(room.longest('execute')).toBe(4_096);
  await answers.deleteMany({});
  expect(await room.look(db, 'answers', 10_000)).toBe(false);
  expect(room.longest('execute')).toBeGreaterThan(1_000_000);
});

test('a long reply to a read is not kept: the repetition reads again', async () => {
  await t.type('Long', { s: { type: 'String' } });
  const select = async (requestId: string): Promise<number> => {
    const request = { identity: t.identity, op: 'select', resourceName: 'Long', custom: true, parameters: {}, requestId };
    return (JSON.parse((await t.engine.execute(request)).body ?? '') as object[]).length;
  };
  await t.ask('insert', 'Long', { body: JSON.stringify({ s: 'x' }) });
  expect(await select('short')).toBe(1);
  await t.ask('insert', 'Long', { body: JSON.stringify({ s: 'x'.repeat(100_000) }) });
  expect([await select('short'), await select('long')]).toEqual([1, 2]);
  await t.ask('insert', 'Long', { body: JSON.stringify({ s: 'y' }) });
  expect([await select('short'), await select('long')]).toEqual([1, 3]);
});

test('a procedure whose reply is too long to be kept is not run again', async () => {
  await t.type('Ran', { n: { type: 'Integer' } });
  await t.program('procedures', 'PROCEDURE longReply() INSERT Ran(n: 1)\nreturn "0123456789".repeat(900000)');
  const request = { identity: t.identity, op: 'execute', resourceName: 'procedures', custom: false, resourceId: 'longReply' };
  const execute = () => t.engine.execute({ ...request, object: [], parameters: {}, requestId: 'once' });
  expect((await execute()).body).toHaveLength(9_000_002);
  expect(await execute()).toMatchObject({ status: 200 });
  expect(await t.rows('Ran')).toHaveLength(1);
});
