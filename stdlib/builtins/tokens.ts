// JSON Web Tokens with HMAC signatures, and unsigned ones (builtins.md 18.1).
import { fail } from '../errors.ts';
import {
  decodeUtf8,
  encodeUtf8,
  fromBase64,
  isObject,
  type ObjectValue,
  parseJsonText,
  stringify,
  toBase64,
  type Value,
} from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { type DigestName, hmac } from './digests.ts';
import { made } from './growth.ts';

const ALGORITHMS: ReadonlyMap<string, DigestName | null> = new Map([
  ['HS256', 'sha256'],
  ['HS384', 'sha384'],
  ['HS512', 'sha512'],
  ['NONE', null],
]);

const base64Url = (bytes: Uint8Array): string => toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const encoded = (value: Value): string => base64Url(encodeUtf8(stringify(value)));

/** The signature of `header.claims`; empty for an unsigned token. */
function signature(algorithm: string, signed: string, key: string | null): string {
  const digest = ALGORITHMS.get(algorithm);
  if (digest === undefined) fail('cascade.lang.range', 'signingAlgorithm', algorithm);
  if (digest === null) return '';
  if (key === null) return fail('cascade.lang.null', 'signingKey');
  return base64Url(hmac(digest, encodeUtf8(key), encodeUtf8(signed)));
}

function create(context: BuiltinContext, headers: ObjectValue, claims: ObjectValue, key: string | null): string {
  const { alg } = headers;
  if (typeof alg !== 'string') return fail('cascade.lang.range', 'headers', 'an Object without alg');
  const signed = `${encoded(headers)}.${encoded(claims)}`;
  return made(context, `${signed}.${signature(alg, signed, key)}`);
}

function decodePart(part: string): ObjectValue {
  const bytes = /^[\w-]+$/.test(part) ? fromBase64(part) : 0;
  const value = typeof bytes === 'number' ? null : parseJsonText(decodeUtf8(bytes));
  return isObject(value) ? value : fail('cascade.builtin.parse', 'not a token', 0);
}

/** `verified` tells of the signature alone; an unsigned token is never verified. */
function decodeAndVerify(_: BuiltinContext, token: string, key: string | null): Value {
  const parts = token.split('.');
  const [head, body, given] = parts;
  if (parts.length !== 3 || head === undefined || body === undefined) return fail('cascade.builtin.parse', 'not a token', 0);
  const headers = decodePart(head);
  const claims = decodePart(body);
  if (key === null) return { headers, claims };
  const { alg } = headers;
  const verified = typeof alg === 'string' && alg !== 'NONE' && signature(alg, `${head}.${body}`, key) === given;
  return { headers, claims, verified };
}

export const tokens: readonly Declaration[] = [
  {
    call: 'JWT.createToken(signingAlgorithm: String, claims: Object, signingKey?: String) => String',
    forms: 'S',
    about: 'A token signed by HS256, HS384 or HS512, or unsigned by NONE.',
    run: (context: BuiltinContext, alg: string, claims: ObjectValue, key: string | null) =>
      create(context, { typ: 'JWT', alg }, claims, key),
  },
  {
    call: 'JWT.createTokenWithHeaders(headers: Object, claims: Object, signingKey?: String) => String',
    forms: 'S',
    about: 'A token with headers of its own, `alg` among them.',
    run: create,
  },
  {
    call: 'JWT.decodeAndVerifyToken(token: String, verificationKey?: String) => Object',
    forms: 'S',
    about: 'The headers and claims of a token, and whether its signature is that of the key.',
    run: decodeAndVerify,
  },
];
