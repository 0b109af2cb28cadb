import { expect, test } from 'vitest';

test('awaits what never comes', async () => {
  const timer = setInterval(() => undefined, 100);
  await new Promise(() => undefined);
  expect(timer).toBeUndefined();
});
