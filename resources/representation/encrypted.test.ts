// Encrypted properties through the engine: sealed in the store, readable for users with the right to read the instance, and refused in
// conditions.
import { randomBytes } from 'node:crypto';
import { Binary, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { instancesIn } from '../../engine/testing/stored.ts';

const masterKey = randomBytes(32);
let t: TestEngine;
let client: MongoClient;
beforeAll(async () => {
  client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  t = await openTestEngine({ masterKey });
  const secret = { type: 'String', encrypted: true };
  await t.type('Card', {
    name: { type: 'String' },
    number: secret,
    codes: { type: 'Integer', multi: true, encrypted: true },
    at: { type: 'DateTime', encrypted: true },
  });
});
afterAll(async () => {
  await client.close();
  await t[Symbol.asyncDispose]();
});
const db = () => client.db(`cascade_ns_${t.identity.namespace}`);

test('values are sealed in the store, and read as they were written', async () => {
  const card = { name: 'a', number: '4000 1234', codes: [1, 9007199254740993], at: '2031-01-01T00:00:00.000Z' };
  const reply = await t.ask('insert', 'Card', {
    body: '{"name":"a","number":"4000 1234","codes":[1,9007199254740993],"at":"2031-01-01T00:00:00Z"}',
  });
  expect(reply.body).toContain('"number":"4000 1234","codes":[1,9007199254740993],"at":"2031-01-01T00:00:00.000Z"');
  const stored = await (await instancesIn(db(), 'Card')).findOne({ name: 'a' });
  expect(stored?.['number']).toBeInstanceOf(Binary);
  expect(JSON.stringify(stored)).not.toContain('4000 1234');
  const [{ _id }] = (await t.rows('Card')) as [{ _id: string }];
  expect((await t.ask('select', 'Card', { id: _id })).body).toContain('"codes":[1,9007199254740993]');
  expect((await t.ask('select', 'Card', { parameters: { props: '["number"]' } })).body).toBe(`[{"_id":"${_id}","number":"4000 1234"}]`);
  await t.ask('update', 'Card', { id: _id, body: '{"name":"b"}' });
  expect(await t.rows('Card', { name: 'b' })).toMatchObject([{ number: card.number }]);
  await t.ask('update', 'Card', { id: _id, body: '{"name":"a","at":null}' });
  expect((await t.rows('Card'))[0]).toMatchObject({ at: null });
});

test('rules and programs read an encrypted property', async () => {
  await t.type('Seen', { number: { type: 'String' } });
  await t.program('rules', 'RULE seen WHEN INSERT OCCURS ON Card AS c INSERT Seen(number: c.number)');
  await t.ask('insert', 'Card', { body: '{"name":"c","number":"77"}' });
  await t.eventually('Seen', { number: '77' }, 1);
  await t.program('procedures', 'PROCEDURE numberOf(which)\nvar c = SELECT ONE FROM Card WHERE name == which\nreturn c.number');
  expect((await t.ask('execute', 'procedures', { id: 'numberOf', body: '["c"]' })).body).toBe('"77"');
});

test('what waits for an acknowledgement is sealed, and is delivered again as it was', async () => {
  await t.type('Again', { number: { type: 'String' } });
  const topic = { name: '/cards', isReliable: true, redeliveryFrequency: 1, redeliveryTTL: 60 };
  await t.ask('insert', 'topics', { body: JSON.stringify(topic) });
  const listener = await t.engine.subscribe(t.identity, '/topics/cards', { persistent: true }, () => undefined);
  listener.close(); // it goes on waiting
  await t.program('rules', 'RULE again WHEN EVENT OCCURS ON "/topics/cards" AS e INSERT Again(number: e.value.number)');
  await t.program('rules', 'RULE toTopic WHEN INSERT OCCURS ON Card AS c WHERE c.name == "d" PUBLISH c TO TOPIC "/cards"');
  await t.ask('insert', 'Card', { body: '{"name":"d","number":"88 99"}' });
  await expect.poll(() => db().collection('deliveries').countDocuments()).toBe(2);
  await t.eventually('Again', { number: '88 99' }, 2);
  const stored = await db().collection('deliveries').find().toArray();
  expect(stored.map(({ target }) => target)).toContain('/rules/again');
  expect(JSON.stringify(stored)).not.toContain('88 99');
  const received: unknown[] = [];
  const named = { persistent: true, subscriptionName: String(stored.find(({ target }) => target !== '/rules/again')?.['target']) };
  const next = await t.engine.subscribe(t.identity, '/topics/cards', named, (notice) =>
    received.push(JSON.parse((notice as { valueJson: string }).valueJson)),
  );
  await next.begin?.();
  await expect.poll(() => received).toMatchObject([{ number: '88 99' }]);
  next.close();
  for (const id of ['again', 'toTopic']) await t.ask('delete', 'rules', { id });
});

test('the values stay readable when a scalar of the same type changes', async () => {
  const scalar = (description: string) =>
    t.ask('upsert', 'scalars', { body: JSON.stringify({ name: 'Percent', baseType: 'Integer', description }) });
  await scalar('of a hundred');
  await t.type('Limited', { percent: { type: 'Percent' }, number: { type: 'String', encrypted: true } });
  await t.ask('insert', 'Limited', { body: '{"percent":1,"number":"7"}' });
  await scalar('a part of a hundred');
  expect(await t.rows('Limited')).toMatchObject([{ percent: 1, number: '7' }]);
  await t.ask('insert', 'Limited', { body: '{"percent":2,"number":"8"}' });
  expect(await t.rows('Limited', { percent: 2 })).toMatchObject([{ number: '8' }]);
});

test('an encrypted property is refused in conditions, orders, groups, indexes and keys', async () => {
  const forbidden = { code: 'cascade.query.property.forbidden', status: 400 };
  for (const where of [{ number: '77' }, { $or: [{ number: { $exists: true } }] }, { number: null }, { 'codes.0': 1 }])
    await expect(t.rows('Card', where)).rejects.toMatchObject(forbidden);
  await expect(t.ask('select', 'Card', { parameters: { sort: '{"number":1}' } })).rejects.toMatchObject(forbidden);
  for (const stage of [
    { $group: { _id: '$number' } },
    { $match: { number: 'x' } },
    { $sort: { number: 1 } },
    { $project: { n: '$number' } },
  ])
    await expect(t.ask('aggregate', 'Card', { body: JSON.stringify([stage]) })).rejects.toMatchObject(forbidden);
  expect((await t.ask('aggregate', 'Card', { body: '[{"$match":{}}]' })).body).not.toContain('"77"');
  const bad = (more: object, attributes: object = {}) => t.type('Bad', { n: { type: 'String', encrypted: true, ...attributes } }, more);
  await expect(bad({}, { unique: true })).rejects.toMatchObject({ code: 'cascade.type.index.invalid' });
  await expect(bad({ indexes: [{ keys: ['n'] }] })).rejects.toMatchObject({ code: 'cascade.type.index.invalid' });
  await expect(bad({ naturalKey: ['n'] })).rejects.toMatchObject({ code: 'cascade.type.key.unknown' });
  const change = {
    properties: {
      name: { type: 'String', encrypted: true },
      number: { type: 'String', encrypted: true },
      codes: { type: 'Integer', multi: true, encrypted: true },
      at: { type: 'DateTime', encrypted: true },
    },
  };
  await expect(t.ask('update', 'types', { id: 'Card', body: JSON.stringify(change), custom: false })).rejects.toMatchObject({
    code: 'cascade.type.change.incompatible',
    params: ['Card', 'name.encrypted'],
  });
});

test('an Object of a type with encrypted properties is encrypted as a whole, or refused', async () => {
  await expect(t.type('Purse', { card: { type: 'Card' } })).rejects.toMatchObject({ code: 'cascade.resource.property.invalid' });
  await t.type('Purse', { card: { type: 'Card', encrypted: true } });
  expect((await t.ask('insert', 'Purse', { body: '{"card":{"name":"x","number":"12"}}' })).body).toContain(
    '"card":{"name":"x","number":"12"}',
  );
});

test('its values are sealed in the journal, idempotency records, recordings and dead letters, too', async () => {
  const secret = 'no-one-may-read-this-0815';
  await t.type('Vault', { name: { type: 'String' }, number: { type: 'String', encrypted: true } });
  await t.program(
    'rules',
    'RULE spoiled WHEN INSERT OCCURS ON Vault AS c WHERE c.name == "spoiled" INSERT Vault(name: "copied", number: c.number) exception("x", c.name, [])',
  );
  const request = { body: `{"name":"spoiled","number":"${secret}"}`, requestId: 'secret-1' };
  const first = await t.ask('insert', 'Vault', request);
  expect(first.body).toContain(secret);
  await t.eventually('Vault', { name: 'copied' }, 1);
  await t.eventually('ArsRuleSnapshot', {}, 1);
  expect((await t.ask('insert', 'Vault', request)).body).toBe(first.body);
  const looked = new Set<string>();
  for (const { name } of await db().listCollections().toArray())
    for await (const document of db().collection(name).find({}, { raw: true })) {
      looked.add(name);
      expect(`${name}: ${(document as unknown as Buffer).includes(secret)}`).toBe(`${name}: false`);
    }
  for (const name of ['journal', 'answers', 'recordings', (await instancesIn(db(), 'Vault')).collectionName])
    expect(looked).toContain(name);
});

test('another process with the same master key reads the values; without the key the namespace is not opened', async () => {
  // A database of its own, since other processes on the same database would recover unfinished work.
  await using database = await openOwnDatabase();
  const mongoUri = database.uri;
  const first = await openTestEngine({ masterKey, mongoUri });
  const { namespace } = first.identity;
  await first.type('Card', { name: { type: 'String' }, number: { type: 'String', encrypted: true } });
  await first.ask('insert', 'Card', { body: '{"name":"c","number":"77"}' });
  await first[Symbol.asyncDispose]();
  const other = await openTestEngine({ masterKey, namespace, mongoUri });
  try {
    expect(await other.rows('Card', { name: 'c' })).toMatchObject([{ number: '77' }]);
  } finally {
    await other[Symbol.asyncDispose]();
  }
  for (const key of [undefined, randomBytes(32)]) {
    const locked = await openTestEngine({ namespace, mongoUri, ...(key && { masterKey: key }) });
    try {
      await expect(locked.rows('Card')).rejects.toThrow('master key');
    } finally {
      await locked[Symbol.asyncDispose]();
    }
    expect(await database.ownerOf(namespace)).toBeNull();
  }
});

test('without a master key no type can have encrypted properties', async () => {
  const plain = await openTestEngine();
  try {
    await expect(plain.type('Card', { n: { type: 'String', encrypted: true } })).rejects.toMatchObject({
      code: 'cascade.resource.property.invalid',
      params: ['types', 'properties.n.encrypted', 'the service was started without a master key'],
    });
  } finally {
    await plain[Symbol.asyncDispose]();
  }
});
