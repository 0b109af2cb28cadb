// Conditions of events by the rules of the language: W1 to W10, versions, errors, explanations.
import { describe, expect, test } from 'vitest';
import type { CompareOperator, ConditionData, ExpressionData } from '../../compiler/types.ts';
import { encodeInner, type ObjectValue, parseCurrency, parseDateTime, parseDecimal, text, type Value } from '../../stdlib/values/index.ts';
import { withAllowance } from '../../model/query/index.ts';
import { instanceOf, typeOf } from '../../model/query/testing.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { conditionOf } from './condition.ts';
import { TriggerIndex } from './trigger-index.ts';
import type { IndexedRule, TriggerIndexOptions } from './types.ts';

const INSERT = '/types/Lot/insert';
const TOPIC = '/topics/a/publish';

const lot = typeOf('Lot', {
  qty: 'Integer',
  size: 'Decimal(2)',
  price: 'Currency',
  seen: 'DateTime',
  tags: 'String multi',
  ref: 'ResourceReference',
  place: 'GeoJSON',
  rows: 'Object multi',
});

const constant = (v: Value): ExpressionData => ({ k: 'const', v: JSON.parse(encodeInner(v)) as unknown });
const path = (p: string): ExpressionData => ({ k: 'path', root: 'x', p: p === '' ? [] : p.split('.') });
const compare = (p: string, operator: CompareOperator, right: Value | ExpressionData): ConditionData => ({
  op: 'compare',
  operator,
  left: path(p),
  right: typeof right === 'object' && right !== null && 'k' in right ? (right as ExpressionData) : constant(right),
});

const errors: unknown[] = [];
const options = (type: TypeDefinition = lot): TriggerIndexOptions => ({
  typeOf: (name) => (name === 'Lot' ? type : null),
  builtin: (name) => (name === 'trim' ? (value) => text(value).trim() : undefined),
  namespace: 'plant',
  onError: (_, error) => errors.push(error),
});

function ruleOf(
  name: string,
  at: string,
  condition: ConditionData | null,
  more: Partial<IndexedRule> & { binds?: 'event' | 'value' } = {},
): IndexedRule {
  const [baseName = name, version = null] = name.split(':');
  const { binds = 'value', ...rest } = more;
  return { name, baseName, version, triggers: [{ paths: [at], variable: 'x', binds, condition }], where: null, payload: null, ...rest };
}

const eventOf = (value: Value): ObjectValue => ({ uuid: 'u', path: TOPIC, value, newValue: value, topic: 'outside', deliveryCount: 1 });

function meets(at: string, condition: ConditionData, payload: Value, binds: 'event' | 'value' = 'value'): boolean {
  const index = new TriggerIndex(options());
  index.add(ruleOf('r', at, condition, { binds }));
  return index.match(at, payload, () => eventOf(payload)).length === 1;
}

const instance = (json: string): ObjectValue => instanceOf(lot, json);

describe('paths with a declared type', () =>
  test.each<[string, ConditionData, string, boolean]>([
    ['W9 an operand becomes the declared type', compare('size', '==', '5'), '{"size":"5.00"}', true],
    ['W9 an Integer takes fractions in ranges', compare('qty', '>', 1.5), '{"qty":2}', true],
    ['W9 a qualified amount means its currency only', compare('price', '>', 'USD:5.00'), '{"price":"EUR:6"}', false],
    ['W9 an amount without a code means all currencies', compare('price', '>', '5.00'), '{"price":"EUR:6"}', true],
    ['W9 an instant from text', compare('seen', '>=', '2030-01-01'), '{"seen":1893456000000}', true],
    ['W6 null matches null', compare('qty', '==', null), '{"qty":null}', true],
    ['W6 null matches missing', compare('qty', '==', null), '{}', true],
    ['W6 != matches missing', compare('qty', '!=', 5), '{}', true],
    ['W6 NOT matches missing', { op: 'not', term: compare('qty', '>', 5) }, '{}', true],
    ['an order with null is false', compare('qty', '<', null), '{"qty":1}', false],
    ['W7 in takes a list', compare('tags', 'in', ['a', 'x']), '{"tags":["b","x"]}', true],
    ['W7 regex is a search', compare('tags', 'regex', '^x'), '{"tags":["b","xy"]}', true],
    [
      'W7 geo operands without $',
      compare('place', 'geonear', { geometry: { type: 'Point', coordinates: [0, 0] }, maxDistance: 120_000 }),
      '{"place":{"type":"Point","coordinates":[0,1]}}',
      true,
    ],
    ['W8 an array matches by any element', compare('tags', '==', '#x'), '{"tags":["#y","#x"]}', true],
    ['W8 an array equals a whole array', compare('tags', '==', ['a', 'b']), '{"tags":["a","b"]}', true],
    ['W8 paths go through arrays of objects', compare('rows.id', '==', 'nurse'), '{"rows":[{"id":"cook"},{"id":"nurse"}]}', true],
    ['W10 a reference by its text', compare('ref', '==', '/types/Pump'), '{"ref":"/system.types/Pump"}', true],
    ['W10 a part of a reference', compare('ref.resource', '==', 'types'), '{"ref":"/types/Pump"}', true],
    ['W4 both sides may be expressions', compare('qty', '<', path('rows.0')), '{"qty":1,"rows":[]}', false],
    ['W4 an operand that is computed', compare('qty', '==', { k: 'binary', op: '+', a: constant(1), b: constant(1) }), '{"qty":2}', true],
    ['W5 a where-object', { op: 'where', value: constant({ qty: { $gte: 2 }, tags: 'a' }) }, '{"qty":2,"tags":["a"]}', true],
  ])('%s', (_, condition, json, expected) => expect(meets(INSERT, condition, instance(json))).toBe(expected)));

describe('paths without a declared type are compared by 4.7, element by element', () =>
  test.each<[string, ConditionData, Value, boolean]>([
    ['a String against a number is compared as text', compare('n', '>', 11), { n: '2' }, true],
    ['a number against a String is unequal', compare('n', '==', '5'), { n: 5 }, false],
    ['a Decimal reads a String', compare('n', '==', '5'), { n: parseDecimal('5.00') }, true],
    ['a Currency takes a number of any code', compare('n', '==', 5), { n: parseCurrency('JPY:5') }, true],
    ['a DateTime takes milliseconds', compare('n', '==', 1893456000000), { n: parseDateTime('2030-01-01') }, true],
    ['any element', compare('n', '>', 4), { n: [1, 5] }, true],
    ['missing is null', compare('n', '==', null), {}, true],
    ['!= matches missing', compare('n', '!=', 5), {}, true],
    ['null in a list matches missing', compare('n', 'in', [null, 5]), {}, true],
    ['a class cast counts as false', compare('n', '<', 'x'), { n: 5 }, false],
    ['also under NOT', { op: 'not', term: compare('n', '<', 'x') }, { n: 5 }, false],
    ['the payload itself', compare('', '==', 5), 5, true],
    ['a payload that is an array', compare('n', '==', 2), [{ n: 1 }, { n: 2 }], true],
    [
      'another left side',
      { op: 'compare', operator: '==', left: { k: 'call', name: 'trim', args: [path('n')] }, right: constant('a') },
      { n: ' a ' },
      true,
    ],
  ])('%s', (_, condition, payload, expected) => expect(meets(TOPIC, condition, payload)).toBe(expected)));

test('the event variable gives the payload by value and newValue, and the event by its own names', () => {
  expect(meets(TOPIC, compare('value.n', '==', 1), { n: 1 }, 'event')).toBe(true);
  expect(meets(TOPIC, compare('newValue.n', '==', 1), { n: 1 }, 'event')).toBe(true);
  expect(meets(TOPIC, compare('topic', '==', 'outside'), { n: 1 }, 'event')).toBe(true);
  expect(meets(TOPIC, compare('n', '==', null), { n: 1 }, 'event')).toBe(true);
  expect(meets(INSERT, compare('value.size', '==', '5'), instance('{"size":"5"}'), 'event')).toBe(true);
});

test('the event object is made only when a condition uses it', () => {
  const index = new TriggerIndex(options());
  index.add(ruleOf('r', TOPIC, compare('value.n', '==', 1), { binds: 'event' }));
  const made = (): never => expect.fail('nothing asks for the event');
  expect(index.match(TOPIC, { n: 1 }, made)).toHaveLength(1);
  expect(index.match('/topics/other/publish', { n: 1 }, made)).toEqual([]);
});

test('members of a bulk event are plain data, whatever the type declares', () => {
  expect(meets('/types/Lot/update', compare('count', '>', 1), { ars_bulkOperation: true, count: 2, qual: {} })).toBe(true);
  expect(meets('/types/Lot/update', compare('ars_bulkOperation', '==', true), { ars_bulkOperation: true, count: 2, qual: {} })).toBe(true);
});

test('an error in a condition is reported with its rule', () => {
  errors.length = 0;
  expect(meets(INSERT, compare('qty', '==', 'abc'), instance('{"qty":1}'))).toBe(false);
  expect(meets(TOPIC, { op: 'or', terms: [compare('n', '<', 'x'), compare('n', '==', 5)] }, { n: 5 })).toBe(false);
  expect(errors.map((error) => (error as { code: string }).code)).toEqual(['cascade.query.operand.invalid', 'cascade.lang.class.cast']);
});

test('who hears of an error may have another event matched: the rules of the first one stay', () => {
  const reports: string[][] = [];
  const index: TriggerIndex = new TriggerIndex({
    ...options(),
    onError: (rule) => reports.push([rule.name, ...index.match(INSERT, {}, () => ({})).map((chosen) => chosen.rule.name)]),
  });
  const fails: ConditionData = { op: 'or', terms: [compare('n', '<', 'x'), compare('n', '==', 5)] };
  for (const [name, at, condition] of [
    ['first', TOPIC, null],
    ['wrong', TOPIC, fails],
    ['last', TOPIC, null],
    ['other', INSERT, null],
  ] as const)
    index.add(ruleOf(name, at, condition));
  const payload = { n: 5 };
  expect(index.match(TOPIC, payload, () => eventOf(payload)).map(({ rule }) => rule.name)).toEqual(['first', 'last']);
  expect(index.matchTriggers(TOPIC, payload, () => eventOf(payload)).map(({ rule }) => rule.name)).toEqual(['first', 'last']);
  expect(reports).toEqual([
    ['wrong', 'other'],
    ['wrong', 'other'],
  ]);
});

describe('versions (6.4)', () => {
  const index = new TriggerIndex(options());
  const below = (n: number): ConditionData => compare('n', '<', n);
  index.add(ruleOf('r:A', TOPIC, null));
  index.add(ruleOf('r:B', TOPIC, null, { where: below(100) }));
  index.add(ruleOf('r:C', TOPIC, null, { where: below(10) }));
  index.add(ruleOf('other', TOPIC, null, { where: below(10) }));
  const chosen = (n: number): string[] =>
    index
      .match(TOPIC, { n }, () => ({}))
      .map(({ rule }) => rule.name)
      .sort();

  test.each([
    [5, ['other', 'r:C']],
    [50, ['r:B']],
    [500, ['r:A']],
  ])('V4 the youngest whose WHERE holds for %i', (n, names) => expect(chosen(n)).toEqual(names));

  test('V3 the order is that of lower-cased text, and no version is the oldest', () => {
    const many = new TriggerIndex(options());
    for (const name of ['v', 'v:02.00', 'v:1.00', 'v:V10', 'v:v9']) many.add(ruleOf(name, TOPIC, null));
    const youngest: string[] = [];
    for (let i = 0; i < 5; i++) {
      const [chosen] = many.match(TOPIC, {}, () => ({}));
      youngest.push(chosen?.rule.name ?? '');
      many.remove(chosen?.rule.name ?? '');
    }
    expect(youngest).toEqual(['v:v9', 'v:V10', 'v:1.00', 'v:02.00', 'v']);
  });

  test('after the newest version is removed the next one runs', () => {
    index.remove('r:C');
    expect(chosen(5)).toEqual(['other', 'r:B']);
  });
});

test('a rule with several triggers runs once for an event that satisfies two of them', () => {
  const index = new TriggerIndex(options());
  const [spec] = ruleOf('r', TOPIC, compare('n', '>', 1)).triggers;
  const other = { ...spec, variable: 'x', binds: 'value', paths: [TOPIC, INSERT], condition: compare('n', '>', 2) } as const;
  index.add({ ...ruleOf('r', TOPIC, null), triggers: [spec ?? other, other] });
  expect(index.match(TOPIC, { n: 3 }, () => ({}))).toHaveLength(1);
  expect(
    index
      .matchTriggers(TOPIC, { n: 3 }, () => ({}))
      .map(({ trigger }) => trigger)
      .sort(),
  ).toEqual([0, 1]);
  index.remove('r');
  expect(index.has(TOPIC)).toBe(false);
  expect(index.has(INSERT)).toBe(false);
});

test('removing a rule with two entries in one structure leaves the entries of others', () => {
  const index = new TriggerIndex(options());
  index.add(ruleOf('twice', INSERT, { op: 'or', terms: [compare('qty', '>', 1), compare('qty', '>', 2)] }));
  index.add(ruleOf('stays', INSERT, compare('qty', '>', 3)));
  index.remove('twice');
  expect(index.match(INSERT, { qty: 4 }, () => ({})).map(({ rule }) => rule.name)).toEqual(['stays']);
});

test('after a change of its type a rule converts its constants anew', () => {
  let type = lot;
  const index = new TriggerIndex({ ...options(), typeOf: () => type });
  index.add(ruleOf('r', INSERT, compare('qty', '==', '7')));
  type = typeOf('Lot', { qty: 'String' });
  expect(index.match(INSERT, { qty: '7' }, () => ({}))).toEqual([]);
  index.retype('Lot');
  expect(index.match(INSERT, { qty: '7' }, () => ({}))).toHaveLength(1);
});

test('explain gives the deciding term with its values', () => {
  const index = new TriggerIndex(options());
  index.add(ruleOf('met', INSERT, compare('qty', '>', 1)));
  index.add(ruleOf('low', INSERT, { op: 'and', terms: [compare('qty', '>', 1), compare('qty', '>', 9)] }));
  index.add(ruleOf('tagged', INSERT, { op: 'not', term: compare('tags', '==', 'a') }));
  index.add(ruleOf('wrong', INSERT, compare('qty', '==', 'abc')));
  index.add(ruleOf('v:1', INSERT, null));
  index.add(ruleOf('v:2', INSERT, null));
  index.add(ruleOf('w', INSERT, null, { where: compare('qty', '<', 0) }));
  const reported = index.explain(INSERT, instance('{"qty":5,"tags":["a","b"]}'), () => ({}));
  const of = (name: string) => reported.find(({ rule }) => rule.name === name);
  expect(of('met')).toMatchObject({ matched: true, reason: null });
  expect(of('low')).toMatchObject({
    matched: false,
    reason: 'condition',
    term: { path: 'qty', operator: '>', left: 5, right: 9, result: false },
  });
  expect(of('tagged')).toMatchObject({ matched: false, term: { left: ['a', 'b'], right: 'a', result: true } });
  expect(of('wrong')?.term?.error).toMatchObject({ code: 'cascade.query.operand.invalid' });
  expect(of('v:1')).toMatchObject({ matched: false, reason: 'version' });
  expect(of('v:2')).toMatchObject({ matched: true });
  expect(of('w')).toMatchObject({ matched: false, reason: 'ruleWhere', term: { left: 5, right: 0 } });
});

test('a condition over several events compares the paths of their variables', () => {
  const same: ConditionData = {
    op: 'compare',
    operator: '==',
    left: { k: 'path', root: 'd', p: ['value', 'room'] },
    right: { k: 'path', root: 'm', p: ['room'] },
  };
  const triggers = [
    { paths: ['/topics/door/publish'], variable: 'd', binds: 'event', condition: null },
    { paths: ['/topics/move/publish'], variable: 'm', binds: 'value', condition: null },
  ] as const;
  const holds = conditionOf(same, triggers, options());
  const context = (move: string) => ({
    payload: (variable: string) => (variable === 'd' ? { room: 'r1' } : { room: move }),
    event: () => ({}),
  });
  expect(holds(context('r1'))).toBe(true);
  expect(holds(context('r2'))).toBe(false);
});

/** Places of a circle, as a Polygon. */
const ring = (places: number): Value => ({
  type: 'Polygon',
  coordinates: [
    Array.from({ length: places + 1 }, (_, i) => {
      const turn = ((i % places) * 2 * Math.PI) / places;
      return [3 * Math.cos(turn), 3 * Math.sin(turn)];
    }),
  ],
});
const operand: ExpressionData = { k: 'object', members: [['$geometry', path('outer')]] };

test.each<[string, ConditionData]>([
  ['with a path on its left', compare('inner', 'geowithin', operand)],
  [
    'as an expression',
    { op: 'compare', operator: '==', left: { k: 'binary', op: 'geowithin', a: path('inner'), b: operand }, right: constant(true) },
  ],
])('a comparison of outlines that takes too long here is left for a program to decide: %s', (_, condition) => {
  const index = new TriggerIndex(options());
  index.add(ruleOf('r', TOPIC, condition));
  const asked = (inner: number, outer: number) =>
    index.match(TOPIC, { inner: ring(inner), outer: ring(outer) }, () => ({})).map(({ asks }) => asks);
  expect([asked(30, 60), asked(600, 1_200)]).toEqual([[false], [true]]);
  expect(index.matchTriggers(TOPIC, { inner: ring(600), outer: ring(1_200) }, () => ({}))).toEqual([]);
  expect(errors.at(-1)).toMatchObject({ code: 'cascade.builtin.timeout', params: ['geowithin', 1_000] });
});

describe('many values in many', () => {
  const numbers = (from: number, count = 40_000) => Array.from({ length: count }, (_, i) => from + i);
  const both = compare('a', 'in', path('b'));
  const objects = (from: number, count: number): Value => numbers(from, count).map((n) => ({ n }));
  test.each<[string, ConditionData, Value, boolean]>([
    ['numbers', both, { a: numbers(0), b: numbers(100_000) }, false],
    ['numbers, one in both', both, { a: numbers(0), b: numbers(39_999) }, true],
    ['a number as a text', both, { a: numbers(0).map(String), b: [...numbers(100_000), 7] }, true],
    ['texts', both, { a: numbers(0).map((n) => `a${n}`), b: numbers(0).map((n) => `b${n}`) }, false],
    ['null, which is missing', compare('c', 'in', path('b')), { a: 1, b: [...numbers(0), null] }, true],
    ['null among nulls', both, { a: numbers(0).map(() => null), b: numbers(0) }, false],
    ['an Object', both, { a: [...numbers(0, 400), { n: 5 }], b: [...numbers(1_000, 400), { n: 5 }] }, true],
    ['Objects', both, { a: objects(0, 100), b: objects(100, 100) }, false],
    ['of a declared type', compare('rows.n', 'in', [...numbers(0)]), { rows: objects(50_000, 40_000) }, false],
    [
      'of a type with keys',
      compare(
        'tags',
        'in',
        numbers(0).map((n) => `a${n}`),
      ),
      { tags: numbers(0).map((n) => `b${n}`) },
      false,
    ],
  ])('%s', (_, condition, payload, expected) => {
    expect(meets(TOPIC, condition, payload)).toBe(expected);
    const where: ConditionData = { op: 'not', term: { op: 'not', term: condition } };
    expect(meets(INSERT, where, payload)).toBe(expected);
  });

  test('few values in a long list are compared without keys, and take nothing of what conditions may take', () => {
    const isMet = (a: Value) => withAllowance(0, () => meets(TOPIC, both, { a, b: numbers(0) }));
    expect([isMet(-1), isMet([-1, 39_999])]).toEqual([false, true]);
  });

  test('Objects in Objects beyond what a condition may take count as false, and are recorded', () => {
    const index = new TriggerIndex(options());
    index.add(ruleOf('r', TOPIC, both));
    expect(index.matchTriggers(TOPIC, { a: objects(0, 1_000), b: objects(5_000, 1_000) }, () => ({}))).toEqual([]);
    expect(errors.at(-1)).toMatchObject({ code: 'cascade.builtin.timeout', params: ['in', 1_000], key: null });
  });
});
