import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from './testing/engine.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
});
afterAll(() => t[Symbol.asyncDispose]());

test('a rule runs for an insert whose WHERE holds, and its effect is stored', async () => {
  await t.type('Pump', { rate: { type: 'Integer' } });
  await t.type('Alarm', { pump: { type: 'String' } });
  await t.program('rules', 'RULE overload WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 90 INSERT Alarm(pump: p._id)');
  const cool = JSON.parse((await t.ask('insert', 'Pump', { body: '{"rate":90}' })).body ?? '')[0];
  const hot = JSON.parse((await t.ask('insert', 'Pump', { body: '{"rate":91}' })).body ?? '')[0];
  await t.eventually('Alarm', { pump: hot._id }, 1);
  expect(await t.rows('Alarm', { pump: cool._id })).toEqual([]);
});

test('a BEFORE rule changes the stored instance, and null cancels the operation', async () => {
  await t.type('Reading', { v: { type: 'Integer' } });
  await t.program('rules', 'RULE clamp BEFORE INSERT ON Reading  if (Reading.v < 0) { Reading.v = 0 }');
  await t.program('rules', 'RULE refuse BEFORE INSERT ON Reading AS r WHERE r.v > 100 RETURN null');
  expect(JSON.parse((await t.ask('insert', 'Reading', { body: '{"v":-3}' })).body ?? '')[0].v).toBe(0);
  expect((await t.ask('insert', 'Reading', { body: '{"v":101}' })).status).toBe(204);
  expect(await t.rows('Reading')).toHaveLength(1);
});

test('a condition has no effects, whatever it calls', async () => {
  await t.type('Tagged', { tags: { type: 'Integer', multi: true }, o: { type: 'Object' } });
  await t.type('Told', { what: { type: 'String' } });
  await t.program(
    'rules',
    'RULE turns BEFORE INSERT ON Tagged AS x WHERE push(x.tags, 9) == true && reverse(x.tags) == [3, 2, 1]\nx.o.seen = true',
  );
  await t.program(
    'rules',
    `RULE tells WHEN INSERT OCCURS ON Tagged AS x WHERE sort(x.tags) == [1, 2, 3] && clear(x.o) == null && x.o.deep.put("b", 1) == 0
     INSERT Told(what: stringify([x.tags, x.o]))`,
  );
  await t.program(
    'rules',
    'RULE toldToo WHEN EVENT OCCURS ON "/topics/tagged" AS e WHERE e.value.l.pop() == 3 AND e.value.l.pop() == 3\nINSERT Told(what: "topic")',
  );
  await t.ask('insert', 'Tagged', { body: '{"tags":[1,2,3],"o":{"deep":{"b":0}}}' });
  await t.ask('publish', 'topics', { id: '/tagged', body: '{"l":[1,2,3]}' });
  expect(await t.rows('Tagged')).toMatchObject([{ tags: [1, 2, 3], o: { deep: { b: 0 }, seen: true } }]);
  await t.eventually('Told', { what: '[[1,2,3],{"deep":{"b":0},"seen":true}]' }, 1);
  await t.eventually('Told', { what: 'topic' }, 1);
});

test('rules that start each other update one counter concurrently, and no update is lost', async () => {
  await t.type('Quake', { net: { type: 'String' }, mag: { type: 'Real' } });
  await t.type('Tally', { net: { type: 'String', unique: true }, n: { type: 'Integer' } }, { naturalKey: ['net'] });
  await t.program('rules', 'RULE raise WHEN INSERT OCCURS ON Quake AS q WHERE q.mag >= 1 PUBLISH {net: q.net} TO TOPIC "/quakes"');
  await t.program(
    'rules',
    `RULE count WHEN EVENT OCCURS ON "/topics/quakes" AS e
     SELECT ONE FROM Tally AS t WHERE net == e.value.net
     if (t == null) { UPSERT Tally(net: e.value.net, n: 1) }
     else { UPDATE Tally(n: t.n + 1) WHERE _id == t._id }`,
  );
  const quakes = Array.from({ length: 300 }, (_, i) => ({ net: ['us', 'ak', 'nc'][i % 3], mag: i % 2 }));
  await t.ask('insert', 'Quake', { body: JSON.stringify(quakes) });
  for (const net of ['us', 'ak', 'nc']) await t.eventually('Tally', { net, n: 50 }, 1, 60_000);
  expect(await t.rows('Tally')).toHaveLength(3);
});

test('a procedure is executed with typed and untyped parameters, and its errors name their place', async () => {
  await t.program('procedures', 'PROCEDURE Temp.toKelvin(celsius Real)\nreturn celsius + 273.15');
  expect((await t.ask('execute', 'procedures', { id: 'Temp.toKelvin', body: '[20]' })).body).toBe('293.15');
  expect((await t.ask('execute', 'procedures', { id: 'Temp.toKelvin', body: '{"celsius":20}' })).body).toBe('293.15');
  await t.program('procedures', 'PROCEDURE broken(x)\nvar y = 1\nreturn y / (x - x)');
  await expect(t.ask('execute', 'procedures', { id: 'broken', body: '[3]' })).rejects.toMatchObject({
    code: 'cascade.lang.arithmetic.zero.divide',
    status: 400,
  });
  const [entry] = await t.eventually('logs', { level: 'ERROR', message: { $regex: 'zero.divide' } }, 1);
  expect(entry?.['message']).toContain('line 3');
  const [snapshot] = await t.eventually('ArsRuleSnapshot', { 'resource.resourceId': 'broken' }, 1);
  expect(snapshot).toMatchObject({ entryType: 'error', line: 3, error: { code: 'cascade.lang.arithmetic.zero.divide' } });
});

test('values of every scalar type, and the limits of numbers, are stored and read unchanged', async () => {
  const properties = {
    s: { type: 'String' },
    i: { type: 'Integer' },
    r: { type: 'Real' },
    z: { type: 'Real' },
    b: { type: 'Boolean' },
    d: { type: 'DateTime' },
    dec: { type: 'Decimal', scale: 2 },
    cur: { type: 'Currency' },
    geo: { type: 'GeoJSON' },
    ref: { type: 'ResourceReference' },
    o: { type: 'Object' },
    m: { type: 'Integer', multi: true },
  };
  await t.type('Every', properties);
  await t.type('Copy', properties);
  await t.program('rules', 'RULE copy WHEN INSERT OCCURS ON Every AS e INSERT Copy(e)');
  const body =
    '{"s":"\\u0001r5","i":9223372036854775807,"r":5.0,"z":-0.0,"b":false,"d":"2031-05-04T03:02:01.000Z","dec":"12.50","cur":"USD:12.5000",' +
    '"geo":{"type":"Point","coordinates":[13.4,52.5]},"ref":"/types/Pump","o":{"i":9223372036854775807,"f":5.0,"z":-0.0,"n":5,"$set":{"a.b":null},"__proto__":1},' +
    '"m":[9007199254740993,-9223372036854775808]}';
  const first = (await t.ask('insert', 'Every', { body })).body ?? '';
  await t.eventually('Copy', {}, 1);
  const copy = (await t.ask('select', 'Copy')).body ?? '';
  const own = (text: string): string => text.slice(text.indexOf('"s":'), text.indexOf(',"ars_namespace"'));
  expect(own(first)).toBe(body.slice(1, -1).replace('"r":5.0', '"r":5'));
  expect(own(copy)).toBe(own(first));
  await t.program('procedures', 'PROCEDURE echo(v) return v');
  const values = '[9223372036854775807,5.0,-0.0,5,0.1,"\\u0001x",null,true,{"a.b":{"$gt":1.0}}]';
  expect((await t.ask('execute', 'procedures', { id: 'echo', body: `[${values}]` })).body).toBe(values);
});

test('a rule that throws, loops, recurses or eats memory ends with an error in the logs; others go on', async () => {
  await t.type('Work', { kind: { type: 'String' }, n: { type: 'Integer' } });
  await t.type('Done', { n: { type: 'Integer' } });
  await t.program('procedures', 'PROCEDURE forever(n) return forever(n + 1)');
  await t.program('rules', 'RULE throws WHEN INSERT OCCURS ON Work AS w WHERE w.kind == "throw"\nvar x = null\nx.y.z = 1');
  await t.program('rules', 'RULE recurses WHEN INSERT OCCURS ON Work AS w WHERE w.kind == "recurse"\nforever(0)');
  await t.program('rules', 'RULE stretches WHEN INSERT OCCURS ON Work AS w WHERE w.kind == "stretch"\nvar a = []\na[60000000] = 1');
  await t.program('rules', 'RULE grows WHEN INSERT OCCURS ON Work AS w WHERE w.kind == "grow"\nvar s = "x"\nwhile (true) { s = s + s }');
  await t.program('rules', 'RULE works WHEN INSERT OCCURS ON Work AS w WHERE w.kind == "work" INSERT Done(n: w.n)');
  const kinds = ['work', 'throw', 'recurse', 'stretch', 'grow', 'work'];
  await t.ask('insert', 'Work', { body: JSON.stringify(kinds.map((kind, n) => ({ kind, n }))) });
  await t.eventually('Done', {}, 2);
  const expected = {
    throws: 'cascade.lang.null',
    recurses: 'cascade.execution.depth',
    stretches: 'cascade.execution.memory',
    grows: 'cascade.lang.string.size',
  };
  for (const [rule, code] of Object.entries(expected)) {
    const [entry] = await t.eventually('logs', { 'resource.resourceId': rule, level: 'ERROR' }, 1);
    expect(entry?.['message'], rule).toContain(code);
    expect(entry?.['message'], rule).toMatch(/line \d+/);
  }
});

test('effects of BEFORE rules within a rule’s insert of an array are recorded one by one', async () => {
  await t.type('Parcel', { n: { type: 'Integer' } });
  await t.type('Seen', { n: { type: 'Integer' } });
  await t.program('rules', 'RULE note BEFORE INSERT ON Parcel AS p INSERT Seen(n: p.n)');
  await t.program('rules', 'RULE unpack WHEN EVENT OCCURS ON "/topics/parcels" AS e INSERT Parcel(e.value)');
  await t.ask('publish', 'topics', { id: '/parcels', body: '[{"n":1},{"n":2},{"n":3}]' });
  await t.eventually('Parcel', {}, 3);
  expect((await t.rows('Seen')).map((row) => row['n'])).toEqual([1, 2, 3]);
});

test('options that this version does not support are refused, not ignored', async () => {
  const encrypted = JSON.stringify({ name: 'Secretive', properties: { pin: { type: 'String', encrypted: true } } });
  await expect(t.ask('insert', 'types', { body: encrypted })).rejects.toMatchObject({
    code: 'cascade.resource.property.invalid',
    status: 400,
  });
});

test('a service lists its public procedures, and leaves out private and HIDDEN ones', async () => {
  await t.program('procedures', 'PROCEDURE Dosing.start() return 1');
  await t.program('procedures', 'PROCEDURE Dosing.secretly() HIDDEN return 2');
  await t.program('procedures', 'PRIVATE PROCEDURE Dosing.inside() return 3');
  expect(JSON.parse((await t.ask('select', 'services', { id: 'Dosing' })).body ?? '').interface).toEqual(['start']);
  expect((await t.ask('execute', 'procedures', { id: 'Dosing.secretly' })).body).toBe('2');
  await expect(t.ask('execute', 'procedures', { id: 'Dosing.inside' })).rejects.toMatchObject({
    code: 'cascade.procedure.private',
    status: 403,
  });
});

test('of a client that has gone a read is not carried out, a change is', async () => {
  await t.type('Left', { n: { type: 'Integer' } });
  const gone = { identity: t.identity, resourceName: 'Left', custom: true, parameters: {}, isGone: () => true };
  await t.engine.execute({ ...gone, op: 'insert', object: { n: 1 } });
  await expect(t.engine.execute({ ...gone, op: 'select' })).rejects.toMatchObject({ code: 'cascade.server.unavailable' });
  expect(await t.rows('Left')).toMatchObject([{ n: 1 }]);
});
