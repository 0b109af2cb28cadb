import { expect, test } from 'vitest';

// oxlint-disable-next-line cascade/forbidden -- what must be refused
test.only('leaves out the others', () => {
  expect(1).toBe(1);
});
