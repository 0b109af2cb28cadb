// The rule graph: cycles of rules that start each other, and the cycle at the end of a chain.
import { expect, test } from 'vitest';
import type { CompiledRule } from '../../compiler/index.ts';
import { cycleIn } from './abandoned-runs.ts';
import { compileText } from '../../runtime/programs/programs.ts';
import { RuleGraph } from './rule-graph.ts';

const rule = (text: string): CompiledRule => compileText(text, 'rule') as CompiledRule;

test('the shortest cycle through a rule is shown with its paths', () => {
  const links = new RuleGraph();
  links.put(rule('RULE a WHEN INSERT OCCURS ON A AS x INSERT B(n: 1)'));
  links.put(rule('RULE b WHEN INSERT OCCURS ON B AS x PUBLISH {n: 1} TO TOPIC "/c"'));
  const closing = rule('RULE c WHEN EVENT OCCURS ON "/topics/c" AS e\nif (e.value.n > 0) { UPSERT A(n: 1) }');
  expect(links.cycleThrough(closing)).toEqual(['c', '/types/A/insert', 'a', '/types/B/insert', 'b', '/topics/c/publish', 'c']);
  links.remove('b');
  expect(links.cycleThrough(closing)).toBeNull();
  expect(links.cycleThrough(rule('RULE self WHEN UPDATE OCCURS ON A AS x UPDATE A(n: 2) WHERE _id == x._id'))).toEqual([
    'self',
    '/types/A/update',
    'self',
  ]);
  expect(links.cycleThrough(rule('RULE early BEFORE INSERT ON A INSERT A(n: 2)'))).toBeNull();
});

test.each([
  [
    ['a', 'b', 'a', 'b'],
    ['a', 'b', 'a'],
  ],
  [
    ['x', 'a', 'a'],
    ['a', 'a'],
  ],
  [
    ['a', 'b', 'c', 'a', 'b', 'c'],
    ['a', 'b', 'c', 'a'],
  ],
  [['a', 'b', 'c'], null],
  [[], null],
])('the chain of rules %j ends with the cycle %j', (via, round) => {
  expect(cycleIn(via)).toEqual(round);
});
