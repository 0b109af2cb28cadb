// References, templates (builtins.md 11, 28.1).
import type { Value } from '../values/index.ts';
import { expectCases } from './testing/cases.ts';

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

const deep = (): Value => {
  let template: Value = '$a';
  for (let i = 0; i < 1500; i++) template = [template];
  return template;
};

expectCases('builtins.md 28.1, 18: refused', [
  [FORMAT, [deep(), { a: 1 }], RANGE],
  [FORMAT, [5, {}], { error: 'cascade.procedure.parameter.type' }],
  [FORMAT, [{ a: 5, b: null, c: [true] }, {}], { a: 5, b: null, c: [true] }],
  ['Hash.md5', [null, 'documents/a'], { error: 'cascade.procedure.argument.count' }],
  ['Hash.md5', [], { error: 'cascade.procedure.argument.count', params: ['Hash.md5', 0] }],
  ['Hash.md5', ['x', 'a'], { error: 'cascade.procedure.argument.count', params: ['Hash.md5', 2] }],
  ['Hash.md5', [null], { error: 'cascade.lang.null' }],
]);
