import { expect, test } from 'vitest';

test('loops for ever', () => {
  let turns = 0;
  const neverEnds = (): void => {
    for (;;) turns++;
  };
  neverEnds();
  expect(turns).toBe(0);
});
