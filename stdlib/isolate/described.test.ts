// Parameters and results typed with the name of a type of the namespace (language.md P1, P7): what the host is asked, and what its answers make
// of the values.
import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import { isObject, type Value } from '../values/index.ts';
import { type Host, type Outcome, TestLane } from './testing/lane.ts';

const builtins = builtinTable();
/** A Pump has `n`: a text of digits is converted, another one refused. */
const host: Host = (kind, payload) => {
  if (kind !== 'describe') return { ok: null };
  const verdict = ([, value]: [string, Value]): Value => {
    if (!isObject(value)) return { refused: ['', 'Pump', 'Other'] };
    if (typeof value['n'] !== 'string') return { same: true };
    return /^\d+$/.test(value['n']) ? { value: { ...value, n: Number(value['n']) } } : { refused: ['n', 'Integer', 'String'] };
  };
  return { list: (payload['values'] as [string, Value][]).map(verdict) };
};
const laneWith = (...texts: string[]): TestLane => {
  const lane = new TestLane({ compile: (text) => compile(text, { builtins }), evaluate: runInThisContext });
  for (const text of texts) lane.load(text);
  return lane;
};
const given = ({ value, failure }: Outcome): unknown => (failure ? `${failure.code} ${JSON.stringify(failure.params)}` : value);
/** The values of each request, and where it stands. */
const asked = ({ ops }: Outcome): unknown[] => ops.map(({ site, payload }) => [site, payload['values']]);

test('a parameter: the value as it is, as converted, or what is wrong in it; null and absent ones are not asked about', () => {
  const lane = laneWith('PROCEDURE f(a String, p Pump, q Pump) return [p, q]');
  const called = (...args: Value[]): unknown => given(lane.call('f', args, host));
  expect(called('a', { n: 1 }, { n: '2' })).toEqual([{ n: 1 }, { n: 2 }]);
  expect(called('a', { n: 1 }, { n: 'x' })).toBe('cascade.procedure.parameter.type ["f","q.n","Integer","String"]');
  expect(called('a', 5)).toBe('cascade.procedure.parameter.type ["f","p","Pump","Other"]');
  expect(asked(lane.call('f', ['a', { n: 1 }, { n: '2' }], host))).toEqual([
    [
      'type',
      [
        ['Pump', { n: 1 }],
        ['Pump', { n: '2' }],
      ],
    ],
  ]);
  expect([called('a', null), lane.call('f', ['a', null], host).ops]).toEqual([[null, null], []]);
});

test('an ARRAY parameter: its elements, but null', () => {
  const lane = laneWith('PROCEDURE f(ps Pump ARRAY) return ps');
  const outcome = lane.call('f', [[{ n: '1' }, null, { n: 2 }, { n: '3' }]], host);
  expect(given(outcome)).toEqual([{ n: 1 }, null, { n: 2 }, { n: 3 }]);
  expect(asked(outcome)).toEqual([
    [
      'type',
      [
        ['Pump', { n: '1' }],
        ['Pump', { n: 2 }],
        ['Pump', { n: '3' }],
      ],
    ],
  ]);
  expect(given(lane.call('f', [[{ n: 1 }, { n: 'x' }]], host))).toBe('cascade.procedure.parameter.type ["f","ps.n","Integer","String"]');
  expect(given(lane.call('f', [{ n: 1 }], host))).toBe('cascade.procedure.parameter.type ["f","ps","Pump ARRAY","Object"]');
  expect(lane.call('f', [[]], host).ops).toEqual([]);
});

test('C3: what is as its type wants it stays the same Object for a PRIVATE procedure, what is converted is another', () => {
  const lane = laneWith(
    'PRIVATE PROCEDURE S.own(p Pump) p.seen = true',
    'PRIVATE PROCEDURE S.all(ps Pump ARRAY) ps.push(1)',
    'PROCEDURE S.f(o) S.own(o)  return o',
    'PROCEDURE S.g(o) S.all(o)  return o',
  );
  expect([given(lane.call('S.f', [{ n: 1 }], host)), given(lane.call('S.f', [{ n: '1' }], host))]).toEqual([
    { n: 1, seen: true },
    { n: '1' },
  ]);
  lane.load('PROCEDURE S.lazy(o) var s = MAP (x in [1]) { x }  S.own(o)  return [o, s]');
  expect(given(lane.call('S.lazy', [{ n: 1 }], host))).toEqual([{ n: 1, seen: true }, [1]]);
  expect([given(lane.call('S.g', [[{ n: 1 }]], host)), given(lane.call('S.g', [[{ n: '1' }]], host))]).toEqual([
    [{ n: 1 }, 1],
    [{ n: '1' }],
  ]);
});

test('Sequences in a value are read, and what is no data stands in no property', () => {
  const lane = laneWith(
    'PRIVATE PROCEDURE S.own(p Pump) typeOf(p.rows)',
    'PROCEDURE S.sequence() var s = MAP (x in [1, 2]) { x }  S.own({rows: s})',
    'PROCEDURE S.lambda() S.own(x => x)',
    'PROCEDURE S.lambdaInside() S.own({a: [x => x]})',
    'PROCEDURE S.pattern() S.own({a: regExp("a").matcher("a")})',
    'PROCEDURE S.result(): Pump return {a: x => x}',
  );
  const sequence = lane.call('S.sequence', [], host);
  expect([given(sequence), asked(sequence)]).toEqual(['List', [['0/type', [['Pump', { rows: [1, 2] }]]]]]);
  const refused = 'cascade.procedure.parameter.type ["S.own","p","Pump"';
  expect(given(lane.call('S.lambda', [], host))).toBe(`${refused},"Function"]`);
  expect(given(lane.call('S.lambdaInside', [], host))).toBe(`${refused},"Object"]`);
  expect(given(lane.call('S.pattern', [], host))).toBe(`${refused},"Object"]`);
  expect(given(lane.call('S.result', [], host))).toBe('cascade.lang.conversion ["Object","Pump"]');
});

test('a result is converted, or of the wrong kind', () => {
  const lane = laneWith(
    'PROCEDURE one(o): Pump return o',
    'PROCEDURE many(o): Pump ARRAY return o',
    'PROCEDURE lazy(o): Pump SEQUENCE MAP (x in o) { x }',
    'PROCEDURE outer(o) one(o)',
  );
  const called = (name: string, arg: Value): unknown => given(lane.call(name, [arg], host));
  expect([called('one', { n: '1' }), called('one', { n: 1 }), called('one', null)]).toEqual([{ n: 1 }, { n: 1 }, null]);
  expect(called('one', { n: 'x' })).toBe('cascade.lang.conversion ["String","Integer of Pump.n"]');
  expect(called('one', 5)).toBe('cascade.lang.conversion ["Other","Pump"]');
  expect(called('many', [{ n: '1' }, null, { n: 2 }])).toEqual([{ n: 1 }, null, { n: 2 }]);
  expect(called('many', { n: 1 })).toBe('cascade.lang.conversion ["Object","Pump ARRAY"]');
  expect([called('lazy', [{ n: 'x' }]), lane.call('lazy', [[{ n: 'x' }]], host).ops]).toEqual([[{ n: 'x' }], []]);
  expect(asked(lane.call('outer', [{ n: 1 }], host))).toEqual([['0/result/type', [['Pump', { n: 1 }]]]]);
});

test('a procedure with rights of its own is called through the host, with its arguments bound', () => {
  const lane = laneWith('PROCEDURE S.f() var s = S.far(b: 2, a: "1")  return [typeOf(s), s]', 'PROCEDURE S.g() EXECUTE S.far("1", 2)');
  lane.load('PROCEDURE S.far(a Integer, b Integer) a', { apart: true });
  const call: Host = () => ({ ok: [5] });
  const outcome = lane.call('S.f', [], call);
  expect(given(outcome)).toEqual(['List', [5]]);
  expect(outcome.ops.map(({ kind, site, payload }) => [kind, site, payload])).toEqual([
    ['call', '0/', { name: 'S.far', args: [1, 2], service: 'S', executed: null }],
  ]);
  expect(lane.call('S.g', [], call).ops[0]?.payload).toEqual({ name: 'S.far', args: [1, 2], service: 'S', executed: [] });
  lane.load('PROCEDURE rows(): Any SEQUENCE MAP (x in [1]) { x }', { apart: true });
  expect(given(lane.eval('var s = rows()  return [typeOf(s), toArray(s)]', [], call))).toEqual(['Sequence', [5]]);
});
