// Whom failed logins count for (resources-and-api.md 6.6). Pure.
import { isIP, SocketAddress } from 'node:net';

/**
 * The key under which limits, logs and audits have a sender: an IPv4 address, or the /64 of an IPv6 address, since one customer has that many.
 * @param address canonical; null: a program asks
 */
export function limitKey<T extends string | null>(address: T): T | string {
  if (address === null || isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const behind = tail === '' ? 0 : tail.split(':').length + (tail.includes('.') ? 1 : 0);
    while (groups.length + behind < 8) groups.push('0');
  }
  const network = groups.slice(0, 4);
  const whole = [...network, ...Array<string>(4).fill('0')].join(':');
  return `${new SocketAddress({ address: whole, family: 'ipv6' }).address}/64`;
}
