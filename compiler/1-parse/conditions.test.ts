// language.md 2.5: the grammar of conditions.
import { expect, test } from 'vitest';
import { accepted, conditionShape, mistakesInBody, shapedCondition } from './testing/reading.ts';

test.each([
  ['OrCond', 'a == 1 OR b == 2 || c == 3', 'or(a == 1, b == 2, c == 3)'],
  ['AndCond', 'a == 1 AND b == 2 && c == 3 OR d == 4', 'or(and(a == 1, b == 2, c == 3), d == 4)'],
  ['AndCond', '(a == 1 AND b == 2) AND c == 3', 'and(and(a == 1, b == 2), c == 3)'],
  ['NotCond', 'NOT (a == 1)', 'not(a == 1)'],
  ['NotCond', '!(a == 1 OR b == 2)', 'not(or(a == 1, b == 2))'],
  ['NotCond', 'a == 1 AND NOT (b in [2])', 'and(a == 1, not(b in [2]))'],
  ['NotCond', '(a == 1)', 'a == 1'],
  ['Comparison', 'a.b.c != x + 1', 'a.b.c != (x + 1)'],
  ['Comparison', 'id == "/pump/" + p._id', 'id == ("/pump/" + p._id)'],
  ['Comparison', 'a > -5 minutes', 'a > (-300000ms)'],
  ['CompOp', 'a EQ 1 AND b NE 2 AND c LT 3 AND d LE 4 AND e GT 5 AND f GE 6', 'and(a == 1, b != 2, c < 3, d <= 4, e > 5, f >= 6)'],
  ['CompOp', 'a < 1 AND b <= 2 AND c > 3 AND d >= 4', 'and(a < 1, b <= 2, c > 3, d >= 4)'],
  ['CompOp', 'a IN list AND b REGEX "^x" AND c GEONEAR s', 'and(a in list, b regex "^x", c geonear s)'],
  ['CompOp', 'a GeoIntersects g AND b geoWithin h', 'and(a geointersects g, b geowithin h)'],
  ['Operand', 'a == (b ? 1 : 2)', 'a == (b ? 1 : 2)'],
  ['QueryObj', '{}', 'query {}'],
  ['QueryObj', '{"a.b": {"$gt": 3}}', 'query {a.b: {$gt: 3}}'],
  ['QueryObj', 'q', 'query q'],
  ['QueryObj', 'place geoNear spot AND q', 'and(place geonear spot, query q)'],
  ['QueryObj', 'p.active', 'query p.active'],
  ['QueryObj', 'makeQuery(a)', 'query call makeQuery(a)'],
  ['W4', '5 < rate', '5 < rate'],
  ['W4', '(event.value.a + 1) * 2 > event.value.b', '((event.value.a + 1) * 2) > event.value.b'],
  ['W4', '(event.value.a) > 3', 'event.value.a > 3'],
])('2.5 %s: %s', (_, text, expected) => {
  expect(conditionShape(text)).toBe(expected);
});

test.each([
  ['Comparison', 'a == b == c', '2:26'],
  ['Comparison', 'a == b < c', '2:26'],
  ['Comparison', 'a < b < c', '2:25'],
  ['QueryObj', '5', '2:19'],
  ['QueryObj', '"text"', '2:19'],
  ['QueryObj', 'true', '2:19'],
  ['QueryObj', 'a + b', '2:19'],
  ['Condition', '', '2:19'],
  ['Condition', 'a == 1 AND', '2:29'],
])('2.5 %s: %s is refused', (_, text, place) => {
  expect(mistakesInBody(`DELETE Pump WHERE ${text}`)).toEqual([`lang.syntax ${place}`]);
});

test('W12: WHERE {} means all, a missing WHERE is an error', () => {
  expect(mistakesInBody('DELETE Pump WHERE {}')).toEqual([]);
  expect(mistakesInBody('DELETE Pump')).toEqual(['lang.where.required 2:1']);
  expect(mistakesInBody('UPDATE Pump(a: 1) WITH x = 1')).toEqual(['lang.where.required 2:1']);
});

test('2.5: conditions stand in WHERE, CONSTRAIN TO, RULE WHERE, EXECUTE * WHERE and PROCESSED BY', () => {
  const rule = accepted('RULE r WHERE a > 1 WHEN OCCURS ON T WHERE b > 2 CONSTRAIN TO c > 3 EXECUTE * () WHERE d > 4 PROCESSED BY e > 5');
  if (rule.type !== 'Rule' || rule.trigger.type !== 'When' || rule.trigger.trigger.type !== 'MergeTrigger') throw new Error(rule.type);
  const { branches, constraint } = rule.trigger.trigger;
  const [execute] = rule.body;
  if (execute?.type !== 'Execute') throw new Error(execute?.type);
  const nodes = execute.processedBy?.nodes;
  if (!nodes || nodes === 'all' || nodes.type === 'VariableRef') throw new Error('no condition');
  const found = [rule.where, branches[0]!.where, constraint, execute.where, nodes];
  expect(found.map((one) => one && shapedCondition(one))).toEqual(['a > 1', 'b > 2', 'c > 3', 'd > 4', 'e > 5']);
});
