// The address of the client where proxies stand between: the one that the last trusted proxy has written into X-Forwarded-For. Entries by
// strangers do not count. Pure.
import { BlockList, isIP } from 'node:net';
import { canonicalAddress } from '../transport/index.ts';
import type { RequestHeaders } from './types.ts';

/** The number of proxies that pass each request on, or their addresses and networks (`10.0.0.0/8`). */
export type TrustedProxies = number | readonly string[];

/** @param peer the peer's address, canonical */
export type ClientAddress = (peer: string, headers: RequestHeaders) => string;

export const peerOf: ClientAddress = (peer) => peer;

/** @throws Error when an entry of the list is not an address or network */
export function clientAddressBehind(proxies: TrustedProxies): ClientAddress {
  const isTrusted = typeof proxies === 'number' ? (_hop: string, nth: number) => nth < proxies : within(proxies);
  return (peer, headers) => {
    const forwarded = (headers.get('x-forwarded-for') ?? '').split(',').filter((entry) => entry.trim() !== '');
    let client = peer;
    for (let nth = 0; forwarded.length > 0 && isTrusted(client, nth); nth++) {
      const hop = hopAddress(forwarded.pop()!);
      if (hop === null) break; // unreadable: the client is the proxy that wrote the entry
      client = hop;
    }
    return client;
  };
}

function within(entries: readonly string[]): (hop: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix, more] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const most = family === 'ipv6' ? 128 : 32;
    const isNetwork = prefix !== undefined && /^\d{1,3}$/.test(prefix) && Number(prefix) <= most;
    if (isIP(address) === 0 || more !== undefined || (prefix !== undefined && !isNetwork))
      throw new Error(`'${entry}' is neither an address nor a network such as 10.0.0.0/8.`);
    if (prefix === undefined) list.addAddress(canonicalAddress(address), isIP(canonicalAddress(address)) === 6 ? 'ipv6' : 'ipv4');
    else list.addSubnet(address, Number(prefix), family);
  }
  return (hop) => isIP(hop) !== 0 && list.check(hop, isIP(hop) === 6 ? 'ipv6' : 'ipv4');
}

/** The address of an entry, perhaps with a port, an IPv6 one then in brackets. */
function hopAddress(entry: string): string | null {
  const text = entry.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? null : canonicalAddress(bare);
}
