// Headers as programs give them: names and values that cannot inject further lines, and none that the connection sets itself.
import { getOwn, type ObjectValue } from '../../../stdlib/values/index.ts';

/** Headers that the connection sets itself. */
const RESERVED = new Set(
  'connection content-length expect host http2-settings keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// Visible characters, blanks and the bytes of Latin-1 above ASCII.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Name and value pairs in the order of the keys, one per element for an array; or the reason why a header is invalid. */
export function headerPairs(headers: ObjectValue): [string, string][] | string {
  const pairs: [string, string][] = [];
  for (const name of Object.keys(headers)) {
    if (!TOKEN.test(name)) return `'${name.slice(0, 50).replaceAll(/[^\x20-\x7e]/g, '?')}' is no name of a header`;
    if (RESERVED.has(name.toLowerCase())) return `the header ${name} is made by the connection`;
    for (const value of [getOwn(headers, name)].flat()) {
      if (value === null) continue;
      if (typeof value !== 'string') return `the header ${name} is no String`;
      if (!VALUE.test(value)) return `the header ${name} has a character that headers cannot have`;
      pairs.push([name, value]);
    }
  }
  return pairs;
}

export const basic = (username: string, password: string): string => `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
