// Which updates the service may compute itself: those of a row that the program uses for nothing else.
import { expect, test } from 'vitest';
import { compile } from '../index.ts';
import type { BuiltinInfo } from '../types.ts';

const info = (name: string, effect: BuiltinInfo['effect'] = 'pure', params: string[] = []): [string, BuiltinInfo] => [
  name,
  { name, forms: 'FS', params: params.map((param) => ({ name: param })), effect },
];
const builtins = new Map([
  info('now'),
  info('random'),
  info('max', 'pure', ['a', 'b']),
  info('Math.max', 'pure', ['x', 'y']),
  info('Math.pow', 'pure', ['x', 'y']),
  info('log.info', 'pure', ['message']),
]);
const source = (body: string): string => {
  const result = compile(`RULE r WHEN INSERT OCCURS ON Hit AS h\n${body}`, { builtins });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.unit.module.source;
};
const isComputed = (body: string): boolean => {
  const text = source(body);
  expect(text.includes('forChange')).toBe(text.includes('computed:'));
  return text.includes('computed:');
};
const READ = 'SELECT ONE FROM Counter AS c WHERE key == h.key\n';
const update = (values: string): string => `UPDATE Counter(${values}) WHERE _id == c._id`;

test.each([
  ['one more', READ + update('n: c.n + 1')],
  ['operators', READ + update('n: -(c.n * 2 - c.m / 3) % 7, open: !c.open && c.n >= 1 || c.m != 0')],
  ['a choice between what cannot fail', READ + update('top: h.v > c.top ? h.v : c.top')],
  [
    'a value that does not depend on the row, whatever it is',
    READ + update('n: c.n + 1, at: now(), r: random(), m: max(h.v, 1), s: h.a.b.c'),
  ],
  ['a variable', `var by = h.by * 2\n${READ}${update('n: c.n + by * h.a.b')}`],
  ['SELECT as a value', `var c = SELECT EXACTLY ONE FROM Counter WHERE key == h.key\n${update('n: c.n + 1')}`],
  ['whether there is a row', `${READ}if (c == null) { INSERT Counter(key: h.key, n: 1) } else { ${update('n: c.n + 1')} }`],
  ['its id', `${READ}INSERT Log(of: c._id)\n${update('n: c.n + 1')}`],
  ['the larger of two', READ + update('top: Math.max(c.top, h.v)')],
  ['parts of properties', READ + update('n: c.stats.n + c.a.b.c, size: c.list.length + 1')],
  ['an Object or Array of such values', READ + update('stats: {n: c.stats.n + 1, last: {v: h.v, was: c.stats.last.v}}, two: [c.n, h.v]')],
  ['a condition with the variable', `SELECT ONE FROM Counter AS c WHERE c.key == h.key and c.n < 5\n${update('n: c.n + 1')}`],
])('computed: %s', (_what, body) => expect(isComputed(body)).toBe(true));

test.each([
  ['a property is used elsewhere', `${READ}INSERT Log(n: c.n)\n${update('n: c.n + 1')}`],
  ['a property decides', `${READ}if (c.n < 5) { ${update('n: c.n + 1')} }`],
  ['the row goes on', `${READ}var d = c\n${update('n: c.n + 1')}`],
  ['nothing of the row is in the values', READ + update('n: 1')],
  ['a call takes the property that may take long', READ + update('n: max(c.n, h.v)')],
  ['one of the service’s too', READ + update('n: Math.pow(c.n, h.v)')],
  ['arguments by name', READ + update('top: Math.max(x: c.top, y: h.v)')],
  ['a method', READ + update('n: c.text.trim()')],
  ['an element', READ + update('n: c.list[0]')],
  ['the whole row in an Object', READ + update('n: c.n + 1, was: {row: c}')],
  ['a branch may fail', READ + update('n: c.n > 0 ? h.a.b : c.n')],
  ['an operand may differ', READ + update('n: c.n + random()')],
  ['an operand may be no data', `var x = h.v\n${READ}${update('n: c.n > 0 ? x : c.n')}`],
  ['another type', `${READ}UPDATE Other(n: c.n + 1) WHERE _id == c._id`],
  ['another condition', `${READ}UPDATE Counter(n: c.n + 1) WHERE key == h.key`],
  ['two updates', `${READ}${update('n: c.n + 1')}\n${update('n: c.n + 1')}`],
  ['a loop', `${READ}for (i in [1, 2]) { ${update('n: c.n + 1')} }`],
  ['the version is named', READ + update('n: c.n + 1, ars_version: c.ars_version')],
  ['an error is handled', `${READ}${update('n: c.n + 1')} ON ERROR (e) { log.info("x") }`],
  ['an expression gives the values', `${READ}var v = {}\nUPDATE Counter(v) WHERE _id == c._id`],
  ['many rows', `SELECT FROM Counter AS c WHERE key == h.key { ${update('n: c.n + 1')} }`],
  ['parts of the row', `SELECT ONE n FROM Counter AS c WHERE key == h.key\n${update('n: c.n + 1')}`],
  ['the variable is assigned', `var c = SELECT ONE FROM Counter WHERE key == h.key\nc = {_id: "x", n: 1}\n${update('n: c.n + 1')}`],
  ['the variable is bound again', `${READ}for (c in [1]) { log.info("x") }\n${update('n: c.n + 1')}`],
  [
    'the condition uses the variable',
    `var c = SELECT ONE FROM Counter WHERE key == h.key\n${'SELECT ONE FROM Counter AS c WHERE key == c.key\n'}${update('n: c.n + 1')}`,
  ],
])('not computed: %s', (_what, body) => expect(isComputed(body)).toBe(false));

test('what depends on the row is data, with operands that the program gives', () => {
  const text = source(READ + update('n: c.n + h.by, at: now()')).replace(/\s+/g, ' ');
  expect(text).toContain(
    'set: [["n", { k: "binary", op: "+", a: { k: "path", root: "row", p: ["n"] }, b: { k: "path", root: "given", p: ["0"] } }]]',
  );
  expect(text).toContain('given: { "0": $given($get(v_h, "by", "h")) }');
});
