// Encode, Decode, Hash, URIs and HTML (builtins.md 13, 18).
import { fail } from '../errors.ts';
import { Binary, decodeUtf8, encodeUtf8, fromBase64, getOwn, type ObjectValue, setOwn, text, toBase64 } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { DIGESTS, type DigestName, hmac } from './digests.ts';
import { made, turnsOf } from './growth.ts';

const bytesOf = (val: string | Binary): Uint8Array => (typeof val === 'string' ? encodeUtf8(val) : val.bytes);

function decodedBase64(val: string | Binary): Uint8Array {
  const source = typeof val === 'string' ? val : decodeUtf8(val.bytes);
  const bytes = fromBase64(source);
  return typeof bytes === 'number' ? fail('cascade.builtin.parse', 'not base64', bytes) : bytes;
}

// ---------------------------------------------------------------- URIs

/** One of JavaScript's URI functions; what it refuses is a parse error. */
function uri(name: string, parameter: string, about: string, convert: (text: string) => string): Declaration {
  return {
    call: `${name}(${parameter}: String) => String`,
    forms: 'FM',
    about,
    errors: ['cascade.builtin.parse'],
    run: (context: BuiltinContext, source: string) => {
      try {
        return made(context, convert(source));
      } catch (error) {
        if (error instanceof URIError) return fail('cascade.builtin.parse', 'bad URI escape', Math.max(0, source.indexOf('%')));
        throw error;
      }
    },
  };
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

// ---------------------------------------------------------------- forms

/** Blanks as `+`, all but letters, digits and `*-._` as %XX of UTF-8. */
function formEncoded(source: string): string {
  let result = '';
  for (const byte of encodeUtf8(source)) {
    const char = String.fromCharCode(byte);
    result += char === ' ' ? '+' : /[A-Za-z0-9*._-]/.test(char) ? char : `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`;
  }
  return result;
}

function encodeForm(object: ObjectValue): string {
  const pairs: string[] = [];
  for (const [key, value] of Object.entries(object)) {
    for (const each of Array.isArray(value) ? value : [value])
      pairs.push(`${formEncoded(key)}=${each === null ? '' : formEncoded(text(each))}`);
  }
  return pairs.join('&');
}

function decodeForm(source: string): ObjectValue {
  const result: ObjectValue = {};
  const decode = (part: string, at: number): string => {
    try {
      return decodeURIComponent(part.replaceAll('+', ' '));
    } catch {
      return fail('cascade.builtin.parse', 'bad escape', at);
    }
  };
  let next = source.startsWith('?') ? 1 : 0;
  for (const pair of source.slice(next).split('&')) {
    const at = next;
    next += pair.length + 1;
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const key = decode(equals < 0 ? pair : pair.slice(0, equals), at);
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1), at + equals + 1);
    const before = getOwn(result, key);
    if (Array.isArray(before)) before.push(value);
    else setOwn(result, key, before === null ? value : [before, value]);
  }
  return result;
}

// ---------------------------------------------------------------- the tables

/** Each character, or byte, is worth a turn of a loop. */
const sizeOf = (val: string | Binary | false | null): number =>
  val instanceof Binary ? val.bytes.length : typeof val === 'string' ? val.length : 0;

/** A value or a document; `false` stands for no value. */
const digest = (name: DigestName): Declaration => ({
  call: `Hash.${name}(val: String|Binary|null = false, resourceRef?: String|Object) => Binary`,
  forms: 'S',
  about: `The ${name.toUpperCase()} digest of a value; resourceRef beside it, or neither: refused.`,
  turns: (val: string | Binary | false | null) => sizeOf(val),
  run: (_: BuiltinContext, val: string | Binary | false | null, resourceRef: string | ObjectValue | null) => {
    if (resourceRef !== null || val === false)
      return fail('cascade.procedure.argument.count', `Hash.${name}`, resourceRef === null ? 0 : 2);
    return new Binary(DIGESTS[name](bytesOf(val ?? fail('cascade.lang.null', 'val'))));
  },
});

const documentDigest = (name: DigestName): Declaration => ({
  call: `Hash.${name}(resourceRef: String|Object) => Binary`,
  forms: 'S',
  about: `The ${name.toUpperCase()} digest of the content of a document, by name of the argument: \`Hash.${name}(resourceRef: "documents/a.txt")\`.`,
  errors: ['cascade.authorization.denied', 'cascade.document.too.large', 'cascade.lang.range', 'cascade.resource.not.found'],
  effect: 'suspends',
  binary: true,
});

const keyed = (method: string, name: DigestName): Declaration => ({
  call: `Hash.${method}(key: String|Binary, val: String|Binary) => Binary`,
  forms: 'S',
  about: `The HMAC by ${name.toUpperCase()}.`,
  errors: ['cascade.lang.range'],
  turns: (key: string | Binary, val: string | Binary) => sizeOf(key) + sizeOf(val),
  run: (_: BuiltinContext, key: string | Binary, val: string | Binary) => {
    const bytes = bytesOf(key);
    if (bytes.length === 0) fail('cascade.lang.range', 'key', 'an empty key');
    return new Binary(hmac(name, bytes, bytesOf(val)));
  },
});

const byteCount = (name: string): Declaration => ({
  call: `${name}(val: Binary) => Integer`,
  forms: 'FM',
  about: 'The number of bytes.',
  run: (_: BuiltinContext, val: Binary) => val.bytes.length,
});

export const codecs: readonly Declaration[] = [
  uri('encodeUri', 'str', 'Percent-encodes all but the characters of URIs.', encodeURI),
  uri('encodeUriComponent', 'str', 'Percent-encodes the reserved characters too.', encodeURIComponent),
  uri('decodeUri', 'encodedUri', 'Decodes escapes but those of reserved characters.', decodeURI),
  uri('decodeUriComponent', 'encodedUriComponent', 'Decodes all escapes.', decodeURIComponent),
  {
    call: 'escape(str: String) => String',
    forms: 'FM',
    about: 'HTML entities for & < > " and \'.',
    turns: sizeOf,
    run: (context: BuiltinContext, str: string) =>
      made(
        context,
        str.replace(/[&<>"']/g, (char) => ENTITIES.get(char) as string),
      ),
  },
  {
    call: 'Encode.base64(val: String|Binary) => String',
    forms: 'S',
    about: 'Base64 of the bytes, padded.',
    turns: sizeOf,
    run: (context: BuiltinContext, val: string | Binary) => made(context, toBase64(bytesOf(val))),
  },
  {
    call: 'Encode.formUrl(val: Object) => String',
    forms: 'S',
    about: 'The body of an HTML form.',
    contents: true,
    errors: ['cascade.lang.range'],
    turns: (val: ObjectValue) => 4 * turnsOf(val),
    run: (context: BuiltinContext, val: ObjectValue) => made(context, encodeForm(val)),
  },
  {
    call: 'Decode.base64(val: String|Binary) => String',
    forms: 'S',
    about: 'The UTF-8 text of base64.',
    errors: ['cascade.builtin.parse'],
    turns: sizeOf,
    run: (context: BuiltinContext, val: string | Binary) => made(context, decodeUtf8(decodedBase64(val))),
  },
  {
    call: 'Decode.base64Raw(val: String|Binary) => Binary',
    forms: 'S',
    about: 'The bytes of base64.',
    errors: ['cascade.builtin.parse'],
    turns: sizeOf,
    run: (context: BuiltinContext, val: string | Binary) => {
      const bytes = decodedBase64(val);
      context.charge(bytes.length);
      return new Binary(bytes);
    },
  },
  {
    call: 'Decode.formUrl(val: String) => Object',
    forms: 'S',
    about: 'The names and values of an HTML form.',
    errors: ['cascade.builtin.parse'],
    turns: sizeOf,
    run: (context: BuiltinContext, val: string) => {
      context.charge(val.length * 2);
      return decodeForm(val);
    },
  },
  ...(Object.keys(DIGESTS) as DigestName[]).flatMap((name) => [digest(name), documentDigest(name)]),
  keyed('hmacSha1', 'sha1'),
  keyed('hmacSha256', 'sha256'),
  keyed('hmacSha512', 'sha512'),
  byteCount('size'),
  byteCount('length'),
];
