import { expect, test } from 'vitest';

// eslint-disable-next-line no-restricted-syntax -- what must be refused
test.only('leaves out the others', () => {
  expect(1).toBe(1);
});
