import { expect, test } from 'vitest';
import { OTHERS, RuleStages } from './rule-stages.ts';

const fill = (stages: RuleStages, namespaces: number, rules: number): void => {
  for (let namespace = 0; namespace < namespaces; namespace++)
    for (let rule = 0; rule < rules; rule++) for (const ms of [1, 2]) stages.of(`n${namespace}`).add(`r${rule}`, 'committed', ms);
};
const counts = (stages: RuleStages, namespace: string) =>
  [...stages.all()].filter((one) => one.namespace === namespace).map((one) => [one.rule, one.stages.get('committed')?.count]);

test('the rules measured by name are bounded per namespace, in all, and by namespaces; the others are measured as one', () => {
  const stages = new RuleStages();
  fill(stages, 103, 60);
  const named = Array.from({ length: 50 }, (_, rule) => [`r${rule}`, 2]);
  expect(counts(stages, 'n0')).toEqual([...named, [OTHERS, 20]]);
  expect(counts(stages, 'n5')).toEqual([...named, [OTHERS, 20]]);
  expect(counts(stages, 'n6')).toEqual([[OTHERS, 120]]);
  expect(counts(stages, OTHERS)).toEqual([[OTHERS, 360]]);
  expect([...stages.all()]).toHaveLength(300 + 101);
});

test('a reset may raise the number of rules measured by name', () => {
  const stages = new RuleStages();
  fill(stages, 1, 60);
  stages.reset({ rules: 1_000, inAll: 1_000, namespaces: 1 });
  expect(counts(stages, 'n0')).toEqual([]);
  fill(stages, 1, 60);
  expect(counts(stages, 'n0')).toHaveLength(60);
});
