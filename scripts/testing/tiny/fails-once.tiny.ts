import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('fails at the first try', () => {
  const mark = process.env.TINY_MARK!;
  const isFirst = !existsSync(mark);
  writeFileSync(mark, '');
  expect(isFirst).toBe(false);
});
