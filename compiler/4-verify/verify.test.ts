// What the emitter writes passes; hand-made modules that try to reach more are refused, each for its own reason.
import { expect, test } from 'vitest';
import { Refused, verify } from './index.ts';

/** A module whose main has this body. */
const module = (
  body: string,
  { constants = 'const $add = $rt.add; const $op = $rt.op; const b_trim = $rt.builtin("trim");', star = '*' } = {},
): string => `(function ($rt) { "use strict"; ${constants} function${star} main($, v_x) { ${body} } return main; })`;

/** A fault of the verifier itself is no refusal. */
const isRefused = (text: string): boolean => {
  try {
    verify(text);
    return false;
  } catch (error) {
    if (error instanceof Refused || error instanceof SyntaxError) return true;
    throw error;
  }
};

test('the forms that the emitter writes pass', () => {
  const bodies = [
    'let v_a = null, v_b = 5; v_a = $add(v_a, 1); return v_a;',
    'if (--$.fuel < 0) yield* $op($, 1);',
    'while (!v_x) { break; }',
    'try { b_trim($, v_x); } catch ($e0) { let v_e = $add($e0, 1); } finally { }',
    'return $.k[12];',
    'if (v_x) { return; } else { }',
    'return { a: 1, "b c": -2, ["__proto__"]: 12n };',
    'return [v_x ? 1 : (v_x, "s"), v_x && true || undefined];',
    'return $op($, v_y => v_y, (v_z = null) => { return v_z; }, function* (v_w) { return yield* $op($, v_w); });',
  ];
  for (const body of bodies) expect(() => verify(module(body)), body).not.toThrow();
  expect(() => verify(module('', { constants: 'const $c0 = $rt.real(-5);', star: '' }))).not.toThrow();
});

/** Each must be refused inside `main`. */
const HOSTILE_BODIES = [
  'return this;',
  'return globalThis;',
  'return $cascade;',
  'return $rt;',
  'return $rt.op;',
  'return arguments;',
  'return eval("1");',
  'return Function("return this")();',
  'return new v_x();',
  'return new Function("1");',
  'return import("fs");',
  'return import.meta;',
  'return new.target;',
  'return v_x.constructor;',
  'return v_x["constructor"];',
  'return v_x?.constructor;',
  'return v_x[0];',
  'return "".constructor;',
  'return [].constructor;',
  'return (() => 1).constructor;',
  'return v_x();',
  'return v_x`a`;',
  'return (v_y => v_y)(1);',
  'return (function* () { yield* $op($, 1); })();',
  '$add.call($, 1);',
  '$op.constructor("return this")();',
  'return $op;',
  'v_x = $;',
  'return $;',
  'return [$];',
  'return { a: $ };',
  'return $add(1, $);',
  'return $.driver;',
  'return $.k;',
  'return $.k[v_x];',
  'return $.k["constructor"];',
  'return $.k[-1];',
  'return $["k"][0];',
  '$.fuel = 1e9;',
  '$.fuel++;',
  '--$.depth;',
  'return --$.fuel;',
  '$add = 1;',
  'b_trim = v_x;',
  'main = null;',
  'main($, 1);',
  'undefined = 1;',
  'v_undeclared = 1;',
  'return v_undeclared;',
  'const v_c = 1; v_c = 2;',
  'let { a } = v_x;',
  'let [v_a] = v_x;',
  'let v_a;',
  'var v_a = 1;',
  'let eval_ = 1;',
  'let $add = 1;',
  'let $rt = 1;',
  'let $ = 1;',
  'class v_A {}',
  'return class {};',
  'function v_f() {}',
  'return function () { return 1; };',
  'return function* v_g() {};',
  'return async () => 1;',
  'return { get a() { return 1; } };',
  'return { a() { return 1; } };',
  'return { __proto__: v_x };',
  'return { "__proto__": v_x };',
  'return { [v_x]: 1 };',
  'return { v_x };',
  'return { ...v_x };',
  'return [...v_x];',
  'return [, 1];',
  'return $add(...v_x);',
  'return $add?.(1);',
  'return /a+/;',
  'return `a${v_x}`;',
  'return typeof v_x;',
  'return void 0;',
  'return delete v_x.a;',
  'return -v_x;',
  'return ~1;',
  'return v_x + 1;',
  'return v_x == 1;',
  'return v_x in v_x;',
  'return v_x instanceof v_x;',
  'return v_x ?? 1;',
  'v_x += 1;',
  'v_x ||= 1;',
  'v_x++;',
  '[v_x] = [1];',
  '({ a: v_x } = v_x);',
  'yield 1;',
  'yield;',
  'yield* v_x;',
  'yield* [1];',
  'for (;;) {}',
  'for (const v_a of v_x) {}',
  'for (const v_a in v_x) {}',
  'do {} while (true);',
  'switch (v_x) {}',
  'throw v_x;',
  'debugger;',
  'a: while (true) { break a; }',
  'while (true) { continue; }',
  'try { } catch { }',
  'try { } catch ({ message }) { }',
  'try { } finally { }',
  ';',
  '"use strict".length;',
  'return ({ a: 1 }).a;',
  'return ((v_y = this) => v_y);',
  'return ((v_y = 1) => v_y);',
  'return (({ a }) => 1);',
  'return ((...v_r) => 1);',
  'return $c0;',
  'return #v in v_x;',
  'return \\u0067lobalThis;',
  'return v_x.\\u0063onstructor;',
  '$\\u{61}dd = 1;',
  'with (v_x) { $add(v_x, 1); }',
  'return arguments.callee;',
  'return { set a(v_y) { } };',
  'return { async a() { } };',
  'return { *a() { } };',
  'return class { v_a = this; };',
  'return class { static { $add(this, 1); } };',
  'return (async () => { await v_x; })();',
  'return $add(v_x, 1)?.constructor;',
  'return $add(v_x, 1)["constructor"];',
  'return $add(v_x, 1)(1);',
  'return v_x => arguments;',
  'return { a: v_x = $op };',
  'let v_a = $op;',
  'return v_x ? $op : 1;',
  'return $op($, $op);',
  'return super.a;',
  'for await (const v_a of v_x) {}',
  'for (let v_a = 0; v_a < 1; v_a) {}',
  'return 1 // comment',
  'return 1 /* comment */;',
  '//# sourceMappingURL=data:application/json;base64,e30=\nreturn 1;',
  '//# sourceURL=cascade:other\nreturn 1;',
  'return 1 <!-- comment',
  'let v_async = async v_y => v_y;',
  'return $.k[1n];',
  'return $.k[1.5];',
  'return `a`;',
  'import "fs";',
  'export default 1;',
  'return asked0($, 1);',
];

test.each(HOSTILE_BODIES)('refused in a function: %s', (body) => {
  expect(isRefused(module(body))).toBe(true);
});

/** Each holds an expression, or a statement with one. */
const PLACES = [
  'return HERE;',
  'HERE;',
  'let v_a = HERE;',
  'v_x = HERE;',
  '{ HERE; }',
  'if (HERE) {}',
  'if (v_x) HERE;',
  'if (v_x) {} else { HERE; }',
  'while (HERE) {}',
  'while (v_x) { HERE; }',
  'try { HERE; } catch ($e0) {}',
  'try {} catch ($e0) { HERE; }',
  'try {} catch ($e0) {} finally { HERE; }',
  'return !HERE;',
  'return HERE && 1;',
  'return 1 || HERE;',
  'return HERE ? 1 : 2;',
  'return v_x ? HERE : 1;',
  'return v_x ? 1 : HERE;',
  'return (HERE, 1);',
  'return (1, HERE);',
  'return [1, HERE];',
  'return { a: HERE };',
  'return $add(HERE);',
  'return $add(1, HERE);',
  'return yield* $op($, HERE);',
  'return $op($, v_y => HERE);',
  'return $op($, v_y => { HERE; });',
  'return $op($, function* (v_y) { HERE; });',
];

test.each(PLACES)('refused wherever it stands: %s', (place) => {
  expect(isRefused(module(place.replace('HERE', 'v_x')))).toBe(false);
  for (const hostile of ['this', 'v_x.constructor', 'v_undeclared', 'v_x()', '(v_z => $)'])
    expect(isRefused(module(place.replace('HERE', hostile))), hostile).toBe(true);
});

test('a variable is known in its block only', () => {
  for (const body of [
    '{ let v_a = 1; } return v_a;',
    'if (v_x) { let v_a = 1; } return v_a;',
    'try {} catch ($e0) {} return $e0;',
    'try {} catch ($e0) {} finally { $add($e0); }',
    '$op($, v_a => v_a); return v_a;',
    '$op($, function* (v_a) { return v_a; }); return v_a;',
    'try {} catch ($e0) { $e0 = 1; }',
  ])
    expect(isRefused(module(body)), body).toBe(true);
});

test('fuel is spent in one way, and constants are read in one', () => {
  for (const condition of ['--$.fuel < 0', '$.k[0]']) expect(isRefused(module(`if (${condition}) { return 1; }`)), condition).toBe(false);
  for (const condition of [
    '--$.fuel < 1',
    '--$.fuel < "0"',
    '--$.fuel <= 0',
    '0 < --$.fuel',
    '$.fuel-- < 0',
    '++$.fuel < 0',
    '-$.fuel < 0',
    '--$.k < 0',
    '--$["fuel"] < 0',
    '--$[fuel] < 0',
    '--v_x.fuel < 0',
    '--v_x < 0',
    '$.j[0]',
    '$["k"][0]',
    '$[k][0]',
    '$.k?.[0]',
    '$?.k[0]',
    '$.k.length',
    '$.k[0][1]',
    'v_x.k[0]',
  ])
    expect(isRefused(module(`if (${condition}) { return 1; }`)), condition).toBe(true);
});

test('a number of the module is neither called nor declared anew, and keys are plain', () => {
  const constants = 'const $c0 = $rt.real(5);';
  expect(isRefused(module('return $c0;', { constants }))).toBe(false);
  for (const body of ['return $c0(1);', 'yield* $c0($);', 'let $c0 = 1;', '$c0 = 1;', 'return $c1;', 'try {} catch ($c0) {}'])
    expect(isRefused(module(body, { constants })), body).toBe(true);
  for (const key of ['["a"]', '[`__proto__`]', '1', '["__proto__" + ""]'])
    expect(isRefused(module(`return { ${key}: 1 };`)), key).toBe(true);
});

const HOSTILE_MODULES = [
  '',
  '1',
  'function f() {}',
  'main; main',
  '(function () { "use strict"; function main($) {} return main; })',
  '(function ($rt, $x) { "use strict"; function main($) {} return main; })',
  '(function ({ op }) { "use strict"; function main($) {} return main; })',
  '(function ($rt) { function main($) {} return main; })',
  '(function* ($rt) { "use strict"; function main($) {} return main; })',
  '(async function ($rt) { "use strict"; function main($) {} return main; })',
  '($rt => { "use strict"; function main($) {} return main; })',
  '(function ($rt) { "use strict"; function main($) {} return main; })()',
  '(function ($rt) { "use strict"; function main($) {} return main; }), 1',
  '(function ($rt) { "use strict"; function main($) {} return $rt; })',
  '(function ($rt) { "use strict"; function main($) {} })',
  '(function ($rt) { "use strict"; function other($) {} return other; })',
  '(function ($rt) { "use strict"; function main(v_x) {} return main; })',
  '(function ($rt) { "use strict"; function main({ fuel }) {} return main; })',
  '(function ($rt) { "use strict"; function main() {} return main; })',
  '(function ($rt) { "use strict"; return []; })',
  '(function ($rt) { "use strict"; return; })',
  '(function ($rt) { })',
  '(function ($rt) { "use strict"; function main($) {} const $op = $rt.op; return main; })',
  '(function ($rt) { "use strict"; const $op = $rt.op; const $op = $rt.add; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $c0 = $rt.real("5"); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $c0 = $rt.real(+5); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $c0 = $rt.real(); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const b_x = $rt.builtin(5); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const b_x = $rt.builtin(); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const b_x = $rt?.builtin("trim"); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const b_x = $rt.builtin?.("trim"); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const b_x = rt.builtin("trim"); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $op = $rt.nothing; function main($) {} return main; })',
  '(function $rt($rt) { "use strict"; function main($) {} return main; })',
  '(function ($rt) { "use sloppy"; function main($) {} return main; })',
  '(function ($rt) { 5; function main($) {} return main; })',
  '(function ($rt) { "use strict"; function main($) {} function main($) {} return main; })',
  '(function ($rt) { "use strict"; function main($) {} function timeout($) {} return [timeout, main]; })',
  '(function ($rt) { "use strict"; async function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $op = $rt.constructor; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $op = $rt["op"]; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $op = $rt; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $op = $rt.op.constructor; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const { op } = $rt; function main($) {} return main; })',
  '(function ($rt) { "use strict"; let $op = $rt.op; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $op = $rt.op, $add = $rt.add; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $op = $rt.op; const $op2 = $op; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const b_x = $rt.builtin($rt.op); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const b_x = $rt.builtin("a", "b"); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const b_x = $rt.op("trim"); function main($) {} return main; })',
  '(function ($rt) { "use strict"; const b_x = $rt.builtin`trim`; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const $rt = 1; function main($) {} return main; })',
  '(function ($rt) { "use strict"; const v_x = $rt.op; function main($) {} return main; })',
  '(function ($rt) { "use strict"; globalThis.x = 1; function main($) {} return main; })',
  '(function ($rt) { "use strict"; if ($rt) {} function main($) {} return main; })',
  '(function ($rt) { "use strict"; function asked0($) {} function main($) {} return [asked0, main]; })',
  '(function ($rt) { "use strict"; function main($) {} function asked0($) {} return main; })',
  '(function ($rt) { "use strict"; function main($) {} function asked0($) {} function asked0($) {} return [main, asked0, asked0]; })',
  '(function ($rt) { "use strict"; function main($) {} function asked0x($) {} return [main, asked0x]; })',
  '(function ($rt) { "use strict"; function main($) {} async function asked0($) {} return [main, asked0]; })',
  '(function ($rt) { "use strict"; function main($) {} function asked0($) { return main; } return [main, asked0]; })',
  '(function ($rt) { "use strict"; /* a comment */ function main($) {} return main; })',
  '(function ($rt) { "use strict"; function main($) {} return main; }) //# sourceURL=cascade:other',
  '(function ($rt) { "use strict"; function main($) {} return main; })\n<!-- a comment',
];

test.each(HOSTILE_MODULES)('refused as a module: %s', (text) => {
  expect(isRefused(text)).toBe(true);
});

test('a refusal tells what it is about', () => {
  expect(() => verify(module('return v_x.constructor;'))).toThrow(Refused);
  expect(() => verify(module('return v_x.constructor;'))).toThrow(/^a member \(at \d+\)$/);
});
