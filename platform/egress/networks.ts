// Which addresses outgoing connections may reach: public ones, and those of networks that the operator has opened. Pure.
import { BlockList, isIP, SocketAddress } from 'node:net';

/** Loopback, private, link-local (metadata services too), shared, unique-local, multicast, documentation, and what leads to IPv4 in disguise. */
const NOT_PUBLIC: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** Networks of addresses, such as `10.1.0.0/16`, `fd00::/8` or `192.0.2.7`. */
export class Networks {
  readonly #list = new BlockList();

  /** @throws TypeError that names the entry that is none */
  constructor(cidrs: readonly string[]) {
    for (const cidr of cidrs) {
      const [address = '', bits, ...more] = cidr.split('/');
      const family = isIP(address);
      const most = family === 4 ? 32 : 128;
      const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
      if (family === 0 || more.length > 0 || !(prefix <= most))
        throw new TypeError(`'${cidr}' is no address and no network such as 10.1.0.0/16`);
      this.#list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
    }
  }

  has(address: string): boolean {
    return this.#list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
}

/**
 * One spelling for each address; the IPv4 address for those that lead to one (mapped, translated, NAT64, 6to4): what is refused there is refused here.
 * @param address of either family, without a zone
 */
export function canonical(address: string): string {
  if (isIP(address) !== 6) return address;
  const short = new SocketAddress({ address: address.replace(/%.*$/s, ''), family: 'ipv6' }).address;
  const groups = expanded(short);
  const embedded = (high: number): string => {
    const [a = 0, b = 0] = [groups[high], groups[high + 1]];
    return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`;
  };
  const zeroUpTo = (end: number): boolean => groups.slice(0, end).every((group) => group === 0);
  if (zeroUpTo(5) && groups[5] === 0xffff) return embedded(6);
  if (zeroUpTo(4) && groups[4] === 0xffff && groups[5] === 0) return embedded(6);
  if (groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) return embedded(6);
  if (groups[0] === 0x2002) return embedded(1);
  return short;
}

/** The eight groups of an IPv6 address. */
function expanded(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted
    ? `${dotted[1]}${((Number(dotted[2]) << 8) | Number(dotted[3])).toString(16)}:${((Number(dotted[4]) << 8) | Number(dotted[5])).toString(16)}`
    : address;
  const [head = '', tail] = text.split('::');
  const parse = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [parse(head), parse(tail ?? '')];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

const notPublic = new Networks(NOT_PUBLIC);

/** @param address canonical */
export const isPublic = (address: string): boolean => !notPublic.has(address);
