// Bytes and their texts: UTF-8, base64, hexadecimal. Written out here, since the isolate has no TextEncoder, atob or Buffer.

/** A lone surrogate becomes U+FFFD. */
export function encodeUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    let point = text.codePointAt(i) as number;
    if (point > 0xffff) i++;
    else if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
    if (point < 0x80) bytes[length++] = point;
    else if (point < 0x800) {
      bytes[length++] = 0xc0 | (point >> 6);
      bytes[length++] = 0x80 | (point & 0x3f);
    } else {
      if (point < 0x10000) bytes[length++] = 0xe0 | (point >> 12);
      else {
        bytes[length++] = 0xf0 | (point >> 18);
        bytes[length++] = 0x80 | ((point >> 12) & 0x3f);
      }
      bytes[length++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[length++] = 0x80 | (point & 0x3f);
    }
  }
  return bytes.subarray(0, length);
}

/** What is not UTF-8 becomes U+FFFD, one for each maximal part of a character, as browsers do. */
export function decodeUtf8(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes[i] as number;
    if (lead < 0x80) {
      text += String.fromCharCode(lead);
      i++;
      continue;
    }
    const length = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 1;
    let point = length === 1 ? 0xfffd : lead & (0x7f >> length);
    let taken = 1;
    for (; taken < length; taken++) {
      const next = bytes[i + taken] ?? 0;
      if (next < (taken === 1 ? leastSecond(lead) : 0x80) || next > (taken === 1 ? mostSecond(lead) : 0xbf)) break;
      point = (point << 6) | (next & 0x3f);
    }
    text += String.fromCodePoint(taken < length ? 0xfffd : point);
    i += taken;
  }
  return text;
}

/** The second byte is bounded further: no overlong forms, no surrogates, nothing past U+10FFFF. */
function leastSecond(lead: number): number {
  return lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
}
function mostSecond(lead: number): number {
  return lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
}

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += (byte < 16 ? '0' : '') + byte.toString(16);
  return text;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The standard alphabet, padded. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const group = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text += ALPHABET.charAt(group >> 18) + ALPHABET.charAt((group >> 12) & 63);
    text += (left > 1 ? ALPHABET.charAt((group >> 6) & 63) : '=') + (left > 2 ? ALPHABET.charAt(group & 63) : '=');
  }
  return text;
}

/** Either alphabet, with or without padding, line breaks left out; the offset of what is none of that instead. */
export function fromBase64(text: string): Uint8Array | number {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let length = 0;
  let group = 0;
  let bits = 0;
  let end = text.length;
  while (end > 0 && /[=\s]/.test(text.charAt(end - 1))) end--;
  for (let i = 0; i < end; i++) {
    const char = text.charAt(i);
    if (char === '\n' || char === '\r') continue;
    const value = ALPHABET.indexOf(char === '-' ? '+' : char === '_' ? '/' : char);
    if (value < 0) return i;
    group = ((group << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[length++] = (group >> bits) & 0xff;
    }
  }
  return bits >= 6 ? end : bytes.subarray(0, length); // a single letter left over stands for no byte
}
