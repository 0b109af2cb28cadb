// Texts in the charset that a content type names (integrations.md 1.6), as the Encoding Standard has them.
import { ContentError } from './errors.ts';

/** The charset of a content type. */
export const charsetOf = (contentType: string): string => /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? 'utf-8';

/** @throws ContentError */
export function decodeText(bytes: Uint8Array, charset: string): string {
  const decoder = decoderOf(charset);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ContentError(`it is not ${shown(charset)}`);
  }
}

/** @throws ContentError: the charset lacks a character, or is one that is only read */
export function encodeText(text: string, charset: string): Buffer {
  const { encoding } = decoderOf(charset);
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'utf-16le') return Buffer.from(/^utf-?16$/i.test(charset) ? `\ufeff${text}` : text, 'utf16le'); // the name alone leaves the order open
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  const table = tableOf(encoding);
  const isStrange = STRANGE.find(([names]) => names.test(charset))?.[1] ?? (() => false);
  const bytes = Buffer.alloc(text.length);
  let size = 0;
  for (const character of text) {
    const byte = table.get(character);
    if (byte === undefined || isStrange(byte)) throw new ContentError(`${shown(charset)} has no ${character}`);
    bytes[size++] = byte;
  }
  return bytes.subarray(0, size);
}

/** What the Encoding Standard reads as windows-1252 under the names of smaller charsets: others do not. */
const STRANGE: readonly (readonly [names: RegExp, isStrange: (byte: number) => boolean])[] = [
  [/ascii|646|ansi_x3/i, (byte) => byte > 0x7f],
  [/8859-?1$|8859_1$|latin-?1|^l1$/i, (byte) => byte > 0x7f && byte < 0xa0],
];

function decoderOf(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    throw new ContentError(`the charset ${shown(charset)} is unknown`);
  }
}

/** By character, the byte that stands for it alone: all of a charset of single bytes, ASCII of the others. */
function tableOf(encoding: string): ReadonlyMap<string, number> {
  const decoder = new TextDecoder(encoding);
  const table = new Map<string, number>();
  for (let byte = 0; byte < 256; byte++) {
    const character = decoder.decode(Uint8Array.of(byte));
    if (character !== '' && character !== '\ufffd') table.set(character, byte);
  }
  return table;
}

const shown = (charset: string): string => charset.slice(0, 40);
