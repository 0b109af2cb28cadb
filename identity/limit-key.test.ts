import { expect, test } from 'vitest';
import { limitKey } from './limit-key.ts';

test.each([
  ['10.0.0.7', '10.0.0.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8::/64'],
  ['::1', '::/64'],
])('%s counts as %s', (address, key) => {
  expect(limitKey(address)).toBe(key);
});
