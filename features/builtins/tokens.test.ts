// JSON Web Tokens (builtins.md 18.1), checked against signatures by Node and by jose.
import { createHmac, generateKeyPairSync, verify } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { CascadeError } from '../../stdlib/errors.ts';
import { decodeInner, type Value } from '../../stdlib/values/index.ts';
import { tokens } from './tokens.ts';

type Row = Record<string, Value>;

/** The result, or the code and params of the error. */
function call(name: string, ...args: Value[]): Value {
  try {
    const answer = tokens[`JWT.${name}` as keyof typeof tokens](null, args) as { ok: string };
    return decodeInner(answer.ok);
  } catch (error) {
    if (error instanceof CascadeError) return `${error.code} ${JSON.stringify(error.params)}`;
    throw error;
  }
}
const verified = (token: Value, key: string): Value => (call('decodeAndVerifyToken', token, key) as Row)['verified'] ?? null;

const TOKEN = 'eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.D42inLtjVHGhh1BU-30HrZlpMLPolSYpbCLg8YmhU98';
const headers = { typ: 'JWT', alg: 'HS256' };

test('a token consists of header, claims and signature', () => {
  expect(call('createToken', 'HS256', { sub: 'u1' }, 'k1')).toBe(TOKEN);
  expect(call('createTokenWithHeaders', headers, { sub: 'u1' }, 'k1')).toBe(TOKEN);
  expect(call('decodeAndVerifyToken', TOKEN, null)).toEqual({ headers, claims: { sub: 'u1' } });
  expect(call('decodeAndVerifyToken', TOKEN, 'k1')).toEqual({ headers, claims: { sub: 'u1' }, verified: true });
  expect(verified(TOKEN, 'k2')).toBe(false);
  expect(verified(`${TOKEN}=`, 'k1')).toBe(false);
});

test.each(['abc', 'a.b.c', '..', `${TOKEN}.`])('%s is not a token', (token) => {
  expect(call('decodeAndVerifyToken', token, null)).toBe('cascade.builtin.parse ["not a token",0]');
});

test('missing and unknown parameters are refused', () => {
  expect(call('createToken', 'XX256', {}, 'k1')).toBe('cascade.lang.range ["signingAlgorithm","XX256"]');
  expect(call('createTokenWithHeaders', { typ: 'JWT' }, {}, 'k1')).toBe('cascade.lang.range ["headers","an Object without alg"]');
  expect(call('createToken', 'HS256', {}, null)).toBe('cascade.lang.null ["signingKey"]');
  expect(call('createToken', 'RS256', {}, 'k1')).toBe('cascade.lang.range ["signingKey","no key"]');
});

test('an unsigned token is never verified', () => {
  const token = call('createToken', 'NONE', { admin: true }, null) as string;
  expect(token.endsWith('.')).toBe(true);
  expect(verified(token, 'k')).toBe(false);
});

test.each(['HS384', 'HS512'])('a token signed by %s is verified only with its key', (algorithm) => {
  const token = call('createToken', algorithm, { n: 1 }, 'key');
  expect([verified(token, 'key'), verified(token, 'other')]).toEqual([true, false]);
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const pair = ({ privateKey, publicKey }: typeof rsa): [string, string] => [
  privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
];

test.each([
  ['RS256', rsa],
  ['RS384', rsa],
  ['RS512', rsa],
  ['ES256', curve('P-256')],
  ['ES384', curve('P-384')],
  ['ES512', curve('P-521')],
] as const)('%s: signed with the private key, verified by the public one, and by others too', (algorithm, keys) => {
  const [secret, open] = pair(keys);
  const token = call('createToken', algorithm, { n: 1 }, secret) as string;
  expect(verified(token, open)).toBe(true);
  const [head = '', body = '', signature = ''] = token.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  const key = { key: keys.publicKey, dsaEncoding: 'ieee-p1363' as const };
  expect(verify(`sha${algorithm.slice(2)}`, Buffer.from(`${head}.${body}`), key, bytes)).toBe(true);
  expect(verified(`${head}.${Buffer.from('{"n":2}').toString('base64url')}.${signature}`, open)).toBe(false);
});

test.each([
  ['HS256', null],
  ['HS512', null],
  ['RS256', rsa],
  ['ES256', curve('P-256')],
  ['ES512', curve('P-521')],
] as const)('%s: jose verifies what is signed here, and what it signs is verified here', async (algorithm, keys) => {
  const key = 'a-key-of-sixty-four-letters-and-more-so-that-no-hash-finds-it-too-short-to-use';
  const [secret, open] = keys ? pair(keys) : [key, key];
  const theirs = keys ? keys : { privateKey: Buffer.from(key), publicKey: Buffer.from(key) };
  const claims = { sub: 'ü1', n: 5, list: [1, { a: null }], exp: Math.floor(Date.now() / 1000) + 600 };
  const token = call('createToken', algorithm, claims, secret) as string;
  expect((await jwtVerify(token, theirs.publicKey, { algorithms: [algorithm] })).payload).toEqual(claims);
  const foreign = await new SignJWT(claims).setProtectedHeader({ alg: algorithm }).sign(theirs.privateKey);
  expect(call('decodeAndVerifyToken', foreign, open)).toMatchObject({ headers: { alg: algorithm }, claims, verified: true });
});

test('a key of another kind is refused, and a public key is not accepted as a secret', () => {
  const [secret, open] = pair(curve('P-384'));
  expect(call('createToken', 'ES256', {}, secret)).toBe('cascade.lang.range ["signingKey","a key of another kind"]');
  expect(call('createToken', 'RS256', {}, secret)).toBe('cascade.lang.range ["signingKey","a key of another kind"]');
  const signed = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${Buffer.from('{}').toString('base64url')}`;
  const forged = `${signed}.${createHmac('sha256', open).update(signed).digest('base64url')}`;
  expect(verified(forged, open)).toBe(false);
});

test('keys with numbers of implausible sizes are refused before they are used', () => {
  const forged = (bits: number, factorBits: number): string => {
    const odd = (length: number): Buffer => Buffer.alloc(length / 8, 0xff);
    const integer = (number: Buffer): Buffer => wrap(2, Buffer.concat([Buffer.from([0]), number]));
    const lengthOf = ({ length }: Buffer): number[] =>
      length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
    const wrap = (tag: number, body: Buffer): Buffer => Buffer.concat([Buffer.from([tag, ...lengthOf(body)]), body]);
    const [n, part] = [integer(odd(bits)), integer(odd(factorBits))];
    const rsa = wrap(0x30, Buffer.concat([Buffer.from([2, 1, 0]), n, Buffer.from([2, 3, 1, 0, 1]), n, part, part, part, part, part]));
    const algorithm = Buffer.from('300d06092a864886f70d0101010500', 'hex');
    return wrap(0x30, Buffer.concat([Buffer.from([2, 1, 0]), algorithm, wrap(4, rsa)])).toString('base64');
  };
  const unusual = 'cascade.lang.range ["signingKey","a key of an unusual size"]';
  expect(call('createToken', 'RS256', {}, forged(8192, 64))).toBe(unusual);
  expect(call('createToken', 'RS256', {}, forged(4096, 4096))).toBe(unusual);
  expect(call('createToken', 'RS256', {}, forged(16_384, 8192))).toBe('cascade.lang.range ["signingKey","no key"]');
});
