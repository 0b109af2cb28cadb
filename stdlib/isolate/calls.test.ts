// Calls of user procedures and built-ins, expressions, references (language.md 3.4, 4.5, 4.8, 4.9).
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import { Decimal, Real, type Value } from '../values/index.ts';
import { type Host, type Outcome, TestLane } from './testing/lane.ts';

const builtins = builtinTable();
/** A lane with these procedures loaded. */
const laneWith = (...texts: string[]): TestLane => {
  const lane = new TestLane({ compile: (text) => compile(text, { builtins }), evaluate: runInThisContext });
  for (const text of texts) lane.load(text);
  return lane;
};
const given = ({ value, failure }: Outcome): unknown => (failure ? `${failure.code} ${JSON.stringify(failure.params)}` : value);
const value = (body: string, ...args: Value[]): unknown => given(laneWith().eval(body, args));

test('arguments are counted, named, defaulted and converted', () => {
  const lane = laneWith('PROCEDURE Tank.level(id String REQUIRED, unit String DEFAULT "cm", n Integer) id + unit + n');
  expect(given(lane.call('Tank.level', []))).toBe('cascade.procedure.parameter.missing ["Tank.level","id"]');
  expect(given(lane.call('Tank.level', ['a']))).toBe('acmnull');
  expect(given(lane.call('Tank.level', ['a', null]))).toBe('anullnull');
  expect(given(lane.callNamed('Tank.level', { unit: 'in', id: 'a', n: '7' }))).toBe('ain7');
  expect(given(lane.callNamed('Tank.level', { id: 'a', x: 1 }))).toBe('cascade.procedure.argument.unknown ["Tank.level","x"]');
  expect(given(lane.call('Tank.level', ['a', 'b', 1, 2]))).toBe('cascade.procedure.argument.count ["Tank.level",4]');
  expect(given(lane.call('Tank.level', ['a', 'b', 'c']))).toBe('cascade.procedure.parameter.type ["Tank.level","n","Integer","String"]');
  expect(given(lane.call('nothing', []))).toBe('cascade.lang.procedure.unknown ["nothing"]');
});

test('array parameters take arrays of their type, and no sequence', () => {
  const lane = laneWith('PROCEDURE total(xs Integer ARRAY) xs[0]', 'PROCEDURE f() total(range(0, 3, 1))', 'PROCEDURE g(xs ARRAY) xs[5]');
  expect(given(lane.call('total', [['7']]))).toBe(7);
  expect(given(lane.call('total', [7]))).toBe('cascade.procedure.parameter.type ["total","xs","Integer ARRAY","Integer"]');
  expect(given(lane.call('f', []))).toBe('cascade.procedure.parameter.sequence ["total","xs"]');
  expect(given(lane.call('g', [[1]]))).toBe('cascade.lang.index [5,1]');
});

test('a parameter takes no number that a return type would round, and no text that is longer than its scalar allows', () => {
  const lane = laneWith('PROCEDURE whole(n Integer) n', 'PROCEDURE each(ns Integer ARRAY) ns', 'PROCEDURE back(n): Integer n');
  expect(given(lane.call('whole', [2.5]))).toBe('cascade.procedure.parameter.type ["whole","n","Integer","Real"]');
  expect(given(lane.call('each', [[1, 2.5]]))).toBe('cascade.procedure.parameter.type ["each","ns","Integer ARRAY","Real"]');
  expect([given(lane.call('whole', [new Real(2)])), given(lane.call('back', [2.5]))]).toEqual([2, 2]);
  const short = { name: 's', type: 'String', array: false, required: false, hasDefault: false, maxLength: 2 };
  lane.load('PROCEDURE short(s String) s', { parameters: [short] });
  expect(given(lane.call('short', ['ab']))).toBe('ab');
  expect(given(lane.call('short', ['abc']))).toBe('cascade.procedure.parameter.type ["short","s","String(2)","String"]');
  expect(given(lane.call('short', ['😀😀']))).toBe('😀😀');
  expect(given(lane.call('whole', [null]))).toBe(null);
});

test('the return type converts the value', () => {
  const lane = laneWith(
    'PROCEDURE int(x): Integer x',
    'PROCEDURE dec(x): Decimal(2) x',
    'PROCEDURE list(): Integer ARRAY MAP (x in ["1", "2"]) { x }',
    'PROCEDURE seq(): Integer SEQUENCE range(0, 3, 1)',
  );
  expect(given(lane.call('int', [2.7]))).toBe(2);
  expect(given(lane.call('dec', [2.715]))).toEqual(new Decimal(272n, 2));
  expect(given(lane.call('list', []))).toEqual([1, 2]);
  expect(given(lane.call('seq', []))).toEqual([0, 1, 2]);
});

test('public procedures get copies, private ones the objects themselves', () => {
  const lane = laneWith(
    'PROCEDURE S.pub(o) o.n = 5',
    'PRIVATE PROCEDURE S.own(o) o.n = 5',
    'PROCEDURE S.both() var o = {n: 1} S.pub(o) var a = o.n S.own(o) return [a, o.n]',
    'PROCEDURE other() S.own({})',
  );
  expect(given(lane.call('S.both', []))).toEqual([1, 5]);
  expect(given(lane.call('other', []))).toBe('cascade.procedure.private ["S.own"]');
  expect(given(lane.call('S.own', [{}]))).toBe('cascade.procedure.private ["S.own"]');
});

test('the body of a sequence is run as the code that made it, wherever it is read', () => {
  const lane = laneWith(
    'PRIVATE PROCEDURE S.own(x) INSERT T(n: x)',
    'PROCEDURE S.all() MAP (x in [1, 2]) { S.own(x) }',
    'PROCEDURE f() S.all()',
  );
  const outcome = lane.call('f', [], (_kind, payload) => ({ ok: payload.values ?? null }));
  expect(given(outcome)).toEqual([{ n: 1 }, { n: 2 }]);
  expect(outcome.ops.map(({ site, nth }) => [site, nth])).toEqual([
    ['0/0/0', 0],
    ['0/0/0', 1],
  ]);
});

test('a call behind && and || still runs, built-ins and properties there do not', () => {
  const host: Host = (_kind, payload) => ({ ok: payload });
  const lane = laneWith('PROCEDURE audit(x) INSERT A(x: x) return true');
  const inserted = (body: string): unknown => {
    const outcome = lane.eval(body, [], host);
    return [given(outcome), outcome.ops.map((op) => (op.payload.values as { x: Value }).x)];
  };
  expect(inserted('true || audit(1)')).toEqual([true, [1]]);
  expect(inserted('false && (audit(1) && audit(2))')).toEqual([false, [1, 2]]);
  expect(inserted('true && audit(1)')).toEqual([true, [1]]);
  expect(inserted('var s = null  return s != null && s.length() > 0')).toEqual([false, []]);
  expect(inserted('true ? audit(1) : audit(2)')).toEqual([true, [1]]);
});

test('a method means the built-in, else a procedure of that name, else it is unknown', () => {
  const lane = laneWith('PROCEDURE addTax(x, rate) x + rate');
  expect(given(lane.eval('var p = {a: 5}  p.a.addTax(2)'))).toBe(7);
  expect(given(lane.eval('"  x ".trim()'))).toBe('x');
  expect(given(lane.eval('(5).nothing()'))).toBe('cascade.builtin.method.unknown ["nothing","Integer"]');
  expect(given(lane.eval('var x = null  x.trim()'))).toBe('cascade.lang.null ["x"]');
  expect(given(lane.eval('var o = {a: null}  o.a.b.trim()'))).toBe('cascade.lang.null ["o.a"]');
  expect(given(lane.eval('slice(str: "abcd", start: 1)'))).toBe('bcd');
  expect(given(lane.eval('"abcd".slice(start: 1, end: 2)'))).toBe('b');
  expect(given(lane.eval('Math.PI > 3 && system.length("ab") == 2'))).toBe(true);
});

test('built-ins of the host are asked for, but for what the run knows itself', () => {
  const host: Host = (kind, payload) => ({ list: [{ kind, name: payload.name ?? null, n: 1 }] });
  const outcome = laneWith().eval('ResourceAPI.executeOp({op: "x"}).n + Context.username() + Context.namespace()', [], host);
  expect(given(outcome)).toBe('1un');
  expect(outcome.ops.map((op) => [op.kind, op.payload])).toEqual([['builtin', { name: 'ResourceAPI.executeOp', args: [{ op: 'x' }] }]]);
  const named = laneWith().eval('ResourceAPI.patch(patchCmds: [], resource: "T", resourceId: "1")', [], host);
  expect(named.ops[0]?.payload).toEqual({ name: 'ResourceAPI.patch', args: ['T', '1', []] });
});

test('builtins.md 21: executeOpAsSequence is read page after page, and closed where reading stops', () => {
  const pages: Host = (kind, { cursor = null }) =>
    kind === 'builtin' ? { ok: { cursor: 'c', rows: [1, 2], done: false } } : { ok: { cursor, rows: [3], done: true } };
  const all = laneWith().eval('var s = ResourceAPI.executeOpAsSequence({op: "x"})  return [typeOf(s), s.toArray()]', [], pages);
  expect(given(all)).toEqual(['Sequence', [1, 2, 3]]);
  expect(all.ops.map(({ kind }) => kind)).toEqual(['builtin', 'next']);
  const some = laneWith().eval('for (x in ResourceAPI.executeOpAsSequence({op: "x"}) until x > 1) { }', [], pages);
  expect(some.ops.map(({ kind, payload }) => [kind, payload.cursor ?? null])).toEqual([
    ['builtin', null],
    ['close', 'c'],
  ]);
  const unread = laneWith().eval('ResourceAPI.executeOpAsSequence({op: "x"})  1', [], pages);
  expect([given(unread), unread.ops.length]).toEqual([1, 1]);
});

test('builtins.md 19, 22: what a run knows itself is answered without the host', () => {
  const known: [string, unknown][] = [
    ['Context.isEmailVerified()', null],
    ['Context.authProvider()', 'internal'],
    ['Context.isInternalAuth()', true],
    ['Context.isPartitionKeyOwner(1)', 'cascade.builtin.context ["Context.isPartitionKeyOwner"]'],
  ];
  for (const [call, expected] of known) expect(given(laneWith().eval(call)), call).toEqual(expected);
  const lane = laneWith('PROCEDURE Svc.owns(key) Context.isPartitionKeyOwner(key)');
  expect(given(lane.call('Svc.owns', ['k']))).toBe(true);
});

test('arguments of the host’s built-ins are checked before it is asked', () => {
  const refused: [string, string][] = [
    ['ResourceAPI.executeOp()', 'cascade.procedure.parameter.missing ["ResourceAPI.executeOp","message"]'],
    ['ResourceAPI.executeOp(null)', 'cascade.lang.null ["message"]'],
    ['ResourceAPI.executeOp("x")', 'cascade.procedure.parameter.type ["ResourceAPI.executeOp","message","Object","String"]'],
    ['ResourceAPI.executeOp({}, 1)', 'cascade.procedure.argument.count ["ResourceAPI.executeOp",2]'],
    ['ResourceAPI.executeOp(op: "x")', 'cascade.procedure.argument.unknown ["ResourceAPI.executeOp","op"]'],
    ['Context.profiles(1)', 'cascade.procedure.argument.count ["Context.profiles",1]'],
    ['Utils.get(5)', 'cascade.procedure.parameter.type ["Utils.get","ref","String or Object","Integer"]'],
    ['Concurrent.Map(1)', 'cascade.procedure.argument.count ["Concurrent.Map",1]'],
    ['Concurrent.Cache(maximumSize: -2)', 'cascade.lang.range ["maximumSize",-2]'],
    ['Event.request(5, {})', 'cascade.procedure.parameter.type ["Event.request","serviceEventName","String","Integer"]'],
  ];
  for (const [call, expected] of refused) {
    const outcome = laneWith().eval(call);
    expect([given(outcome), outcome.ops.length], call).toEqual([expected, 0]);
  }
});

test('a Sequence given by name is an Array to a built-in that takes it, as by position', () => {
  expect(given(laneWith().eval('stringify(target: MAP (x in [1,2]) { x })'))).toBe('[1,2]');
  expect(given(laneWith().eval('toArray(v: FILTER (x in [1,2,3]) { return x > 1 })'))).toEqual([2, 3]);
});

test('the depth of calls is limited and the limit is not caught', () => {
  const lane = laneWith('PROCEDURE down(n) try { if (n == 0) { 0 } else { down(n - 1) + 1 } } catch (e) { -1 }');
  expect(given(lane.call('down', [150]))).toBe(150);
  expect(given(lane.call('down', [300]))).toBe('cascade.execution.depth ["/rules/r",200]');
});

test('expressions keep the types of numbers', () => {
  expect(value('12 / 3')).toBe(4);
  expect(value('7 / 2')).toBe(3.5);
  expect(value('4.0 / 2')).toEqual(new Real(2));
  expect(value('9223372036854775807')).toBe(9223372036854775807n);
  expect(value('-9223372036854775808')).toBe(-9223372036854775808n);
  expect(value('1e300')).toEqual(new Real(1e300));
  expect(value('"n=" + 1 + 2')).toBe('n=12');
  expect(value('-2 ** 2')).toBe(-4);
  expect(value('5 minutes')).toBe(300_000);
  expect(value('var x = 1  var y = x++ + x  return [x, y]')).toEqual([2, 3]);
  expect(value('var o = {n: 1}  o.n++  o["n"] *= 5  o.n')).toBe(10);
  expect(value('2 in [1, 2] && !("ab" regex "^b")')).toBe(true);
  expect(value('p0 == 1 ? "a" : "b"', 1)).toBe('a');
});

test('literals cross as they are: U+0001, __proto__, big numbers', () => {
  expect(value('"\\u0001r5"')).toBe('\u0001r5');
  expect(JSON.stringify(value('{__proto__: {a: 1}, b: 2}'))).toBe('{"__proto__":{"a":1},"b":2}');
  expect(value('var o = {}  o.__proto__ = {a: 1}  o.a')).toBe(null);
  expect(value('({}).constructor')).toBe(null);
  expect(value('[1].constructor')).toBe('cascade.lang.property ["constructor","Integer"]');
});

test('subscripts read, grow and refuse', () => {
  expect(value('var a = []  a[2] = 7  a')).toEqual([null, null, 7]);
  expect(value('[1][5]')).toBe(null);
  expect(value('[1][2.0]')).toBe(null);
  expect(value('[1]["0"]')).toBe(1);
  expect(value('"abc"[1]')).toBe('b');
  for (const index of ['1e0', ' 1', '1 ', '-1', '1.0', ''])
    expect(value(`[5, 6]["${index}"]`), index).toBe(`cascade.lang.index [${JSON.stringify(index)},2]`);
  expect(value('var x = null  x[1.5] = 2')).toBe('cascade.lang.null ["x"]');
  expect(value('[1][-1]')).toBe('cascade.lang.index [-1,1]');
  expect(value('[{rows: [{name: "a"}]}].rows.name')).toEqual([['a']]);
  expect(value('[1, 2].length + "abc".size')).toBe(5);
  expect(value('var a = [{}]  a.x = 1')).toBe('cascade.lang.property ["x","List"]');
  expect(value('(5).x')).toBe('cascade.lang.property ["x","Integer"]');
  expect(value('regExp("(\\\\w)=(\\\\d)").matcher("a=1,b=2")[1]')).toEqual(['b=2', 'b', '2']);
  expect(value('var m = range(0, 3, 1)  m[0]')).toBe('cascade.lang.sequence.operation ["a subscript"]');
});

test('after an assignment two variables name one object', () => {
  expect(value('var a = {n: 1}  var b = a  b.n = 2  a.n')).toBe(2);
});

test('Q7: a result list stays one as the argument of a public procedure, and an ARRAY result is no scalar', () => {
  const lane = laneWith(
    'PROCEDURE pub(rows) rows.n',
    'PROCEDURE f() var r = SELECT FROM T  return pub(r)',
    'PROCEDURE g(): Integer ARRAY 5',
  );
  expect(given(lane.call('f', [], () => ({ list: [{ n: 7 }] })))).toBe(7);
  expect(given(lane.call('g', []))).toBe('cascade.lang.conversion ["Integer","Integer ARRAY"]');
});

test('members and subscripts of everything', () => {
  const rows: [string, unknown][] = [
    ['var a = null  a.x', 'cascade.lang.null ["a"]'],
    ['var a = null  a[0]', 'cascade.lang.null ["a"]'],
    ['var o = {"1": 5}  o[1]', 5],
    ['var o = {a: 5}  o[1.5]', 'cascade.lang.property ["a subscript","Real"]'],
    ['var o = {a: 5}  o[true] = 1', 'cascade.lang.property ["a subscript","Boolean"]'],
    ['var s = range(0, 3, 1)  s.x', 'cascade.lang.sequence.operation [".x"]'],
    ['var s = range(0, 3, 1)  s.x = 1', 'cascade.lang.sequence.operation ["an assignment"]'],
    ['var s = "ab"  s.x = 1', 'cascade.lang.property ["x","String"]'],
    ['regExp("a").x', 'cascade.lang.property ["x","RegExp"]'],
    ['[null, {x: 1}].x', [null, 1]],
    ['var a = [1, 2]  a[1] = 5  a', [1, 5]],
    ['var a = [1, 2]  a["1"] = 5  a', [1, 5]],
    ['var m = regExp("a").matcher("aa")  return [m[0], m[5], m[-1]]', [['a'], null, null]],
    ['parseXml("<a><b>x</b></a>").b.text()', 'x'],
    ['var a = parseXml("<a><b>x</b></a>")  a["b"].text()', 'x'],
  ];
  expect(rows.map(([body]) => [body, value(body)])).toEqual(rows);
  const listed = (body: string, ...list: Value[]): unknown =>
    given(laneWith().eval(`var r = SELECT FROM T  ${body}`, [], () => ({ list })));
  expect([listed('r.size', { a: 1 }), listed('r.size', { size: 9 }), listed('r["a"]', { a: 1 }), listed('r["0"].a', { a: 1 })]).toEqual([
    1, 9, 1, 1,
  ]);
  expect([listed('r.a', { b: 1 }), listed('r.a'), listed('r.a', 5)]).toEqual([null, [], 'cascade.lang.property ["a","Integer"]']);
});
