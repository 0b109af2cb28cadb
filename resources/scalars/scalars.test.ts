// Scalars through the engine: stored values, external values, conditions and orders.
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { instancesIn } from '../../engine/testing/stored.ts';

let t: TestEngine;
let client: MongoClient;
beforeAll(async () => {
  t = await openTestEngine();
  client = await new MongoClient(process.env['CASCADE_TEST_MONGO'] as string).connect();
  const programs = [
    `PROCEDURE Units.parse(v)
     if (v == "bad") { exception("units.bad", "{0} is bad", [v]) }
     if (v == "slow") { var n = 0  while (true) { n = n + 1 } }
     if (v == "writes") { INSERT Note(text: "no") }
     if (v == "asks") { return Event.request("Units/asked", {}, 3600000) }
     if (v == "replies") { return Event.reply(1) }
     if (v == "executes") { return ResourceAPI.executeOp({op: "execute", resourceName: "procedures", resourceId: "note", object: []}) }
     return toInteger(replace(toString(v), "%", ""))`,
    'PROCEDURE note()\nINSERT Note(text: "no")',
    'PROCEDURE Units.show(v)\nreturn toString(v) + "%"',
    'PROCEDURE Units.asConstant(v)\nif (v == "half") { return 50 } else { return Units.parse(v) }',
    'PROCEDURE Sizes.rank(v)\nreturn indexOf(["S", "M", "L", "XL"], v)',
    'PROCEDURE Numbers.compare(a, b)\nreturn a < b ? -1 : a > b ? 1 : 0',
    'PROCEDURE Sizes.compare(a, b)\nreturn Sizes.rank(a) - Sizes.rank(b)',
  ];
  for (const text of programs) await t.program('procedures', text);
  await t.type('Note', { text: { type: 'String' } });
  await scalar({
    name: 'Percent',
    baseType: 'Integer',
    toInternal: 'Units.parse',
    toExternal: 'Units.show',
    toConstraint: 'Units.asConstant',
  });
  await scalar({ name: 'Size', baseType: 'String', comparator: 'Sizes.compare', maxLength: 2 });
  await scalar({ name: 'Number64', baseType: 'Integer', comparator: 'Numbers.compare' });
  await t.type(
    'Tank',
    { name: { type: 'String' }, level: { type: 'Percent' }, all: { type: 'Percent', multi: true }, size: { type: 'Size' } },
    { naturalKey: ['level'], indexes: [{ keys: ['level'], options: { unique: true } }] },
  );
});
afterAll(async () => {
  await client.close();
  await t[Symbol.asyncDispose]();
});

const scalar = (body: object) => t.ask('insert', 'scalars', { body: JSON.stringify(body), custom: false });
const put = async (...bodies: object[]) =>
  JSON.parse((await t.ask('insert', 'Tank', { body: JSON.stringify(bodies) })).body ?? '') as never;
const names = async (where: object, sort = '{}') =>
  (
    JSON.parse((await t.ask('select', 'Tank', { parameters: { where: JSON.stringify(where), sort } })).body ?? '') as { name: string }[]
  ).map(({ name }) => name);

test('toInternal makes the stored form of a value and toExternal the shown one; a refused value fails alone', async () => {
  const given = [
    { name: 'a', level: '50%', all: ['1%', '2%'] },
    { name: 'b', level: 7 },
    { level: 'bad' },
    ...['writes', 'asks', 'replies', 'executes'].map((level) => ({ level })),
  ];
  const changes = { status: 400, errors: [{ code: 'cascade.scalar.procedure.signature' }] };
  expect(await put(...given)).toMatchObject([
    { body: { level: '50%', all: ['1%', '2%'] } },
    { body: { level: '7%' } },
    { status: 400, errors: [{ code: 'units.bad', params: ['bad'] }] },
    ...[changes, changes, changes, changes],
  ]);
  const stored = await instancesIn(client.db(`cascade_ns_${t.identity.namespace}`), 'Tank');
  expect(await stored.findOne({ name: 'a' })).toMatchObject({ level: 50, all: [1, 2] });
  expect(await t.rows('Tank', { name: 'b' })).toMatchObject([{ level: '7%' }]);
  expect(await t.rows('Note')).toEqual([]);
});

test('a value that takes too long fails alone', async () => {
  expect(await put({ level: 'slow' }, { name: 'quick', level: 3 })).toMatchObject([
    { status: 400, errors: [{ code: 'cascade.scalar.procedure.signature', params: ['Percent', 'toInternal'] }] },
    { body: { level: '3%' } },
  ]);
  await t.ask('delete', 'Tank', { id: '3%' });
});

test('toConstraint converts constants, in every operator', async () => {
  expect(await names({ level: 'half' })).toEqual(['a']);
  expect(await names({ level: { $gt: '7%' } })).toEqual(['a']);
  expect(await names({ level: { $in: ['7%', '8%'] } })).toEqual(['b']);
  expect(await names({ $or: [{ all: '2%' }, { level: { $not: { $gte: '7%' } } }] })).toEqual(['a']);
  expect(await names({ all: { $elemMatch: { $gt: '1%' } } })).toEqual(['a']);
  expect(await names({ all: ['1%', '2%'] })).toEqual(['a']);
  expect(await names({ level: { ars_substitution_gt: '7%' } })).toEqual(['a']);
  await expect(names({ level: 'bad' })).rejects.toMatchObject({ code: 'units.bad', status: 400 });
});

test('an address, an upsert and a patch take the external form', async () => {
  expect(JSON.parse((await t.ask('select', 'Tank', { id: '50%' })).body ?? '')).toMatchObject({ name: 'a' });
  const patched = await t.ask('patch', 'Tank', {
    id: '50%',
    body: '[{"op":"add","path":"/all/-","value":"3%"},{"op":"test","path":"/level","value":"50%"}]',
  });
  expect(JSON.parse(patched.body ?? '')).toMatchObject([{ level: '50%', all: ['1%', '2%', '3%'] }]);
  const upserted = await t.ask('upsert', 'Tank', { body: '{"level":"50%","name":"A"}' });
  expect(JSON.parse(upserted.body ?? '')).toMatchObject([{ level: '50%', name: 'A', all: ['1%', '2%', '3%'] }]);
  await t.ask('update', 'Tank', { id: '50%', body: '{"name":"a"}' });
});

test('programs and rules see the external form, as clients do', async () => {
  await t.type('Seen', { level: { type: 'String' }, how: { type: 'String' } });
  await t.program('rules', 'RULE seen WHEN INSERT OCCURS ON Tank AS k WHERE k.level == "9%" INSERT Seen(level: k.level, how: "when")');
  await t.program('rules', 'RULE early BEFORE INSERT ON Tank AS k WHERE k.name == "raise" k.level = "12%"  RETURN k');
  await t.program('procedures', 'PROCEDURE levelOf(which)\nvar k = SELECT ONE FROM Tank WHERE name == which\nreturn k.level');
  await put({ name: 'nine', level: '9%' }, { name: 'raise', level: '1%' });
  await t.eventually('Seen', { level: '9%' }, 1);
  expect((await t.ask('execute', 'procedures', { id: 'levelOf', body: '["raise"]' })).body).toBe('"12%"');
  expect(await names({ level: '12%' })).toEqual(['raise']);
});

test('a comparator decides comparisons, equality and order', async () => {
  await put(
    { name: 'x', size: 'XL', level: 101 },
    { name: 's', size: 'S', level: 102 },
    { name: 'l', size: 'L', level: 103 },
    { name: 'none', level: 104 },
  );
  const some = { name: { $in: ['x', 's', 'l', 'none'] } };
  expect(await names({ ...some }, '{"size":1}')).toEqual(['none', 's', 'l', 'x']);
  expect(await names({ ...some }, '{"size":-1}')).toEqual(['x', 'l', 's', 'none']);
  expect(await names({ ...some, size: { $gt: 'M' } }, '{"name":1}')).toEqual(['l', 'x']);
  expect(await names({ ...some, size: { $gt: 'S', $lt: 'XL' } })).toEqual(['l']);
  expect(await names({ ...some, size: { $ne: 'S' } }, '{"name":1}')).toEqual(['l', 'none', 'x']);
});

test('definitions of scalars are checked, and one in use cannot be deleted', async () => {
  await expect(scalar({ name: 'Wrong', baseType: 'Integer', toInternal: 'nowhere' })).rejects.toMatchObject({
    code: 'cascade.scalar.procedure.missing',
  });
  await expect(scalar({ name: 'Wrong', baseType: 'Integer', comparator: 'Units.show' })).rejects.toMatchObject({
    code: 'cascade.scalar.procedure.signature',
  });
  await expect(scalar({ name: 'Percent', baseType: 'String' })).rejects.toMatchObject({ code: 'cascade.resource.key.immutable' });
  await expect(t.ask('delete', 'scalars', { id: 'Percent', custom: false })).rejects.toMatchObject({
    code: 'cascade.scalar.in.use',
    status: 409,
  });
});

test('many values are converted together and keep their order', async () => {
  const bodies = Array.from({ length: 300 }, (_, i) => ({ name: `many${i}`, level: 1000 + (i % 2) + 2 * i }));
  expect(await put(...bodies)).toHaveLength(300);
  expect(await names({ name: { $regex: '^many' } })).toEqual(bodies.map(({ name }) => name));
});

test('a pipeline takes and shows the external form', async () => {
  const pipeline = [
    { $match: { level: { $lte: '50%' }, name: { $in: ['a', 'b'] } } },
    { $sort: { level: 1 } },
    { $project: { _id: 0, level: 1 } },
  ];
  const reply = await t.ask('aggregate', 'Tank', { body: JSON.stringify(pipeline) });
  expect(JSON.parse(reply.body ?? '')).toEqual([{ level: '7%' }, { level: '50%' }]);
});

test('what a condition costs is bounded before its constants are converted or compared', async () => {
  const refused = (limit: string) => ({ code: 'cascade.query.too.expensive', params: [limit] });
  // Were the constants converted first, the refusal would be that of 'bad'.
  const many = Array.from({ length: 10_001 }, () => 'bad');
  await expect(names({ level: { $in: many } })).rejects.toMatchObject(refused('listElements'));
  await expect(names({ $or: many.slice(0, 1_001).map((level) => ({ level })) })).rejects.toMatchObject(refused('nodes'));
  const deep = (depth: number): object => (depth === 0 ? { level: 'bad' } : { $and: [deep(depth - 1)] });
  await expect(names(deep(21))).rejects.toMatchObject(refused('depth'));
  await expect(names(deep(5))).rejects.toMatchObject({ code: 'units.bad' });

  await t.type('Serial', { n: { type: 'Number64' }, name: { type: 'String' } });
  const serials = Array.from({ length: 11 }, (_, n) => ({ name: `n${n}`, n: n + 1 }));
  await t.ask('insert', 'Serial', { body: JSON.stringify(serials) });
  const asked = (where: string) => t.ask('select', 'Serial', { parameters: { where } });
  const numbers = Array.from({ length: 10_000 }, (_, n) => n);
  await expect(asked(JSON.stringify({ n: { $in: numbers } }))).rejects.toMatchObject(refused('comparator'));
  const parts = [numbers.slice(0, 5_000), numbers.slice(5_000)].map((some) => ({ n: { $in: some } }));
  await expect(asked(JSON.stringify({ $or: parts }))).rejects.toMatchObject(refused('comparator'));
  expect(JSON.parse((await asked(JSON.stringify({ n: { $in: numbers.slice(0, 9_000) } }))).body ?? '')).toHaveLength(11);
  // Beyond the doubles.
  await t.ask('insert', 'Serial', { body: '{"name":"far","n":9007199254740993}' });
  const far = await asked('{"n":{"$gte":9007199254740992,"$lte":9007199254740993}}');
  expect(JSON.parse(far.body ?? '')).toMatchObject([{ name: 'far' }]);
});

test('a condition reads the values of a property once, however often it compares it, and among the queries', async () => {
  const commands: string[] = [];
  const db = client.db(`cascade_ns_${t.identity.namespace}`);
  await db.command({ profile: 2 });
  try {
    const terms = Array.from({ length: 50 }, (_, n) => ({ size: { $gt: ['S', 'M', 'L'][n % 3] } }));
    await names({ $or: terms });
  } finally {
    await db.command({ profile: 0 });
  }
  for await (const { command } of db.collection('system.profile').find({ 'command.aggregate': { $exists: true } }))
    if (JSON.stringify(command).includes('"$group"')) commands.push(String((command as { maxTimeMS?: number }).maxTimeMS));
  await db.collection('system.profile').drop();
  expect(commands).toEqual(['30000']);
});

test('the values of a property are not read any more when nobody waits for the answer', async () => {
  let asked = 0;
  const request = {
    identity: t.identity,
    op: 'aggregate',
    resourceName: 'Tank',
    custom: null,
    parameters: {},
    object: [{ $match: { size: { $gt: 'M' } } }],
    isGone: () => ++asked > 1, // at the beginning it is there
  };
  await expect(t.engine.execute(request)).rejects.toMatchObject({ code: 'cascade.server.unavailable' });
  await expect(t.engine.execute({ ...request, isGone: () => false })).resolves.toMatchObject({ status: 200 });
});
