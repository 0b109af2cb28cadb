import { expect, test } from 'vitest';
import { boundedCache } from './index.ts';

test('the longest unused entry goes when there are too many', () => {
  const cache = boundedCache<string, number>(3);
  for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index);
  cache.get('a');
  cache.set('d', 3);
  expect([...cache.keys()].sort()).toEqual(['a', 'c', 'd']);
  for (let i = 0; i < 1_000; i++) cache.set(`k${i}`, i);
  expect([...cache.keys()]).toEqual(['k999', 'k998', 'k997']);
});
