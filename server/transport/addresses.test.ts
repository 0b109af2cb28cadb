import { expect, test } from 'vitest';
import { canonicalAddress, isLoopback } from './addresses.ts';

test.each([
  ['10.0.0.7', '10.0.0.7'],
  ['0000:0000:0000:0000:0000:0000:0000:0001', '::1'],
  ['2001:0DB8:0000:0000:0000:0000:0000:00a1', '2001:db8::a1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:ffff:7f00:0001', '127.0.0.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['', ''],
])('%s is spelled %s', (text, canonical) => {
  expect(canonicalAddress(text)).toBe(canonical);
});

test('loopback addresses belong to this machine', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '10.0.0.1', '::2', ''].map(isLoopback)).toEqual([true, true, true, false, false, false]);
});
