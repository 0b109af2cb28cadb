import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Binary, decodeUtf8, encodeUtf8, fromBase64, toBase64 } from '../values/index.ts';
import { DIGESTS, type DigestName, hmac } from './digests.ts';
import { lookup } from './index.ts';
import { expectCases, testContext } from './testing/cases.ts';

const bytes = (...all: number[]) => new Binary(Uint8Array.from(all));

expectCases('builtins.md 18', [
  ['Encode.base64', ['hello'], 'aGVsbG8='],
  ['Encode.base64', ['é'], 'w6k='],
  ['Encode.base64', [''], ''],
  ['Encode.base64', ['a?>~'], 'YT8+fg=='],
  ['Encode.base64', [null], { error: 'cascade.lang.null' }],
  ['Encode.base64', [5], { error: 'cascade.procedure.parameter.type' }],
  ['Encode.formUrl', [{ a: 'x y', b: '1&2' }], 'a=x+y&b=1%262'],
  ['Encode.formUrl', [{ q: 'é~' }], 'q=%C3%A9%7E'],
  ['Encode.formUrl', [{ a: null, b: [1, 2] }], 'a=&b=1&b=2'],
  ['Decode.base64', ['aGVsbG8='], 'hello'],
  ['Decode.base64', ['aGVs\nbG8'], 'hello'],
  ['Decode.base64', ['_-8='], '\ufffd\ufffd'],
  ['Encode.formUrl', [{ 'a b': '\u0001é*-._~' }], 'a+b=%01%C3%A9*-._%7E'],
  ['Decode.formUrl', ['?a=%61%zz&a=1'], { error: 'cascade.builtin.parse', params: ['bad escape', 3] }],
  ['Decode.formUrl', ['a%7=1&%7=2'], { error: 'cascade.builtin.parse', params: ['bad escape', 0] }],
  ['Decode.formUrl', ['a=1&&a=2&a=3&=x'], { a: ['1', '2', '3'], '': 'x' }],
  ['Decode.base64', [bytes(...encodeUtf8('aGk='))], 'hi'],
  ['encodeUriComponent', ['\ud800'], { error: 'cascade.builtin.parse', params: ['bad URI escape', 0] }],
  ['decodeUri', ['ab%'], { error: 'cascade.builtin.parse', params: ['bad URI escape', 2] }],
  ['Decode.base64', ['%%'], { error: 'cascade.builtin.parse' }],
  ['Decode.base64', ['a'], { error: 'cascade.builtin.parse' }],
  ['Decode.base64Raw', ['AP8='], bytes(0, 255)],
  ['Decode.formUrl', ['a=x+y&b=1%262'], { a: 'x y', b: '1&2' }],
  ['Decode.formUrl', ['?a=1&a=2&c'], { a: ['1', '2'], c: '' }],
  ['Decode.formUrl', ['a=%zz'], { error: 'cascade.builtin.parse' }],
  ['Hash.hmacSha1', ['', 'abc'], { error: 'cascade.lang.range' }],
  ['size', [bytes(1, 2)], 2],
  ['toString', [bytes(0, 255)], '00ff'],
]);

test.each([
  ['Hash.md5', ['abc'], '900150983cd24fb0d6963f7d28e17f72'],
  ['Hash.sha1', ['abc'], 'a9993e364706816aba3e25717850c26c9cd0d89d'],
  ['Hash.sha256', ['abc'], 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ['Hash.hmacSha1', ['key', 'abc'], '4fd0b215276ef12f2b3e4c8ecac2811498b656fc'],
  ['Hash.hmacSha256', ['key', 'abc'], '9c196e32dc0175f86f4b1cb89289d6619de6bee699e4c378e68309ed97a1a6ab'],
])('builtins.md 18: %s of %j', (name, args, expected) => {
  expect((lookup(name)?.call(testContext(), args) as Binary).text()).toBe(expected);
});

test.each(Object.keys(DIGESTS) as DigestName[])('%s and its HMAC are those of the platform', (name) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ minLength: 1, maxLength: 200 }), (message, key) => {
      expect(DIGESTS[name](message)).toEqual(new Uint8Array(createHash(name).update(message).digest()));
      expect(hmac(name, key, message)).toEqual(new Uint8Array(createHmac(name, key).update(message).digest()));
    }),
    { numRuns: 60 },
  );
});

test('UTF-8 and base64 are those of the platform, both ways', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.uint8Array(), (text, random) => {
      expect(encodeUtf8(text)).toEqual(new TextEncoder().encode(text));
      expect(decodeUtf8(random)).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(random));
      expect(toBase64(random)).toBe(Buffer.from(random).toString('base64'));
      expect(fromBase64(toBase64(random))).toEqual(random);
    }),
  );
});
