import type { Db } from 'mongodb';
import { expect, test } from 'vitest';
import { systemClock } from '../../platform/clock/index.ts';
import { pureBuiltins } from '../../resources/host-context.ts';
import { Correlations } from './correlations.ts';
import { type CorrelatedRule, type CorrelationHost, whenOf } from './version-group.ts';
import { insertion } from './evaluation-store.ts';
import { compiledRule } from './testing/machine.ts';

test('what was restored in part, when the store went away, is restored once', async () => {
  const compiled = compiledRule(
    'RULE r WHEN EVENT OCCURS ON "/topics/a" AS a BEFORE EVENT OCCURS ON "/topics/b" AS b WITHIN 1 hour log.info("x")',
  );
  const conditions = { typeOf: () => null, builtin: pureBuiltins(systemClock), namespace: 'main' };
  const host = { conditions, namespace: 'main', mostOpen: 10, cipher: () => null } as unknown as CorrelationHost;
  await using correlations = new Correlations(host);
  correlations.put({ compiled, baseName: 'r', executable: { program: { id: 'p' } } as CorrelatedRule['executable'] });
  const stored = ['one', 'two'].map((uuid, order) => {
    const matched = { uuid, path: '/topics/a/publish', value: 'null', atMs: 1, by: 'ann', chain: null };
    const open = {
      order,
      node: 0,
      began: 'left',
      deadlineMs: 9,
      places: [0],
      events: [matched],
      isOpen: true,
      storedIn: 'store',
    } as const;
    const [write] = insertion({ rule: 'r', when: whenOf(compiled) }, open, null);
    return write?.op === 'insert' ? write.document : null;
  });
  let isAway = true;
  async function* read() {
    yield stored[0];
    if (isAway) throw new Error('the store is away');
    yield stored[1];
  }
  const db = { collection: () => ({ find: () => ({ sort: () => ({ allowDiskUse: read }) }) }) } as unknown as Db;
  await expect(correlations.restore(db)).rejects.toThrow('the store is away');
  isAway = false;
  await correlations.restore(db);
  expect(correlations.open).toBe(2);
});
