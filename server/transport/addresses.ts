// Addresses of peers as text: one spelling for each, the key of limits, and which are this machine's own. Pure.
import { isIP, SocketAddress } from 'node:net';

/**
 * Canonical form: an IPv6 address in its short form (RFC 5952), an IPv4 address in a mapped one as itself; a text that is not an address
 * unchanged. uWebSockets.js writes out all eight groups, Node the short form.
 */
export function canonicalAddress(text: string): string {
  if (isIP(text) !== 6) return text;
  const { address } = new SocketAddress({ address: text.replace(/%.*$/s, ''), family: 'ipv6' });
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/**
 * The key under which limits count a sender: an IPv4 address, or the /64 of an IPv6 address, since one customer has that many. @param
 * address canonical
 */
export function limitKey(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const behind = tail === '' ? 0 : tail.split(':').length + (tail.includes('.') ? 1 : 0);
    while (groups.length + behind < 8) groups.push('0');
  }
  const network = groups.slice(0, 4);
  return `${canonicalAddress(`${[...network, ...Array<string>(4).fill('0')].join(':')}`)}/64`;
}

/** @param address canonical */
export const isLoopback = (address: string): boolean => address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
