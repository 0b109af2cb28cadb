// What of a rule is looked at before it is stored.
import { afterEach, expect, test, vi } from 'vitest';
import { openTestEngine } from '../../engine/testing/engine.ts';
import { TriggerIndex } from '../../runtime/triggers/index.ts';

afterEach(() => void vi.restoreAllMocks());

test.each([
  ['on an event', 'WHEN INSERT OCCURS ON Told AS t WHERE t.n == '],
  ['before a change', 'BEFORE INSERT ON Told AS t WHERE t.n == '],
  [
    'over two events',
    'WHEN INSERT OCCURS ON Told AS t BEFORE EVENT OCCURS ON "/topics/e" AS e WITHIN 1 hour CONSTRAIN TO t.n == e.value.n + ',
  ],
])('a rule %s that cannot be put in force is not stored, and the one that it would replace stays', async (_kind, clause) => {
  await using t = await openTestEngine();
  await t.type('Told', { n: { type: 'Integer' } });
  await t.program('rules', `RULE kept ${clause} 1 log.info("a")`);
  const index = vi.spyOn(TriggerIndex.prototype, 'add').mockImplementation(() => {
    throw new Error('no such operator');
  });
  const left = vi.spyOn(TriggerIndex.prototype, 'remove');
  for (const name of ['kept', 'other']) {
    const reply = t.ask('insert', 'rules', { text: `RULE ${name} ${clause} 2 log.info("b")` });
    await expect(reply, name).rejects.toThrow('no such operator');
  }
  expect(left).not.toHaveBeenCalled();
  index.mockRestore();
  expect((await t.rows('rules')).map(({ name, ruleText }) => [name, String(ruleText).includes(' 1 log')])).toEqual([['kept', true]]);
});
