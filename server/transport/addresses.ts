// Addresses of peers as text: one spelling for each, and which are this machine's own. Pure.
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

/** @param address canonical */
export const isLoopback = (address: string): boolean => address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
