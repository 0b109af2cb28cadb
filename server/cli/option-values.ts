// Parses values of options, from the command line or the environment. Each parser throws an InvalidArgumentError that says what is
// expected.
import { InvalidArgumentError } from 'commander';
import { clientAddressBehind, type TrustedProxies, type CorsOrigins } from '../http/index.ts'; // not from index.ts, which loads the engine
import { LEVELS, type Level } from '../../sandbox/index.ts';
import { Networks } from '../../platform/egress/index.ts';

/** A whole number from `least` to `most`. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least && number <= most)) throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return number;
  };

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
const LEAST_BODY_BYTES = 1024;
const MOST_BODY_BYTES = 256 * 1024 * 1024;

/** A number of bytes; `K` and `M` are KiB and MiB. */
export function bodyBytes(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,9})([kKmM]?)$/.exec(text) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  if (!(bytes >= LEAST_BODY_BYTES && bytes <= MOST_BODY_BYTES))
    throw new InvalidArgumentError('It must be a number of bytes from 1K to 256M, such as 10M.');
  return bytes;
}

const MOST_DOCUMENT_BYTES = 64 * 1024 ** 3;

/** A number of bytes; `K`, `M` and `G` are KiB, MiB and GiB. */
export function documentBytes(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})([kKmMgG]?)$/.exec(text) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  if (!(bytes >= LEAST_BODY_BYTES && bytes <= MOST_DOCUMENT_BYTES))
    throw new InvalidArgumentError('It must be a number of bytes from 1K to 64G, such as 100M.');
  return bytes;
}

/** A level of confinement; words for yes mean the lowest one. */
export function confinementLevel(text: string): Level {
  const word = text.toLowerCase();
  if (['1', 'true', 'yes'].includes(word)) return 'limits';
  if (['0', 'false', 'no'].includes(word)) return 'none';
  const level = LEVELS.find((one) => one === word);
  if (!level) throw new InvalidArgumentError(`It must be one of ${LEVELS.join(', ')}.`);
  return level;
}

/** The value `*` or `none`, or origins separated by commas. */
export function origins(text: string): CorsOrigins {
  if (text === '*') return '*';
  if (text === 'none') return [];
  return listOf(text, (origin) => {
    const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
    if (!isOrigin) throw new InvalidArgumentError(`'${origin}' is no origin such as https://app.example (or give *, or none).`);
  });
}

/** The number of proxies, or their addresses and networks separated by commas. */
export function proxies(text: string): TrustedProxies {
  if (/^\d+$/.test(text)) return wholeNumber(1, 16)(text);
  const entries = listOf(text, () => undefined);
  try {
    clientAddressBehind(entries);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  return entries;
}

/** Names of packages, separated by commas. */
export const packages = (text: string): string[] =>
  listOf(text, (name) => {
    if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(name)) throw new InvalidArgumentError(`'${name}' is no name of a package.`);
  });

/** Networks and addresses, separated by commas. */
export function networks(text: string): string[] {
  const entries = listOf(text, () => undefined);
  try {
    new Networks(entries);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  return entries;
}

export function webAddress(text: string): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('It must be a URL that begins with http:// or https://.');
  return text;
}

/** @param check throws for an invalid entry */
function listOf(text: string, check: (entry: string) => void): string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  if (entries.includes('')) throw new InvalidArgumentError('An entry between its commas is empty.');
  for (const entry of entries) check(entry);
  return entries;
}
