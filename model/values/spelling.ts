// How a stored value without a declared type reads, in each spelling: by its BSON kind alone.
import { DAY_MS, formatDateTime } from '../../stdlib/values/index.ts';
import { type Bytes, int64At, KIND, nameEnd, sizeOf } from './bson-bytes.ts';
import { decimal128Text } from './decimal128.ts';
import { unescapeKey } from './keys.ts';
import { realText } from './to-json.ts';

/** `rest`: as clients see it; `inner`: the inner JSON of stdlib/values. */
export type Spelling = 'rest' | 'inner';

/** The JSON text of the value of that kind at that place. */
export interface Spell {
  (kind: number, bytes: Bytes, at: number): string;
  /** How members of a document are spelled, by their stored names; undefined of a member: as the document. Absent: only as a whole. */
  readonly members?: () => (stored: string) => Spell | undefined;
}

/** `"name":` of a stored name. */
export const jsonName = (stored: string): string => `${JSON.stringify(unescapeKey(stored))}:`;

const restString = (bytes: Bytes, at: number): string => quote(bytes, at + 4, at + 3 + bytes.readInt32LE(at));

/** A user's text that looks like an escape gets one in front. */
const innerString = (bytes: Bytes, at: number): string => {
  const text = restString(bytes, at);
  return text.startsWith('"\\u0001') ? `"\\u0001s${text.slice(1)}` : text;
};

const restReal = (value: number): string => realText(value, false);
const bareReal = (value: number): string => realText(value, true);
const innerReal = (value: number): string =>
  Number.isInteger(value)
    ? `"\\u0001r${Object.is(value, -0) ? '-0' : value}"`
    : Number.isFinite(value)
      ? String(value)
      : `"\\u0001r${value}"`;
const innerInteger = (value: number | bigint): string => (typeof value === 'bigint' ? `"\\u0001i${value}"` : String(value));

interface Texts {
  string: (bytes: Bytes, at: number) => string;
  real: (value: number) => string;
  integer: (value: number | bigint) => string;
  decimal: (text: string) => string;
  date: (ms: number) => string;
}

/** Instants of rows that stand together mostly share their day, whose text is kept. */
function restDates(): (ms: number) => string {
  let keptDay = Number.NaN;
  let keptText = '';
  return (ms) => {
    const day = Math.floor(ms / DAY_MS);
    if (day !== keptDay) {
      const text = formatDateTime(ms);
      keptDay = day;
      keptText = text.slice(0, -'00:00:00.000Z'.length);
    }
    return `"${keptText}${timeText(ms - day * DAY_MS)}Z"`;
  };
}

function timeText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const milliseconds = ms - seconds * 1000;
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${milliseconds < 100 ? '0' : ''}${two(milliseconds)}`;
}
const two = (n: number): string => (n < 10 ? `0${n}` : String(n));

const rest = (): Texts => ({
  string: restString,
  real: restReal,
  integer: String,
  decimal: (text) => `"${text}"`,
  date: restDates(),
});
const INNER: Texts = {
  string: innerString,
  real: innerReal,
  integer: innerInteger,
  decimal: (text) => `"\\u0001d${text}"`,
  date: (ms) => `"\\u0001t${ms}"`,
};

function speller(texts: Texts): Spell {
  const spell: Spell = (kind, bytes, at) => {
    switch (kind) {
      case KIND.string:
        return texts.string(bytes, at);
      case KIND.int64:
        return texts.integer(int64At(bytes, at));
      case KIND.double:
        return texts.real(bytes.readDoubleLE(at));
      case KIND.boolean:
        return bytes[at] === 1 ? 'true' : 'false';
      case KIND.date:
        return texts.date(Number(int64At(bytes, at)));
      case KIND.document:
        return spellMembers(bytes, at, false);
      case KIND.array:
        return spellMembers(bytes, at, true);
      case KIND.decimal128: {
        const text = decimal128Text(bytes, at);
        return text === null ? 'null' : texts.decimal(text);
      }
      case KIND.int32:
        return String(bytes.readInt32LE(at));
      case KIND.objectId:
        return `"${bytes.hexSlice(at, at + 12)}"`;
      default:
        return 'null';
    }
  };

  const spellMembers = (bytes: Bytes, start: number, isArray: boolean): string => {
    let out = '';
    let at = start + 4;
    while (bytes[at] !== 0) {
      const kind = bytes[at] as number;
      const end = nameEnd(bytes, at + 1);
      const name = isArray ? '' : jsonName(bytes.utf8Slice(at + 1, end));
      out += `${out === '' ? '' : ','}${name}${spell(kind, bytes, end + 1)}`;
      at = end + 1 + sizeOf(kind, bytes, end + 1);
    }
    return isArray ? `[${out}]` : `{${out}}`;
  };
  return Object.assign(spell, { members: () => asInAny });
}

const asInAny = (): undefined => undefined;

/** `bare`: integral Reals without `.0`, for Real properties and coordinates; inside they stay Reals all the same. */
export interface Spellings {
  readonly value: Spell;
  readonly bare: Spell;
}

/** A set of its own for each transcoder: it keeps the text of a day. */
export function spellings(spelling: Spelling): Spellings {
  if (spelling === 'inner') {
    const inner = speller(INNER);
    return { value: inner, bare: inner };
  }
  const texts = rest();
  return { value: speller(texts), bare: speller({ ...texts, real: bareReal }) };
}

/** The JSON string of UTF-8 bytes; short ASCII without anything to escape is taken as it is. */
function quote(bytes: Bytes, start: number, end: number): string {
  if (end - start > 64) return JSON.stringify(bytes.utf8Slice(start, end));
  for (let at = start; at < end; at++) {
    const c = bytes[at] as number;
    if (c < 32 || c > 126 || c === 34 || c === 92) return JSON.stringify(bytes.utf8Slice(start, end));
  }
  return `"${bytes.latin1Slice(start, end)}"`;
}
