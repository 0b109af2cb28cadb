import { expect, test } from 'vitest';
import { OTHERS, RuleStages } from './rule-stages.ts';

test('so many rules of a namespace are measured by name, all others as one; so many namespaces, too', () => {
  const stages = new RuleStages();
  for (let namespace = 0; namespace < 103; namespace++)
    for (let rule = 0; rule < 60; rule++) for (const ms of [1, 2]) stages.of(`n${namespace}`).add(`r${rule}`, 'committed', ms);
  const all = [...stages.all()];
  const counts = (namespace: string) =>
    all.filter((one) => one.namespace === namespace).map((one) => [one.rule, one.stages.get('committed')?.count]);
  expect(all).toHaveLength(101 * 51);
  expect(counts('n0')).toEqual([...Array.from({ length: 50 }, (_, rule) => [`r${rule}`, 2]), [OTHERS, 20]]);
  expect(counts(OTHERS)).toEqual([...Array.from({ length: 50 }, (_, rule) => [`r${rule}`, 6]), [OTHERS, 60]]);
});
