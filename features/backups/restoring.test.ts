// spec: resources-and-api.md 11
// Restores that were cut off, and backups that somebody has changed: what is in force stays, and nothing is restored that cannot be read again.
import { randomBytes } from 'node:crypto';
import { Collection, type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openOwnDatabase, type OwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { Identity } from '../../resources/api.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { sweepContents } from '../documents/index.ts';
import type { Head, Row } from './format.ts';

const mark = randomBytes(4).toString('hex');
const KEY = 'ab'.repeat(32);
let database: OwnDatabase;
let t: TestEngine;
let system: Identity;
let boss: Identity;
let client: MongoClient;
let head: Head;
let rows: Row[];
let made = 0;

const ask = async (op: string, resourceName: string, resourceId: string | undefined, body: object, identity = system): Promise<unknown> => {
  const object = parseJson(JSON.stringify(body));
  const reply = await t.engine.execute({
    identity,
    op,
    resourceName,
    custom: null,
    parameters: {},
    object,
    ...(resourceId !== undefined && { resourceId }),
  });
  return JSON.parse(reply.body ?? 'null') as unknown;
};
const databaseOf = (namespace: string): Db => client.db(`cascade_ns_${namespace}`);

async function newNamespace(): Promise<string> {
  const namespace = `restored_${mark}_${++made}`;
  await t.engine.identity.createNamespace({ namespace, createdBy: 'test' });
  return namespace;
}

async function begun(namespace: string, from: object, key?: string): Promise<string> {
  const { restore } = (await ask('beginRestore', 'backups', namespace, { head: from, ...(key && { key }) })) as { restore: string };
  return restore;
}

/** Restores into a namespace of its own. @returns its name */
async function restored(from: object, these: readonly object[], key?: string): Promise<string> {
  const namespace = await newNamespace();
  await restoreInto(namespace, from, these, key);
  return namespace;
}

async function restoreInto(namespace: string, from: object, these: readonly object[], key?: string): Promise<void> {
  const restore = await begun(namespace, from, key);
  const isDefinition = (row: object): boolean => (row as Row).in === 'resources';
  for (const part of [these.filter(isDefinition), these.filter((row) => !isDefinition(row))])
    await ask('restore', 'backups', namespace, { restore, rows: part.map((row) => JSON.stringify(row)), ...(key && { key }) });
  await ask('endRestore', 'backups', namespace, { restore, rows: these.length });
}

beforeAll(async () => {
  // Its namespaces have keys, which engines of other tests could not open.
  database = await openOwnDatabase();
  t = await openTestEngine({ masterKey: randomBytes(32), mongoUri: database.uri });
  client = await new MongoClient(database.uri).connect();
  system = { username: `system${mark}`, namespace: `rulers_${mark}`, profiles: ['admin', 'admin__system'], system: true };
  const admin = { username: `boss.${mark}`, password: 'correct horse', profiles: ['admin', 'user__system'] };
  const home = `kept_${mark}`;
  await t.engine.identity.createNamespace({ namespace: home, admin, createdBy: 'test' });
  boss = (await t.engine.identity.login(admin.username, admin.password, '10.0.0.1')).identity;
  const properties = { code: { type: 'String' }, pin: { type: 'String', encrypted: true } };
  await ask('insert', 'types', undefined, { name: 'Pump', properties }, boss);
  await ask('insert', 'types', undefined, { name: 'Plain', properties: { code: { type: 'String' } } }, boss);
  await ask('insert', 'Pump', undefined, { code: 'a', pin: 'of-nobody' }, boss);
  const text = 'PROCEDURE keep()\nINSERT system.documents(name: "a.txt", content: "kept", fileType: "text/plain")';
  await t.engine.execute({ identity: boss, op: 'insert', resourceName: 'procedures', custom: null, parameters: {}, text });
  await ask('execute', 'procedures', 'keep', [], boss);
  await ask('update', 'namespaces', home, { ars_properties: { site: 'north' } }, boss);
  const backup = (await ask('backup', 'backups', home, { key: KEY })) as [Head, ...Row[]];
  head = backup[0];
  rows = backup.slice(1, -1) as Row[];
});
afterAll(async () => {
  await client.close();
  await t[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const codes = async (namespace: string, resourceName: string): Promise<unknown> => {
  const reply = await t.engine.execute({ identity: { ...boss, namespace }, op: 'select', resourceName, custom: null, parameters: {} });
  return (JSON.parse(reply.body ?? '[]') as Record<string, unknown>[]).map((row) => row['code'] ?? row['name']);
};

test('what a restore has put in force stays, though the process ended before it had tidied up, and somebody begins again', async () => {
  const namespace = await restored(head, rows, KEY);
  const db = databaseOf(namespace);
  const collection = rows.find(({ in: name }) => name.startsWith('t.Ars'))!.in;
  // As a process leaves it that is killed right behind the commit.
  const ids = (await db.collection(collection).find().toArray()).map(({ _id }) => _id);
  expect(ids.length).toBeGreaterThan(0);
  await db.collection('restore.inserted').insertOne({ in: collection, ids });
  await expect(begun(namespace, head, KEY)).rejects.toMatchObject({ code: 'cascade.backup.namespace.used' });
  expect(await codes(namespace, 'documents')).toEqual(['a.txt']);
  expect(await codes(namespace, 'Pump')).toEqual(['a']);
});

test('a restore whose staged rows cannot be removed behind its commit is in force all the same', async () => {
  const namespace = await newNamespace();
  const restore = await begun(namespace, head, KEY);
  const definitions = rows.filter((row) => row.in === 'resources');
  for (const part of [definitions, rows.filter((row) => row.in !== 'resources')])
    await ask('restore', 'backups', namespace, { restore, rows: part.map((row) => JSON.stringify(row)), key: KEY });
  const dropping = vi.spyOn(Collection.prototype, 'drop').mockRejectedValueOnce(new Error('the database is away'));
  await ask('endRestore', 'backups', namespace, { restore, rows: rows.length });
  expect(dropping).toHaveBeenCalledTimes(2);
  dropping.mockRestore();
  expect(await codes(namespace, 'Pump')).toEqual(['a']);
});

test('what depends on an instance is deleted with it after a restore, too', async () => {
  const [pump] = rows.filter(({ in: name }) => name === collectionOf('Pump'));
  const { _id, ...values } = pump!.row as { readonly _id: { readonly $oid: string } };
  const part = { ...pump!, row: { ...values, _id: { $oid: 'a'.repeat(24) }, code: 'part', ars_dependentResource: `/Pump/${_id.$oid}` } };
  const namespace = await restored(head, [...rows, part], KEY);
  expect(await codes(namespace, 'Pump')).toEqual(['a', 'part']);
  await ask('delete', 'Pump', _id.$oid, {}, { ...boss, namespace });
  expect(await codes(namespace, 'Pump')).toEqual([]);
});

test('the properties of the namespace come into force with the rest, or not at all', async () => {
  const namespace = await newNamespace();
  const restore = await begun(namespace, head, KEY);
  const definitions = rows.filter((row) => row.in === 'resources').map((row) => JSON.stringify(row));
  await ask('restore', 'backups', namespace, { restore, rows: definitions, key: KEY });
  const installation = client.db('cascade').collection('namespaces');
  const properties = async (): Promise<unknown> => (await installation.findOne({ namespace }))?.['properties'];
  const [first] = definitions;
  await databaseOf(namespace).collection('resources').insertOne({ name: 'in the way', kind: 'scalars', of: first });
  await expect(ask('endRestore', 'backups', namespace, { restore, rows: definitions.length })).rejects.toMatchObject({
    code: 'cascade.backup.namespace.used',
  });
  expect(await properties()).toBeUndefined();
  await databaseOf(namespace).collection('resources').deleteMany({});
  await ask('endRestore', 'backups', namespace, { restore, rows: definitions.length });
  expect(await properties()).toBe('{"site":"north"}');
});

test('documents that were deleted and come back by a restore keep their contents when what was deleted is removed', async () => {
  const namespace = await restored(head, rows, KEY);
  const own = { ...boss, namespace };
  await ask('delete', 'documents', 'a.txt', {}, own);
  await ask('delete', 'procedures', 'keep', {}, own);
  for (const type of ['Pump', 'Plain']) await ask('delete', 'types', type, {}, own);
  await restoreInto(namespace, head, rows, KEY);
  const db = databaseOf(namespace);
  await db.collection('documentsDoomed').updateMany({}, { $set: { at: new Date(0) } });
  await sweepContents({ name: namespace, storage: { db } } as unknown as Namespace);
  expect(await codes(namespace, 'documents')).toEqual(['a.txt']);
  expect(await db.collection('documentFiles.chunks').countDocuments()).toBe(1);
});

test('who had subscribed in a namespace hears what happens there after a restore into it', async () => {
  const namespace = await newNamespace();
  const own = { ...boss, namespace };
  const received: string[] = [];
  const subscription = await t.engine.subscribe(own, '/topics/door', {}, (notice) => {
    received.push(notice.kind === 'event' ? notice.valueJson : notice.kind);
  });
  await restoreInto(namespace, head, rows, KEY);
  await ask('publish', 'topics', '/door', { n: 1 }, own);
  await vi.waitFor(() => expect(received).toEqual(['{"n":1}']));
  subscription.close();
  await ask('publish', 'topics', '/door', { n: 2 }, own);
  expect(received).toHaveLength(1);
});

const changedIn = (name: string, change: (row: Record<string, unknown>) => object): Row[] =>
  rows.map((one) => {
    const row = one.row as Record<string, unknown>;
    return one.in === 'resources' && row['name'] === name ? { ...one, row: change(row) } : one;
  });
const instancesWith = (values: object): Row[] =>
  rows.map((one) =>
    one.in.startsWith('t.') && !one.in.startsWith('t.Ars') ? { ...one, row: { ...(one.row as object), ...values } } : one,
  );

test.each<[reason: string, from: () => object, these: () => object[], key?: string]>([
  ['names no key', () => ({ ...head, check: null }), () => rows],
  ['in the clear', () => head, () => instancesWith({ pin: 'in the clear' }), KEY],
  ['of a kind that the service does not keep', () => head, () => instancesWith({ code: { $minKey: 1 } }), KEY],
  ["The '_id' value cannot be of type array", () => head, () => instancesWith({ _id: [1] }), KEY],
  ["the service's own", () => head, () => changedIn('Plain', (row) => ({ ...row, collection: 'journal' })), KEY],
  ["the service's own", () => head, () => changedIn('Plain', (row) => ({ ...row, collection: 't.ArsDocument' })), KEY],
  [
    'two types of it have one collection',
    () => head,
    () => changedIn('Plain', (row) => ({ ...row, collection: collectionOf('Pump') })),
    KEY,
  ],
  ['is not whole', () => head, () => changedIn('Plain', (row) => ({ ...row, _id: { $oid: '0'.repeat(24) } })), KEY],
  ['of a kind that the service does not keep', () => head, () => changedIn('Plain', (row) => ({ ...row, more: { $minKey: 1 } })), KEY],
  ['ars_properties', () => ({ ...head, properties: 'no JSON' }), () => rows, KEY],
  ['ars_properties', () => ({ ...head, properties: '[1]' }), () => rows, KEY],
  ['does not begin as one', () => ({ ...head, properties: 5 }), () => rows, KEY],
  ['does not begin as one', () => ({ ...head, namespace: undefined }), () => rows, KEY],
])('a backup is refused that says what no service has written: %s', async (reason, from, these, key) => {
  const refused = await restored(from(), these(), key).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'cascade.backup.invalid', message: expect.stringContaining(reason) as string });
});

const collectionOf = (type: string): string => {
  const found = rows.find(({ row }) => (row as Record<string, unknown>)['name'] === type)?.row as Record<string, unknown>;
  return String(found['collection']);
};
