// Statements of clients over many instances: those that fit in a batch are one commit, larger ones a run of their own (language.md U5, U6,
// resources-and-api.md 2.7). Crashes within them: crash-simulation, conformance/crash-points.
import { BSON, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseType } from '../../model/types/index.ts';
import { countTurns } from '../../platform/structures/testing/count-turns.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { BATCH, BulkWalk } from './bulk.ts';

const { instances: usual } = BATCH;
let t: TestEngine;
let client: MongoClient;
beforeAll(async () => {
  BATCH.instances = 4;
  client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  t = await openTestEngine();
  await t.type('Row', { n: { type: 'Integer' }, key: { type: 'Integer', unique: true } });
  await t.type('Heard', { what: { type: 'String' }, count: { type: 'Integer' }, by: { type: 'String' } });
  const received = (what: string): string =>
    `RULE ${what}d WHEN EVENT OCCURS ON "/types/Row/${what}" AS e INSERT Heard(what: "${what}", count: e.value.count, by: "" + e.value.qual)`;
  for (const text of [received('delete'), received('update')]) await t.program('rules', text);
  await t.program('rules', 'RULE kept BEFORE DELETE ON Row  if (Row.n == 100) { exception("row.kept", "not this one", []) }');
  await t.program('procedures', 'PROCEDURE mark(n) return UPDATE Row(n: n) WHERE n < 50');
  await t.program(
    'procedures',
    'PROCEDURE wipe() return ResourceAPI.executeOp({op: "delete", resourceName: "Row", parameters: {where: {}, count: true}})',
  );
  await t.program(
    'procedures',
    'PROCEDURE same() var out = []  var n = UPDATE Row(key: 1) WHERE {} ON ERROR (e) { push(out, e.instance.n) }  return [n, out]',
  );
});
beforeEach(async () => {
  await t.ask('delete', 'Heard', { parameters: { where: '{}' } });
  await t.ask('delete', 'Row', { parameters: { where: '{}' } });
  await t.engine.settled();
  await t.ask('delete', 'Heard', { parameters: { where: '{}' } });
});
afterAll(async () => {
  BATCH.instances = usual;
  await client.close();
  await t[Symbol.asyncDispose]();
});

const insert = async (count: number): Promise<void> =>
  void (await t.ask('insert', 'Row', { body: JSON.stringify(Array.from({ length: count }, (_, n) => ({ n, key: n }))) }));
const erase = (where: object) => t.ask('delete', 'Row', { parameters: { where: JSON.stringify(where), count: 'true' } });
const call = async (id: string, args: unknown[]): Promise<unknown> =>
  JSON.parse((await t.ask('execute', 'procedures', { id, body: JSON.stringify(args) })).body ?? '');

/** The transactions of the store on the type's instances during the work: for each, the text of its operations. */
async function commitsOf(work: () => Promise<unknown>): Promise<string[]> {
  const log = client.db('local').collection('oplog.rs');
  const [newest] = await log.find().sort({ $natural: -1 }).limit(1).toArray();
  await work();
  const type = await client.db(`cascade_ns_${t.identity.namespace}`).collection('resources').findOne({ kind: 'types', name: 'Row' });
  const ns = `cascade_ns_${t.identity.namespace}.${String(type?.['collection'])}`;
  const found = await log.find({ ts: { $gt: newest?.['ts'] }, 'o.applyOps.ns': ns }).toArray();
  return found.map((entry) => JSON.stringify(entry));
}

test('changes that fit in a batch are one commit, with their event', async () => {
  await insert(4);
  const commits = await commitsOf(async () => expect(await erase({ n: { $gte: 0 } })).toMatchObject({ status: 204, count: 4 }));
  expect(await t.eventually('Heard', { what: 'delete' }, 1)).toMatchObject([{ count: 4, by: '{"n":{"$gte":0}}' }]);
  expect(commits).toHaveLength(1);
  expect(commits[0]).toContain('/types/Row/delete');
});

test('more changes are committed batch by batch and raise one event with their number', async () => {
  await insert(10);
  const commits = await commitsOf(async () => expect(await erase({ n: { $gte: 1 } })).toMatchObject({ status: 204, count: 9 }));
  expect(await t.rows('Row')).toMatchObject([{ n: 0 }]);
  const received = await t.eventually('Heard', { what: 'delete' }, 1);
  expect(received).toMatchObject([{ count: 9, by: '{"n":{"$gte":1}}', ars_createdBy: t.identity.username }]);
  expect(commits).toHaveLength(3);
});

test('a procedure that a client calls gets the result of its statement, however many instances it changes', async () => {
  await insert(10);
  expect(await call('mark', [7])).toBe(10);
  expect(await t.rows('Row', { n: 7 })).toHaveLength(10);
  expect(await t.eventually('Heard', { what: 'update' }, 1)).toMatchObject([{ count: 10 }]);
});

test('a procedure that uses the resource API gets the result of its statement, too', async () => {
  for (const count of [3, 10]) {
    await insert(count);
    expect(await call('wipe', [])).toEqual([{ count }]);
    expect(await t.eventually('Heard', { count }, 1)).toMatchObject([{ what: 'delete' }]);
  }
});

test('ON ERROR gets the failed instances of all batches', async () => {
  await insert(10);
  expect(await call('same', [])).toEqual([1, [0, 2, 3, 4, 5, 6, 7, 8, 9]]);
  await t.engine.settled();
  expect(await t.rows('Heard')).toMatchObject([{ what: 'update', count: 1 }]);
});

test('a statement that fails halfway raises its event for the changes until then', async () => {
  await insert(10);
  const [last] = await t.rows('Row', { n: 9 });
  await t.ask('update', 'Row', { id: String(last?.['_id']), body: '{"n":100}' });
  await t.engine.settled();
  await t.ask('delete', 'Heard', { parameters: { where: '{}' } });
  await expect(erase({})).rejects.toMatchObject({ code: 'row.kept', message: 'not this one', status: 400 });
  expect(await t.rows('Row')).toHaveLength(2);
  expect(await t.eventually('Heard', { what: 'delete' }, 1)).toMatchObject([{ count: 8 }]);
  await t.ask('update', 'Row', { id: String(last?.['_id']), body: '{"n":0}' });
});

test('a rule that fails in such a statement fails, though its event is raised', async () => {
  await insert(10);
  const [last] = await t.rows('Row', { n: 9 });
  await t.type('Go', { n: { type: 'Integer' } });
  await t.program('rules', 'RULE goes WHEN INSERT OCCURS ON Go  DELETE Row WHERE {}');
  await t.ask('update', 'Row', { id: String(last?.['_id']), body: '{"n":100}' });
  await t.ask('insert', 'Go', { body: '{"n":1}' });
  expect(await t.eventually('Heard', { what: 'delete' }, 1)).toMatchObject([{ count: 8 }]);
  const failed = await t.eventually('ArsRuleSnapshot', { resource: '/rules/goes', entryType: 'error' }, 1);
  expect(JSON.stringify(failed)).toContain('row.kept');
  await t.ask('update', 'Row', { id: String(last?.['_id']), body: '{"n":0}' });
});

test('others have turns while a batch of long instances is read', async () => {
  const raw = BSON.serialize({ _id: new ObjectId(), a: Array.from({ length: 60_000 }, (_, index) => index) });
  const rows = { isDone: false, next: async () => ((rows.isDone = true), [raw, raw, raw]), close: async () => undefined };
  const space = { name: 'main', storage: { rows: { find: () => rows } } } as unknown as Namespace;
  const type = parseType({ name: 'Vast', properties: { a: { type: 'Integer', multi: true } } }, { types: new Map(), scalars: new Map() });
  const walk = new BulkWalk(
    space,
    { type, collection: 'vast' } as InstanceResource,
    { operation: 'update', where: {}, filter: {}, resultOf: String },
    { checkpoints: null } as unknown as Actor,
  );
  using count = countTurns();
  const { instances, isLast } = await walk.read();
  expect([instances.length, isLast]).toEqual([3, true]);
  expect(count.turn).toBeGreaterThan(4);
});
