// Built-ins that the host answers, called by programs through an engine.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allBuiltins } from '../../stdlib/builtins/index.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { FEATURES } from '../../engine/features.ts';
import { evaluator } from './testing/value.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  await t.type('T', { n: { type: 'Integer' }, at: { type: 'DateTime' }, price: { type: 'Decimal', scale: 2 }, r: { type: 'Real' } });
});
afterAll(() => t[Symbol.asyncDispose]());

const value = evaluator(() => t);

test('the host answers exactly the built-ins that are declared as the host’s', () => {
  const overloads = [...allBuiltins()].flatMap((builtin) => builtin.overloads);
  const asked = overloads.filter(({ host }) => host && !host.known && !host.shared).map(({ name }) => name);
  expect([...FEATURES.builtins.keys()].sort()).toEqual([...new Set(asked)].sort());
});

test('builtins.md 19, 20: Context gives the namespace and profiles of the caller', async () => {
  const { namespace } = t.identity;
  const profiles = [`${namespace}.admin`, `${namespace}.admin__system`];
  expect(await value('Context.profiles()')).toEqual(profiles);
  expect(await value('Utils.getNamespaceAndProfiles()')).toEqual({ namespace, profiles });
  expect(await value('[Context.username(), Context.namespace()]')).toEqual(['ann', namespace]);
  expect(await value('Context.licenseInfo()')).toBe('cascade.authorization.denied ["select","licenses"]');
});

test('resources-and-api.md 7.6: a rule runs with the current profiles of its last editor', async () => {
  const { namespace } = t.identity;
  const username = `editor.${namespace}`;
  const { identity } = t.engine;
  await t.ask('insert', 'profiles', { body: '{"name":"clerk","dml":{"Ask":{"select":{}},"Told":{"insert":{}}}}' });
  await identity.createUser({ username, password: 'correct horse', namespace, profiles: ['clerk'], createdBy: 'ann' });
  await t.type('Ask', { n: { type: 'Integer' } });
  await t.type('Told', { n: { type: 'Integer' }, profiles: { type: 'String', multi: true } });
  const text = 'RULE tell WHEN INSERT OCCURS ON Ask AS a INSERT Told(n: a.n, profiles: Context.profiles())';
  const request = { op: 'insert', resourceName: 'rules', custom: false, parameters: {}, text };
  await t.engine.execute({ ...request, identity: { ...t.identity, username } });
  await t.ask('insert', 'Ask', { body: '{"n":1}' });
  expect((await t.eventually('Told', { n: 1 }, 1))[0]?.['profiles']).toEqual([`${namespace}.clerk`]);
  await identity.authorizeUser(username, namespace, ['admin', 'admin__system']);
  await t.ask('insert', 'Ask', { body: '{"n":2}' });
  expect((await t.eventually('Told', { n: 2 }, 1))[0]?.['profiles']).toEqual([`${namespace}.admin`, `${namespace}.user__system`]);
});

test('builtins.md 21: insert returns the instance, whose properties the result list offers', async () => {
  expect(await value('ResourceAPI.executeOp({op:"insert",resourceName:"T",object:{n:1}}).n')).toBe(1);
  expect(
    await value(
      'var l = EXECUTE ResourceAPI.executeOp({op:"insert",resourceName:"custom/T",object:{n:2}})  return [l.size(), l[0].n, typeOf(l)]',
    ),
  ).toEqual([1, 2, 'List']);
  expect(await value('ResourceAPI.executeOp({op:"insert",resourceName:"T",object:[{n:3},{n:4}],parameters:{count:true}}).n')).toEqual([
    null,
    3,
    4,
  ]);
  expect(await value('ResourceAPI.executeOp({resourceName:"T"})')).toBe('cascade.operation.unknown [null]');
  expect(await value('ResourceAPI.executeOp({op:"subscribe",resourceName:"T"})')).toBe('cascade.operation.unknown ["subscribe"]');
});

test('builtins.md 21: values are of their declared types', async () => {
  const body = `var made = ResourceAPI.executeOp({op:"insert",resourceName:"T",object:{n:50,at:"2030-01-01T00:00:00Z",price:"2.5",r:5}})
    var read = ResourceAPI.executeOp({op:"select",resourceName:"T",resourceId:made._id})
    return [typeOf(read.at), typeOf(read.price), typeOf(read.r), typeOf(read.n), typeOf(read.ars_createdAt), read == made]`;
  expect(await value(body)).toEqual(['DateTime', 'Decimal', 'Real', 'Integer', 'DateTime', true]);
});

test('builtins.md 21: select with where, count and resourceId', async () => {
  await t.ask('insert', 'T', { body: '[{"n":101},{"n":102},{"n":103}]' });
  const select = (rest: string): string => `ResourceAPI.executeOp({op:"select",resourceName:"T",${rest}})`;
  expect(await value(`${select('parameters:{where:{n:{"$gt":100}},sort:{n:-1}}')}.n`)).toEqual([103, 102, 101]);
  expect(
    await value(`var l = ${select('parameters:{where:{n:{"$gt":100}},limit:1,count:true}')}  return [l[0], l[1].n, l.size()]`),
  ).toEqual([{ count: 3 }, 101, 2]);
  expect(await value(select('resourceId:"no"'))).toBe('cascade.resource.not.found ["/T/no"]');
  expect(await value('ResourceAPI.executeOp({op:"select",resourceName:"NoType"})')).toBe('cascade.resource.type.not.found ["NoType"]');
  expect(await value('ResourceAPI.executeOp({op:"select",resourceName:"system.types",parameters:{where:{name:"T"}}}).name')).toBe('T');
  expect(await value('ResourceAPI.executeOp({op:"select",resourceName:"types",resourceId:"T"}).name')).toBe('T');
  expect(
    await value(`var s = ResourceAPI.executeOpAsSequence({op:"select",resourceName:"T",parameters:{where:{n:{"$gt":100}}}})
    var sum = 0  for (x in s) { sum += x.n }  return [typeOf(s), sum]`),
  ).toEqual(['Sequence', 306]);
});

test('builtins.md 21: executeOpAsSequence reads more rows than a result list holds', async () => {
  await t.type('Many', { n: { type: 'Integer' } });
  for (const base of [0, 10_000])
    await t.ask('insert', 'Many', { body: JSON.stringify(Array.from({ length: base === 0 ? 10_000 : 1 }, (_, i) => ({ n: base + i }))) });
  const select = '{op:"select",resourceName:"Many",parameters:{where:{n:{"$gte":0}},sort:{n:-1},props:["n"]}}';
  expect(
    await value(`var count = 0  var first = null
    for (x in ResourceAPI.executeOpAsSequence(${select})) { if (first == null) { first = x.n } count += 1 }
    return [count, first]`),
  ).toEqual([10_001, 10_000]);
  expect(await value('toArray(ResourceAPI.executeOpAsSequence({op:"insert",resourceName:"T",object:{n:-1}})).n')).toEqual([-1]);
  expect(await value('ResourceAPI.executeOpAsSequence({op:"select",resourceName:"Many",parameters:{sort:{n:5}}})')).toBe(
    'cascade.query.sort.invalid ["n"]',
  );
});

test('builtins.md 21: aggregate by a pipeline in the message, or in its parameters', async () => {
  await t.type('Grouped', { k: { type: 'String' }, v: { type: 'Integer' } });
  await t.ask('insert', 'Grouped', { body: '[{"k":"a","v":1},{"k":"a","v":3},{"k":"b","v":5}]' });
  const pipeline = '[{"$group":{"_id":"$k","m":{"$avg":"$v"}}},{"$sort":{"_id":1}}]';
  const groups = [
    { _id: 'a', m: 2 },
    { _id: 'b', m: 5 },
  ];
  expect(await value(`ResourceAPI.executeOp({op:"aggregate",resourceName:"Grouped",object:${pipeline}})`)).toEqual(groups);
  expect(await value(`ResourceAPI.executeOp({op:"aggregate",resourceName:"Grouped",parameters:{pipeline:${pipeline}}})`)).toEqual(groups);
});

test('builtins.md 21: update, patch, upsert, delete, publish and execute', async () => {
  const made = JSON.parse((await t.ask('insert', 'T', { body: '{"n":200}' })).body ?? '')[0];
  const id = `resourceName:"T",resourceId:"${made._id}"`;
  expect(await value(`ResourceAPI.executeOp({op:"update",${id},object:{n:201}}).n`)).toBe(201);
  expect(await value(`ResourceAPI.patch("T", "${made._id}", [{op:"replace",path:"/n",value:202}]).n`)).toBe(202);
  expect(await value(`ResourceAPI.executeOp({op:"update",${id},object:{n:1,ars_version:1}})`)).toBe(
    `cascade.update.authorization.or.version.conflict ["/T/${made._id}",1,3]`,
  );
  expect(await value(`ResourceAPI.executeOp({op:"update",resourceName:"T",object:{n:1}})`)).toBe(
    'cascade.request.parameter.invalid ["resourceId",null]',
  );
  expect(await value(`ResourceAPI.executeOp({op:"insert",resourceName:"T"})`)).toBe('cascade.request.parameter.invalid ["object",null]');
  expect(await value(`ResourceAPI.executeOp({op:"delete",${id}})`)).toEqual([]);
  expect(await value(`ResourceAPI.executeOp({op:"delete",resourceName:"T",parameters:{where:{n:202},count:true}})`)).toEqual([
    { count: 0 },
  ]);
  expect(await value(`ResourceAPI.executeOp({op:"delete",resourceName:"T"})`)).toBe('cascade.delete.where.required ["T"]');
  expect(await value('ResourceAPI.executeOp({op:"publish",resourceName:"topics",resourceId:"/x",object:{n:1}})')).toEqual([{}]);
  await t.program('procedures', 'PROCEDURE double(n) return n * 2');
  expect(await value('ResourceAPI.executeOp({op:"execute",resourceName:"procedures",resourceId:"double",object:[21]})')).toEqual([42]);
  await t.program('procedures', 'PROCEDURE instant() return toDate("2030-01-01T00:00:00Z")');
  expect(await value('typeOf(ResourceAPI.executeOp({op:"execute",resourceName:"procedures",resourceId:"instant"})[0])')).toBe('DateTime');
  expect(await value('ResourceAPI.executeOp({op:"select",resourceName:"T",targetNamespace:"elsewhere"})')).toBe(
    'cascade.namespace.not.authorized ["elsewhere"]',
  );
  expect(await value('try { ResourceAPI.executeOp({op:"insert",resourceName:"T",object:{m:1}}) } catch (e) { return e.code }')).toBe(
    'cascade.type.property.unknown',
  );
});

test('builtins.md 11: Utils.get reads the instance that a reference names', async () => {
  const made = JSON.parse((await t.ask('insert', 'T', { body: '{"n":300}' })).body ?? '')[0];
  for (const ref of [`"/T/${made._id}"`, `"T/${made._id}"`, `{resource:"T",resourceId:"${made._id}"}`])
    expect(await value(`Utils.get(${ref}).n`), ref).toBe(300);
  expect(await value('Utils.get("/system.types/T").name')).toBe('T');
  expect(await value('Utils.get("/types/NoSuch")')).toBe(null);
  expect(await value('Utils.get("/T/000000000000000000000000")')).toBe(null);
  expect(await value('Utils.get("/NoType/1")')).toBe('cascade.resource.not.found ["/NoType"]');
  expect(await value('Utils.get("nothing")')).toBe('cascade.lang.range ["ref","nothing"]');
  expect(await value('Utils.get({n:1})')).toBe('cascade.lang.range ["ref","an Object"]');
});

test('builtins.md 11: a reference to an instance is built from its resource and its key', async () => {
  expect(await value('Utils.buildResourceRef("system.users", {username: "ann"})')).toBe('/users/ann');
  expect(await value('Utils.buildResourceRef("rules", {name: "r1"})')).toBe('/rules/r1');
  expect(await value('Utils.buildResourceRef("T", {_id: "66b0"})')).toBe('/T/66b0');
  expect(await value('Utils.buildResourceRefMap("users", {username: "ann"})')).toEqual({ resource: 'users', resourceId: 'ann' });
  expect(await value('Utils.buildResourceRef("users", {name: "ann"})')).toBe(
    'cascade.lang.range ["instance","an Object without username"]',
  );
  expect(await value('Utils.buildResourceRef("NoType", {_id: "1"})')).toBe('cascade.resource.not.found ["/NoType"]');
});

test('executeOp in a rule raises the events of a statement, and its effects are recorded once', async () => {
  await t.type('Source', { n: { type: 'Integer' } });
  await t.type('Sink', { n: { type: 'Integer', unique: true } });
  await t.type('Echo', { n: { type: 'Integer' } });
  await t.program(
    'rules',
    `RULE forward WHEN INSERT OCCURS ON Source AS s
     var one = ResourceAPI.executeOp({op:"insert",resourceName:"Sink",object:{n:s.n}})
     var many = ResourceAPI.executeOp({op:"insert",resourceName:"Sink",object:[{n:s.n + 1000},{n:s.n + 2000}]})
     var partly = ResourceAPI.executeOp({op:"insert",resourceName:"Sink",object:[{n:s.n},{n:s.n + 3000}]})
     INSERT Echo(n: one.n + many.size() + partly.size())`,
  );
  await t.program('rules', 'RULE chained WHEN INSERT OCCURS ON Sink AS s INSERT Echo(n: s.n)');
  await t.ask('insert', 'Source', { body: '[{"n":7},{"n":8}]' });
  await t.eventually('Sink', {}, 8);
  await t.eventually('Echo', {}, 10);
  expect((await t.rows('Echo', { n: { $lt: 100 } })).map(({ n }) => n).sort()).toEqual([11, 12, 7, 8]);
});

// A run that loses a race for the total restarts: its history then answers for what it has inserted.
test('concurrent updates by executeOp lose no increment, and a restarted run repeats no earlier effect', async () => {
  await t.type('Note', { n: { type: 'Integer' } });
  await t.type('Tick', { n: { type: 'Integer' } });
  await t.type('Total', { key: { type: 'String', unique: true }, n: { type: 'Integer' } }, { naturalKey: ['key'] });
  await t.ask('insert', 'Total', { body: '{"key":"all","n":0}' });
  await t.program(
    'rules',
    `RULE add WHEN INSERT OCCURS ON Tick AS t
     var one = ResourceAPI.executeOp({op:"insert",resourceName:"Note",object:{n:t.n},parameters:{count:true}})
     var two = ResourceAPI.executeOp({op:"insert",resourceName:"Note",object:[{n:t.n},{n:t.n}]})
     var total = ResourceAPI.executeOp({op:"select",resourceName:"Total",resourceId:"all"})
     ResourceAPI.executeOp({op:"update",resourceName:"Total",resourceId:"all",object:{n:total.n + one[0].count + two.size()}})`,
  );
  await t.ask('insert', 'Tick', { body: JSON.stringify(Array.from({ length: 50 }, (_, n) => ({ n }))) });
  await t.eventually('Total', { n: 150 }, 1);
  expect(await t.rows('Note')).toHaveLength(150);
});

test('builtins.md 20: a procedure sees the headers of its request, a rule sees none', async () => {
  await t.program('procedures', 'PROCEDURE headers() return Utils.getHttpHeaders()');
  await t.program(
    'procedures',
    'PROCEDURE outer() return ResourceAPI.executeOp({op:"execute",resourceName:"procedures",resourceId:"headers"})',
  );
  const request = {
    identity: t.identity,
    op: 'execute',
    resourceName: 'procedures',
    custom: false,
    parameters: {},
    headers: { 'x-a': '1' },
  };
  expect((await t.engine.execute({ ...request, resourceId: 'headers' })).body).toBe('{"x-a":"1"}');
  expect((await t.engine.execute({ ...request, resourceId: 'outer' })).body).toBe('[{"x-a":"1"}]');
  expect(await value('Utils.getHttpHeaders()')).toEqual({});
});

test('builtins.md 20: getNamespaceAndProfiles can also be called by clients', async () => {
  const { body } = await t.ask('execute', 'procedures', { id: 'Utils.getNamespaceAndProfiles', body: '[]' });
  expect(JSON.parse(body ?? '')).toMatchObject({ namespace: t.identity.namespace });
});
