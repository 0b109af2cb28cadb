import { expect, test } from 'vitest';
import type { Value } from '../values/index.ts';
import { lookup } from './index.ts';
import { expectCases, outcome, testContext } from './testing/cases.ts';

const RANGE = { error: 'cascade.lang.range' };
const FORMAT = 'io.service.text.Template.format';

expectCases('builtins.md 11', [
  ['Utils.packageReference', ['documents/a.jpg'], { ars_packagedReference: '/documents/a.jpg', forceBase64: false }],
  ['Utils.packageReference', ['/documents/a/b.jpg', true], { ars_packagedReference: '/documents/a/b.jpg', forceBase64: true }],
  ['Utils.packageReference', [{ resource: 'documents', resourceId: 'a' }], { ars_packagedReference: '/documents/a', forceBase64: false }],
  ['Utils.packageReference', ['users/ann'], RANGE],
]);

expectCases('builtins.md 28.1', [
  [FORMAT, ['Hi ${who}, $who!', { who: 'Bo' }], 'Hi Bo, Bo!'],
  [FORMAT, ['${a.b} ${n}', { a: { b: 1 }, n: null }], '1 null'],
  [FORMAT, ['\\$a \\\\ \\n \\t $ $', {}], '$a \\ \n \t $ $'],
  [FORMAT, ['$who', {}], { error: 'cascade.template.variable' }],
  [FORMAT, ['$constructor', {}], { error: 'cascade.template.variable' }],
  [FORMAT, [{ q: ['$a'] }, { a: 1 }], { q: ['1'] }],
  [FORMAT, [{ $a: 5 }, { a: 1 }], { $a: 5 }],
  [FORMAT, ['@repeat(xs)[${value}]@endrepeat', { xs: [1, 2] }], '[1][2]'],
  [
    FORMAT,
    [
      '@repeat(xs)$n:@repeat(ys)$value@endrepeat;@endrepeat',
      {
        xs: [
          { n: 'a', ys: [1, 2] },
          { n: 'b', ys: [] },
        ],
      },
    ],
    'a:12;b:;',
  ],
  [FORMAT, ['@repeat(xs)x@endrepeat', { xs: 5 }], { error: 'cascade.procedure.parameter.type' }],
  [FORMAT, ['@repeat(xs)x', { xs: [] }], { error: 'cascade.builtin.pattern' }],
  [FORMAT, ['@endrepeat', {}], { error: 'cascade.builtin.pattern' }],
]);

const TOKEN = 'eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.D42inLtjVHGhh1BU-30HrZlpMLPolSYpbCLg8YmhU98';
const headers = { typ: 'JWT', alg: 'HS256' };

expectCases('builtins.md 18.1', [
  ['JWT.createToken', ['HS256', { sub: 'u1' }, 'k1'], TOKEN],
  ['JWT.createTokenWithHeaders', [headers, { sub: 'u1' }, 'k1'], TOKEN],
  ['JWT.createTokenWithHeaders', [{ typ: 'JWT' }, {}, 'k1'], RANGE],
  ['JWT.createToken', ['XX256', {}, 'k1'], RANGE],
  ['JWT.createToken', ['HS256', {}], { error: 'cascade.lang.null' }],
  ['JWT.decodeAndVerifyToken', [TOKEN], { headers, claims: { sub: 'u1' } }],
  ['JWT.decodeAndVerifyToken', [TOKEN, 'k1'], { headers, claims: { sub: 'u1' }, verified: true }],
  ['JWT.decodeAndVerifyToken', [TOKEN, 'k2'], { headers, claims: { sub: 'u1' }, verified: false }],
  ['JWT.decodeAndVerifyToken', ['abc'], { error: 'cascade.builtin.parse' }],
  ['JWT.decodeAndVerifyToken', ['a.b.c'], { error: 'cascade.builtin.parse' }],
]);

test.each(['HS384', 'HS512'])('a token by %s is verified by its key only', (algorithm) => {
  const call = (name: string, ...args: Value[]) => lookup(name)!.call(testContext(), args);
  const token = call('JWT.createToken', algorithm, { n: 1 }, 'key');
  expect([call('JWT.decodeAndVerifyToken', token, 'key'), call('JWT.decodeAndVerifyToken', token, 'other')]).toMatchObject([
    { verified: true },
    { verified: false },
  ]);
});

test('an unsigned token is never verified', () => {
  const token = outcome(() => lookup('JWT.createToken')!.call(testContext(), ['NONE', { admin: true }])) as string;
  expect(token.endsWith('.')).toBe(true);
  expect(lookup('JWT.decodeAndVerifyToken')!.call(testContext(), [token, 'k'])).toMatchObject({ verified: false });
});
