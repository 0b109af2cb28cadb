// Every statement, compiled and run by the driver, with a host that is played by the test.
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import { Real, type Value } from '../values/index.ts';
import { type Answer, type Host, TestLane } from './testing/lane.ts';

const builtins = builtinTable();
const openLane = (): TestLane => new TestLane({ compile: (text) => compile(text, { builtins }), evaluate: runInThisContext });
const value = (body: string, args: unknown[] = [], host?: Host): unknown => {
  const outcome = openLane().eval(body, args as never[], host);
  if (outcome.failure) throw new Error(`${outcome.failure.code} ${outcome.failure.message}`);
  return outcome.value;
};
const code = (body: string, args: unknown[] = [], host?: Host): string | undefined =>
  openLane().eval(body, args as never[], host).failure?.code;

test('the value of a body is that of its last statement', () => {
  expect(value('var x = 1  x + 1')).toBe(2);
  expect(value('var x = 5')).toBe(5);
  expect(value('var x')).toBe(null);
  expect(value('var x = {}  x.a = 3')).toBe(3);
  expect(value('if (p0) { 1 } else if (p1) { 2 } else { 3 }', [false, true])).toBe(2);
  expect(value('if (p0) { 1 }', [false])).toBe(null);
  expect(value('for (x in [1]) { x }')).toBe(null);
  expect(value('try { 1 } catch (e) { 2 } finally { 3 }')).toBe(1);
  expect(value('')).toBe(null);
});

test('RETURN does not end execution', () => {
  expect(value('var x = 0  if (p0) { return 1 }  x = 2  return x', [true])).toBe(2);
  expect(value('if (p0) { return 1 } else { return 2 }', [true])).toBe(1);
});

test('a variable of a branch that did not run is null', () => {
  expect(value('if (p0) { var x = 1 }  return x', [false])).toBe(null);
});

test('FOR goes through arrays, objects, ranges and null, and UNTIL is tested first', () => {
  expect(value('var t = 0  for (i in range(1,10,1) until t >= 12) { t += i }  t')).toBe(15);
  expect(value('var t = ""  for (e in {a: 1, b: 2}) { t += e.key + e.value }  t')).toBe('a1b2');
  expect(value('var n = 0  for (x in null) { n++ }  n')).toBe(0);
  expect(value('var a = [1,2]  for (x in a) { a.push(x) }  a')).toEqual([1, 2, 1, 2]);
  expect(value('var a = [{n: 1}]  for each o in a do o.n = 5 end  a')).toEqual([{ n: 5 }]);
  expect(code('for (x in 5) { }')).toBe('cascade.lang.iteration');
});

test('a FOR variable shadows another one inside its block only', () => {
  expect(value('var x = 1  for (x in [7, 8]) { x = x + 1 }  x')).toBe(1);
});

test('WHILE tests before each body', () => {
  expect(value('var i = 0  while (i < 5) { i++ }  i')).toBe(5);
  expect(value('var i = 0  while (false) { i++ }  i')).toBe(0);
});

test('FILTER and MAP are lazy and read once', () => {
  expect(value('toArray(MAP (x in [1,2,3]) { return x * x })')).toEqual([1, 4, 9]);
  expect(value('toArray(FILTER (x in [1,2,3,4] until x > 3) { return x % 2 == 0 })')).toEqual([2]);
  expect(value('var n = 0  var m = MAP (x in [1,2]) { n++ }  n')).toBe(0);
  expect(value('MAP (x in [1,2]) { x }')).toEqual([1, 2]);
  expect(code('var m = MAP (x in [1]) { x }  toArray(m)  toArray(m)')).toBe('cascade.lang.sequence.consumed');
  expect(
    value('var m = MAP (x in FILTER (y in range(0, 100, 1)) { return y % 10 == 0 } until x > 50) { return x / 10 }  toArray(m)'),
  ).toEqual([0, 1, 2, 3, 4, 5]);
});

test('the body of MAP may ask the host', () => {
  const host: Host = (_kind, payload) => ({ ok: { stored: payload.values ?? null } });
  expect(value('toArray(MAP (x in [1,2]) { INSERT T(n: x) })', [], host)).toEqual([{ stored: { n: 1 } }, { stored: { n: 2 } }]);
});

test('TRY gives the error to CATCH and runs FINALLY', () => {
  const outcome = openLane().eval(
    'try { exception("my.code", "Only {0} of {1}", [3, "x"]) } catch (e) { return e } finally { log.info("end") }',
  );
  expect(outcome.value).toEqual({ code: 'my.code', message: 'Only 3 of x', params: [3, 'x'], isFormatted: true });
  expect(outcome.logs).toEqual(['INFO end']);
  expect(value('try { var x = null  x.a } catch (e) { e.code }')).toBe('cascade.lang.null');
  expect(code('try { exception("a", "b") } catch (e) { rethrow(e) }')).toBe('a');
});

const UNCAUGHT = (body: string): string => `try { ${body} } catch (e) { log.info("caught") } finally { log.info("finally") }`;

test.each([
  ['depth', 'f0()', { callDepth: 5 }],
  ['memory', 'var a = []  a[10000000] = 1', {}],
  ['iteration.limit', 'for (x in [1, 2, 3]) { }', { iterations: 2 }],
  ['iteration.limit', 'for (x in {a: 1, b: 2, c: 3}) { }', { iterations: 2 }],
])('limits are not caught and FINALLY does not run: %s of %s', (limit, body, options) => {
  const outcome = openLane().eval(UNCAUGHT(body), [], undefined, options);
  expect([outcome.failure?.code, outcome.failure?.status, outcome.logs]).toEqual([`cascade.execution.${limit}`, 429, []]);
});

test('the end of a run by its time is not caught either; what a program raises under such a code is', () => {
  const lane = openLane();
  const { program } = lane.load(`RULE r WHEN EVENT OCCURS ON "/topics/a" ${UNCAUGHT('while (true) { }')}`);
  const timeout = { code: 'cascade.execution.timeout', message: 'm', params: [], status: 429 };
  lane.step(...lane.begin('x', program, {}, { at: 1, seed: 's', fuel: 10, namespace: 'n', username: 'u', resource: '/rules/r' }));
  expect(lane.step(['err', 'x', timeout, 2]).map(([kind]) => kind)).toEqual(['fail']);
  for (const code of ['depth', 'memory', 'timeout', 'iteration.limit'])
    expect(value(`try { exception("cascade.execution.${code}", "m") } catch (e) { e.code }`), code).toBe(`cascade.execution.${code}`);
});

test('INSERT takes pairs or an object, and its value is the stored instance', () => {
  const host: Host = (_kind, { values }) => ({ ok: { ...(values as object), _id: '1' } });
  const outcome = openLane().eval('INSERT INTO Pump(id = "a", rate: 5.0)', [], host);
  expect(outcome.value).toEqual({ id: 'a', rate: new Real(5), _id: '1' });
  expect(outcome.ops).toMatchObject([{ kind: 'insert', payload: { resource: 'Pump', series: false, options: {} }, tail: false }]);
  expect(code('INSERT Pump("x")', [], host)).toBe('cascade.lang.insert.value');
  expect(code('INSERT SERIES Pump(window: 1)', [], host)).toBe('cascade.lang.insert.series');
});

test('WHERE becomes a where-object with the operands of this moment', () => {
  const host: Host = () => ({ ok: 2 });
  const body = 'DELETE Pump WHERE rate > p0 + 1 AND NOT (site in [p1]) OR Pump.tags regex "^a" AND active';
  const [op] = openLane().eval(body, [3, 'x'], host).ops;
  expect(op?.payload.where).toEqual({
    $or: [
      { $and: [{ rate: { $gt: 4 } }, { $nor: [{ site: { $in: ['x'] } }] }] },
      { $and: [{ tags: { $regex: '^a' } }, { active: { $eq: true } }] },
    ],
  });
  expect(openLane().eval('DELETE Pump WHERE p0', [{ a: 1 }], host).ops[0]?.payload.where).toEqual({ a: 1 });
  expect(code('DELETE Pump WHERE p0', [5], host)).toBe('cascade.query.condition.type');
  expect(openLane().eval('DELETE @p0 WHERE {}', ['Pump'], host).ops[0]?.payload).toEqual({ resource: 'Pump', where: {}, options: {} });
  expect(code('DELETE @p0 WHERE {}', [5], host)).toBe('cascade.lang.reference.type');
});

test('SELECT as a statement sets its variable', () => {
  const host: Host = () => ({ list: [{ rate: 3 }] });
  const outcome = openLane().eval('SELECT * FROM Pump WHERE id == p0  return Pump.rate', ['a'], host);
  expect(outcome.value).toBe(3);
  expect(outcome.ops[0]?.payload).toEqual({
    resource: 'Pump',
    where: { id: { $eq: 'a' } },
    props: null,
    orderBy: [],
    cardinality: 'array',
    options: {},
  });
});

test('a result list of one element answers by its properties, another Array projects', () => {
  expect(value('var r = SELECT FROM Pump  r.n', [], () => ({ list: [{ n: 1 }, { n: 2 }] }))).toEqual([1, 2]);
  expect(value('var r = SELECT FROM Pump  r[0].n + r.n', [], () => ({ list: [{ n: 1 }] }))).toBe(2);
  expect(value('var r = [{n: 1}]  r.n')).toEqual([1]);
  expect(value('var r = SELECT n, m = n + 1 FROM Pump  r.m', [], () => ({ list: [{ n: 1 }] }))).toBe(2);
});

test('SELECT has options, order, paging and computed bindings', () => {
  const host: Host = () => ({ list: [{ _id: '7', a: 2, b: 3 }] });
  const outcome = openLane().eval(
    'SELECT a, sum = a + b FROM Pump AS p WITH LIMIT = 5, skip = p0, configure = true ORDER BY p.a DESC, b',
    [2],
    host,
  );
  expect(outcome.value).toEqual([{ a: 2, sum: 5, _id: '7' }]);
  expect(outcome.ops[0]?.payload).toMatchObject({
    props: ['a', 'b'],
    limit: 5,
    skip: 2,
    options: { configure: true },
    orderBy: [
      ['a', true],
      ['b', false],
    ],
  });
});

test('SELECT has aggregates and groups', () => {
  const host: Host = () => ({ list: [{ k: 'a', n: 4, ars_aggregate0: 10, ars_aggregate1: 4 }] });
  const outcome = openLane().eval('SELECT k, n = count(), mean = sum(v) / count(*) FROM T GROUP BY k', [], host);
  expect(outcome.value).toEqual([{ k: 'a', n: 4, mean: 2.5 }]);
  expect(outcome.ops[0]?.payload).toMatchObject({
    aggregates: { n: ['count', null], ars_aggregate0: ['sum', 'v'], ars_aggregate1: ['count', null] },
    groupBy: ['k'],
  });
  expect(code('SELECT v, n = count() FROM T GROUP BY k')).toBe('cascade.query.group');
});

test('an aggregate over an expression is worked out from the rows', () => {
  const rows = [
    { k: 'a', v: 3, w: 2 },
    { k: 'b', v: 8, w: 1 },
    { k: 'a', v: 4, w: 1 },
  ];
  const host: Host = () => ({ ok: { cursor: 'c', rows, done: true } });
  const outcome = openLane().eval('SELECT k, s = sum(v * w), n = count(), r = max(v) - 1 FROM T GROUP BY k', [], host);
  expect(outcome.value).toEqual([
    { k: 'a', s: 10, n: 2, r: 3 },
    { k: 'b', s: 8, n: 1, r: 7 },
  ]);
  expect(outcome.ops[0]).toMatchObject({ kind: 'open', payload: { props: ['k', 'v', 'w'] } });
  expect(value('SELECT ONE s = sum(v * w) FROM T', [], host)).toEqual({ s: 18 });
  expect(value('toArray(MAP (x in SELECT s = sum(v + 1) FROM T) { return x.s })', [], host)).toEqual([18]);
  const paged = (options: string): unknown => openLane().eval(`SELECT k, s = sum(v + 1) FROM T WITH ${options} GROUP BY k`, [], host);
  expect(paged('limit = 1')).toMatchObject({ value: [{ k: 'a', s: 9 }] });
  expect(paged('skip = 0, limit = 5')).toMatchObject({ value: [{ k: 'a' }, { k: 'b' }] });
  for (const [option, params] of [
    ['skip = -1', ['skip', 0, 10_000]],
    ['limit = -1', ['limit', 0, 10_000]],
    ['limit = "x"', ['limit', 0, 10_000]],
  ] as const)
    expect(paged(option), option).toMatchObject({ failure: { code: 'cascade.query.limit.range', params } });
  expect(value('var t = 0  for (x in SELECT k, s = sum(v + 1) FROM T WITH skip = 1 GROUP BY k) { t += x.s }  t', [], host)).toBe(9);
});

test('FOR over SELECT reads page by page and closes when UNTIL ends it', () => {
  const pages: Record<string, Answer> = {
    open: { ok: { cursor: 'c', rows: [{ n: 1 }, { n: 2 }], done: false } },
    next: { ok: { rows: [{ n: 3 }], done: true } },
  };
  const host: Host = (kind) => pages[kind] ?? { ok: null };
  const all = openLane().eval('var t = 0  for (r in SELECT n FROM T) { t += r.n }  t', [], host);
  expect(all.value).toBe(6);
  expect(all.ops.map((op) => op.kind)).toEqual(['open', 'next']);
  const some = openLane().eval('var t = 0  for (r in SELECT n FROM T until r.n == 2) { t += r.n }  t', [], host);
  expect(some.value).toBe(1);
  expect(some.ops.map((op) => op.kind)).toEqual(['open', 'close']);
  const one: Host = () => ({ ok: { n: 5 } });
  expect(value('var t = ""  for (e in SELECT ONE FROM T) { t += e.key + e.value }  t', [], one)).toBe('n5');
  expect(value('toArray(FILTER (e in SELECT ONE FROM T) { return e.value > 3 })', [], one)).toEqual([{ key: 'n', value: 5 }]);
});

test('a processing block runs once a row', () => {
  const host: Host = (kind) => (kind === 'select' ? { ok: null } : { ok: { cursor: 'c', rows: [{ n: 1 }, { n: 2 }], done: true } });
  expect(value('var t = 0  SELECT n FROM T AS r { t += r.n }  t', [], host)).toBe(3);
  expect(value('var t = 0  SELECT ONE FROM T { t++ }  t', [], host)).toBe(0);
  expect(value('var t = 0  var x = SELECT n FROM T AS r { t += r.n }  return [t, x]', [], host)).toEqual([3, null]);
});

test('a query to a source gives its answer as one element', () => {
  const host: Host = () => ({ ok: { temp: 5 } });
  const outcome = openLane().eval('var w = SELECT FROM SOURCE sky WITH path = "/x"  w.temp + w[0].temp', [], host);
  expect(outcome.value).toBe(10);
  expect(outcome.ops).toMatchObject([{ kind: 'query', payload: { source: 'sky', request: { path: '/x' } } }]);
  expect(value('SELECT ONE FROM SOURCE sky', [], host)).toEqual({ temp: 5 });
});

test('UPDATE has a value, and ON ERROR runs for each failed instance', () => {
  expect(value('UPDATE T(n: 1) WHERE _id == "a"', [], () => ({ ok: { n: 1 } }))).toEqual({ n: 1 });
  const failed = [{ error: { code: 'x', message: 'm', params: [] }, instance: { _id: '1' } }];
  const host: Host = () => ({ ok: { count: 3, failed } });
  const outcome = openLane().eval('UPDATE T(n: 1) WHERE {} ON ERROR (e) { log.warn(e.code + e.instance._id) }', [], host);
  expect(outcome.value).toBe(3);
  expect(outcome.logs).toEqual(['WARN x1']);
});

test('an operand beside a property of a row is data, or its text', () => {
  const host: Host = (kind) => ({ ok: kind === 'update' ? 1 : { _id: '1', n: 'x' } });
  const given = (operand: string): unknown => {
    const body = `var m = ${operand}  var r = SELECT ONE FROM T AS t WHERE _id == "1"  UPDATE T(n: r.n + m) WHERE _id == r._id`;
    return openLane().eval(body, [], host).ops.at(-1)?.payload['computed'];
  };
  expect(given('regExp("a+")')).toMatchObject({ given: { 0: 'a+' } });
  expect(given('{a: 1}')).toMatchObject({ given: { 0: { a: 1 } } });
  expect(given('5')).toMatchObject({ given: { 0: 5 } });
});

test('PUBLISH goes to topics, sources and service events', () => {
  const host: Host = () => ({ ok: null });
  const ops = (body: string, args: unknown[] = []) =>
    openLane()
      .eval(body, args as never[], host)
      .ops.map((op) => ({ [op.kind]: op.payload }));
  expect(ops('PUBLISH {a: 1} TO TOPIC "/a/b"')).toEqual([{ publish: { topic: '/a/b', value: { a: 1 } } }]);
  expect(ops('PUBLISH p0 TO TOPIC @p1 SCHEDULE {interval: 1 second}', [5, '/t'])).toEqual([
    { publish: { topic: '/t', value: 5, schedule: { interval: 1000 } } },
  ]);
  expect(ops('PUBLISH {m: 1} TO SOURCE s USING {topic: "x"}')).toEqual([
    { publishSource: { source: 's', value: { m: 1 }, using: { topic: 'x' } } },
  ]);
  expect(ops('PUBLISH {} TO SERVICE EVENT "svc/e"')).toEqual([{ publishServiceEvent: { target: 'svc/e', value: {}, from: null } }]);
  expect(ops('PUBLISH REQUEST ON Pump WITH {id: 1}')).toEqual([{ publishRequest: { resource: 'Pump', value: { id: 1 } } }]);
  expect(code('PUBLISH 5 TO SOURCE s', [], host)).toBe('cascade.lang.publish.value');
  expect(ops('var m = MAP (x in [1]) { x + 1 }  PUBLISH m TO TOPIC "/a"')).toEqual([{ publish: { topic: '/a', value: [2] } }]);
  expect(ops('PUBLISH {m: p0} TO TOPIC "/a"', [5])).toEqual([{ publish: { topic: '/a', value: { m: 5 } } }]);
});

test('EXECUTE calls, queues, selects and goes through results', () => {
  const host: Host = () => ({ ok: [1, 2] });
  const lane = openLane();
  lane.load('PROCEDURE g(a, b) a + b');
  lane.load('PROCEDURE h() var t = 0 EXECUTE g(1, 2) AS r { t += r } t');
  expect(lane.call('h', []).value).toBe(3);
  expect(lane.eval('EXECUTE g(b: 1, a: "x")').value).toBe('x1');
  expect(lane.eval('EXECUTE ASYNC g(1, 2)', [], host).ops).toMatchObject([
    { kind: 'execute', payload: { names: ['g'], args: [1, 2], named: null, async: true } },
  ]);
  expect(lane.eval('EXECUTE * (5) WHERE properties.role == "x"', [], host).ops).toMatchObject([
    { kind: 'executeAll', payload: { where: { 'ars_properties.role': { $eq: 'x' } }, args: [5] } },
  ]);
});

test('CREATE, ALTER and DROP ask the host', () => {
  const host: Host = () => ({ ok: { name: 'r' } });
  const ops = openLane().eval('CREATE RULE (p0) WITH active = false  DROP TYPE Pump  DROP RULE @p0', ['RULE r'], host).ops;
  expect(ops.map((op) => ({ [op.kind]: op.payload }))).toEqual([
    { create: { kind: 'rule', value: 'RULE r', options: { active: false } } },
    { drop: { kind: 'type', name: 'Pump' } },
    { drop: { kind: 'rule', name: 'RULE r' } },
  ]);
});

test('the recommendation statement gathers what is recommended', () => {
  expect(
    value(
      'FILTER (c IN p0) RECOMMENDATIONS TO v UNTIL length(v) >= 2 DO MATCH { if (c > 4) { RECOMMEND c WITH relevance = c / 10, reason = "big" } }',
      [[3, 8, 5, 9]],
    ),
  ).toEqual([
    { candidate: 8, relevance: 0.8, reason: 'big' },
    { candidate: 5, relevance: 0.5, reason: 'big' },
  ]);
  expect(code('FILTER (c IN [1]) RECOMMENDATIONS TO v UNTIL false DO MATCH { RECOMMEND c WITH relevance = "x" }')).toBe(
    'cascade.lang.recommend',
  );
  expect(code('FILTER (c IN [1]) RECOMMENDATIONS TO v UNTIL false DO MATCH { RECOMMEND c WITH reason = 5 }')).toBe(
    'cascade.lang.recommend',
  );
});

test('what is recommended counts as memory', () => {
  const body = 'FILTER (c IN range(0, 1000, 1)) RECOMMENDATIONS TO v UNTIL false DO MATCH { RECOMMEND c }';
  const ended = (memory: number): string | undefined => openLane().eval(body, [], undefined, { memory }).failure?.code;
  expect([ended(31_000), ended(500_000)]).toEqual(['cascade.execution.memory', undefined]);
});

test('operands of conditions: the text of a pattern, and keys of a geo operand without their $', () => {
  const where = (condition: string, ...args: unknown[]): unknown =>
    openLane().eval(`SELECT FROM T WHERE ${condition}  return 1`, args as never[], () => ({ list: [] })).ops[0]?.payload['where'];
  const body = (text: string): unknown => openLane().eval(text, [], () => ({ list: [] })).ops[0]?.payload['where'];
  expect(body('var m = regExp("^a")  SELECT FROM T WHERE n regex m')).toEqual({ n: { $regex: '^a' } });
  expect(where('n regex p0', '^b')).toEqual({ n: { $regex: '^b' } });
  const point = { type: 'Point', coordinates: [1, 2] };
  const near = { $geometry: point, $minDistance: 1, $maxDistance: 5, other: 6 };
  expect(where('at geoNear p0', { geometry: point, minDistance: 1, $maxDistance: 5, other: 6 })).toEqual({ at: { $near: near } });
  expect(where('at geoNear p0', 'x')).toEqual({ at: { $near: 'x' } });
});

test('what is stored and published is an Object or an Array, and data through and through', () => {
  const host: Host = () => ({ ok: null });
  expect(openLane().eval('INSERT T([{n: 1}, {n: 2}])', [], host).ops[0]?.payload).toMatchObject({ values: [{ n: 1 }, { n: 2 }] });
  expect(openLane().eval('INSERT SERIES T(window: 1, key: "k")', [], host).ops[0]?.payload).toMatchObject({ series: true });
  expect(code('INSERT SERIES T([1])', [], host)).toBe('cascade.lang.insert.series');
  expect(code('PUBLISH REQUEST ON T WITH p0', [5], host)).toBe('cascade.lang.publish.value');
  for (const part of ['f', '[f]', '{a: [1, f]}', 'regExp("a").matcher("a")'])
    expect(code(`var f = x => x  PUBLISH ${part} TO TOPIC "/t"`, [], host), part).toBe('cascade.lang.publish.value');
  const xml = openLane().eval('PUBLISH {x: parseXml("<a>t</a>"), p: regExp("a")} TO TOPIC "/t"', [], host);
  expect(xml.failure?.code ?? xml.ops[0]?.payload['value']).toBe('cascade.lang.publish.value');
});

test('ON ERROR is given what the host tells of, whatever it is', () => {
  const given = (failed: Value): unknown =>
    openLane().eval('var o = []  UPDATE T(n: 1) WHERE {} ON ERROR (e) { o.push(e) }  return o', [], () => ({
      ok: { count: 1, failed: [failed] },
    })).value;
  expect(given({ instance: { _id: '1' } })).toEqual([{ instance: { _id: '1' } }]);
  expect(given('x')).toEqual(['x']);
  expect(given({ error: { code: 'c', message: 'm', params: [1] }, instance: { _id: '1' } })).toEqual([
    { code: 'c', message: 'm', params: [1], isFormatted: true, instance: { _id: '1' } },
  ]);
});

test('log fills its message and counts', () => {
  expect(openLane().eval('log.info("a {} b {}", [1, "x"])  log.debug("d")').logs).toEqual(['INFO a 1 b x', 'DEBUG d']);
});
