import { expect, test } from 'vitest';
import { clientAddressBehind } from './client-address.ts';

const client = (proxies: number | string[], peer: string, forwarded?: string): string =>
  clientAddressBehind(proxies)(peer, new Map(forwarded === undefined ? [] : [['x-forwarded-for', forwarded]]));

test('behind a number of proxies the client is the entry of the last of them, whatever strangers have written before', () => {
  expect(client(1, '10.0.0.1', '6.6.6.6, 1.2.3.4')).toBe('1.2.3.4');
  expect(client(2, '10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2')).toBe('1.2.3.4');
  expect(client(2, '10.0.0.1', '1.2.3.4')).toBe('1.2.3.4');
  expect(client(1, '10.0.0.1')).toBe('10.0.0.1');
});

test('behind listed proxies the client is the last address that does not belong to them', () => {
  const proxies = ['10.0.0.0/8', '2001:db8::1'];
  expect(client(proxies, '10.0.0.1', '6.6.6.6, 1.2.3.4, 10.9.9.9')).toBe('1.2.3.4');
  expect(client(proxies, '2001:db8::1', '1.2.3.4')).toBe('1.2.3.4');
  expect(client(proxies, '7.7.7.7', '1.2.3.4')).toBe('7.7.7.7');
  expect(client(proxies, '10.0.0.1', '10.0.0.2')).toBe('10.0.0.2');
});

test('an entry may have a port; one that is not an address ends the search', () => {
  expect(client(1, '10.0.0.1', '1.2.3.4:5678')).toBe('1.2.3.4');
  expect(client(1, '10.0.0.1', '[2001:db8::5]:443')).toBe('2001:db8::5');
  expect(client(1, '10.0.0.1', '2001:0db8:0::5')).toBe('2001:db8::5');
  expect(client(2, '10.0.0.1', '1.2.3.4, unknown')).toBe('10.0.0.1');
});

test.each(['nonsense', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::/129', ''])('%j is refused as a proxy', (entry) => {
  expect(() => clientAddressBehind([entry])).toThrow('is neither an address nor a network');
});
