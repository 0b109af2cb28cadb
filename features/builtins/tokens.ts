// JSON Web Tokens (builtins.md 18.1). Keys for RS… and ES… are base64 of DER: PKCS#8 for signing, SPKI for verification.
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto';
import { langError } from '../../stdlib/errors.ts';
import { encodeInner, isObject, type ObjectValue, parseJsonText, stringify, type Value } from '../../stdlib/values/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import { outOfRange, own } from '../../resources/operations/index.ts';
import type { HostBuiltins, Namespace } from '../../resources/catalog/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { readDocument } from '../documents/index.ts';

interface Algorithm {
  readonly family: 'HS' | 'RS' | 'ES';
  readonly hash: string;
  /** The curve of an elliptic key. */
  readonly curve?: string;
}
const CURVES: Readonly<Record<string, string>> = { '256': 'prime256v1', '384': 'secp384r1', '512': 'secp521r1' };
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map(
  ['256', '384', '512'].flatMap((bits): [string, Algorithm][] => [
    [`HS${bits}`, { family: 'HS', hash: `sha${bits}` }],
    [`RS${bits}`, { family: 'RS', hash: `sha${bits}` }],
    [`ES${bits}`, { family: 'ES', hash: `sha${bits}`, curve: CURVES[bits] ?? '' }],
  ]),
);
/** The algorithm without a signature. */
const UNSIGNED = 'NONE';

const encoded = (value: Value): string => Buffer.from(stringify(value)).toString('base64url');

function created(headers: ObjectValue, claims: Value, key: Value): string {
  const alg = own(headers, 'alg');
  const algorithm = typeof alg === 'string' ? ALGORITHMS.get(alg) : undefined;
  if (!algorithm && alg !== UNSIGNED) throw outOfRange(alg === null ? 'headers' : 'signingAlgorithm', alg ?? 'an Object without alg');
  const signed = `${encoded(headers)}.${encoded(claims)}`;
  if (!algorithm) return `${signed}.`;
  if (typeof key !== 'string') throw langError('cascade.lang.null', 'signingKey');
  return `${signed}.${signature(algorithm, signed, key)}`;
}

function signature(algorithm: Algorithm, signed: string, key: string): string {
  const { family, hash } = algorithm;
  if (family === 'HS') return createHmac(hash, key).update(signed).digest('base64url');
  const privateKey = keyOf(algorithm, 'signingKey', () => createPrivateKey({ key: der(key), format: 'der', type: 'pkcs8' }));
  return sign(hash, Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
}

/** @throws cascade.lang.range for a text that is no key, or a key of another kind */
function keyOf({ family, curve }: Algorithm, parameter: string, read: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    throw outOfRange(parameter, 'no key'); // details would reveal something about the key
  }
  const fits =
    family === 'RS' ? key.asymmetricKeyType === 'rsa' : key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === curve;
  if (!fits) throw outOfRange(parameter, 'a key of another kind');
  if (family === 'RS' && !isOrdinary(key)) throw outOfRange(parameter, 'a key of an unusual size');
  return key;
}

/** The longest usual modulus; the time for a made-up key grows with the cube of its size. */
const MOST_MODULUS_BITS = 4096;
const MOST_EXPONENT = 2n ** 32n;

/** Whether the numbers of an RSA key have consistent sizes: the library computes with any numbers, however long that takes. */
function isOrdinary(key: KeyObject): boolean {
  const { modulusLength = Number.POSITIVE_INFINITY, publicExponent = MOST_EXPONENT } = key.asymmetricKeyDetails ?? {};
  if (modulusLength > MOST_MODULUS_BITS || publicExponent >= MOST_EXPONENT) return false;
  if (key.type === 'public') return true;
  const { d = '', p = '', q = '', dp = '', dq = '', qi = '' } = key.export({ format: 'jwk' });
  const bits = (number: string): number => Buffer.from(number, 'base64url').length * 8;
  // Half the modulus, and some bits more for primes of different lengths.
  return bits(d) <= modulusLength + 8 && [p, q, dp, dq, qi].every((number) => bits(number) <= modulusLength / 2 + 16);
}

/** Twice the length of a key with the longest modulus, including armour and line breaks. */
const MOST_KEY_TEXT = 8 * 1024;

/** Decodes a key without armour and line breaks. @throws RangeError for a text that is too long */
const der = (key: string): Buffer => {
  if (key.length > MOST_KEY_TEXT) throw new RangeError('too long for a key');
  return Buffer.from(key.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64');
};

const publicKey = (key: string): KeyObject => createPublicKey({ key: der(key), format: 'der', type: 'spki' });

function decoded(token: string, key: Value): Value {
  const parts = token.split('.');
  const [head = '', body = '', given = ''] = parts;
  if (parts.length !== 3) throw langError('cascade.builtin.parse', 'not a token', 0);
  const headers = decodedPart(head);
  const claims = decodedPart(body);
  if (typeof key !== 'string') return { headers, claims };
  const alg = own(headers, 'alg');
  const algorithm = typeof alg === 'string' ? ALGORITHMS.get(alg) : undefined;
  if (!algorithm && alg !== UNSIGNED) throw outOfRange('signingAlgorithm', alg);
  return { headers, claims, verified: algorithm !== undefined && isSignedBy(algorithm, `${head}.${body}`, given, key) };
}

function decodedPart(part: string): ObjectValue {
  try {
    const value = /^[\w-]+$/.test(part) ? parseJsonText(Buffer.from(part, 'base64url').toString()) : null;
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof CascadeError)) throw error;
  }
  throw langError('cascade.builtin.parse', 'not a token', 0);
}

function isSignedBy(algorithm: Algorithm, signed: string, given: string, key: string): boolean {
  const bytes = Buffer.from(given, 'base64url');
  if (bytes.toString('base64url') !== given) return false; // a signature has exactly one valid encoding
  if (algorithm.family !== 'HS') {
    const spki = keyOf(algorithm, 'verificationKey', () => publicKey(key));
    return verify(algorithm.hash, Buffer.from(signed), { key: spki, dsaEncoding: 'ieee-p1363' }, bytes);
  }
  // Holders of the public key of RS… or ES… must not be able to sign with it as a secret.
  if (isPublicKey(key)) return false;
  const expected = createHmac(algorithm.hash, key).update(signed).digest();
  return expected.length === bytes.length && timingSafeEqual(expected, bytes);
}

function isPublicKey(key: string): boolean {
  try {
    return publicKey(key).type === 'public';
  } catch {
    return false;
  }
}

/** A longer document is no key. */
const MOST_KEY_BYTES = 64 * 1024;

/** The key in a document. @throws cascade.lang.range, cascade.resource.not.found, cascade.document.too.large */
async function keyIn(space: Namespace, resource: Value, resourceId: Value, actor: Actor): Promise<string> {
  if (resource !== 'system.documents') throw outOfRange('resource', resource);
  return (await readDocument(space, String(resourceId), actor, MOST_KEY_BYTES)).bytes.toString('utf8');
}

/** Built-ins that need no namespace. */
const answered =
  (make: (args: readonly Value[]) => Value) =>
  (_space: unknown, args: readonly Value[]): Answer => ({ ok: encodeInner(make(args)) });
/** Built-ins whose last two arguments name a document with the key. */
const answeredBy =
  (make: (args: readonly Value[], key: string) => Value) =>
  async (space: Namespace, args: readonly Value[], actor: Actor): Promise<Answer> => {
    const [resource = null, id = null] = args.slice(-2);
    return { ok: encodeInner(make(args, await keyIn(space, resource, id, actor))) };
  };
const withType = (alg: Value): ObjectValue => ({ typ: 'JWT', alg });

export const tokens = {
  'JWT.createToken': answered(([alg = null, claims = null, key = null]) => created(withType(alg), claims, key)),
  'JWT.createTokenWithHeaders': answered(([headers = null, claims = null, key = null]) => created(headers as ObjectValue, claims, key)),
  'JWT.decodeAndVerifyToken': answered(([token = null, key = null]) => decoded(String(token), key)),
} satisfies HostBuiltins;

export const tokensByDocument = {
  'JWT.createTokenUsingResource': answeredBy(([alg = null, claims = null], key) => created(withType(alg), claims, key)),
  'JWT.createTokenWithHeadersUsingResource': answeredBy(([headers = null, claims = null], key) =>
    created(headers as ObjectValue, claims, key),
  ),
  'JWT.decodeAndVerifyTokenUsingResource': answeredBy(([token = null], key) => decoded(String(token), key)),
} satisfies HostBuiltins;
