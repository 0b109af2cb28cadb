// Faults made by hand, one at a time put into the compiler and the operators: a suite of cases that does not notice one of them has a gap.
// Each is a text that stands once in its file, and what it is replaced by. `npm test` holds the list to the code; `npm run faults` runs it.

import type { Fault } from './seeding.ts';

export const FAULTS: readonly Fault[] = [
  // --- reading
  {
    what: 'the escape \\s in a String is a tab',
    file: 'compiler/1-parse/strings.ts',
    text: "  s: ' ',",
    replacement: "  s: '\\t',",
  },
  {
    what: '** binds to the left',
    file: 'compiler/1-parse/expressions.ts',
    text: "  const right = p.nested(() => unary(p));\n  return p.node<Omit<Binary, 'start' | 'end'>>(start, { type: 'Binary', operator: '**', operatorSpan, left, right });",
    replacement:
      "  const right = p.nested(() => postfix(p));\n  const first = p.node<Omit<Binary, 'start' | 'end'>>(start, { type: 'Binary', operator: '**', operatorSpan, left, right });\n  if (!p.at('**')) return first;\n  p.take();\n  return p.node<Omit<Binary, 'start' | 'end'>>(start, { type: 'Binary', operator: '**', operatorSpan, left: first, right: p.nested(() => postfix(p)) });",
  },
  {
    what: 'NOT binds as strongly as !',
    file: 'compiler/1-parse/expressions.ts',
    text: 'const operand = p.nested(() => binary(p, NOT));',
    replacement: 'const operand = p.nested(() => unary(p));',
  },
  {
    what: 'AND and OR have the same precedence',
    file: 'compiler/1-parse/expressions.ts',
    text: 'const AND = 2;',
    replacement: 'const AND = 1;',
  },
  {
    what: 'a day has 1,440 seconds',
    file: 'compiler/1-parse/keywords.ts',
    text: 'day: 86_400_000n',
    replacement: 'day: 1_440_000n',
  },
  {
    what: 'a reserved keyword may name a variable',
    file: 'compiler/1-parse/keywords.ts',
    text: "publish return rule ruleset select system timeout update upsert var when'",
    replacement: "publish return rule ruleset system timeout update upsert var when'",
  },
  // --- meaning
  {
    what: 'a variable of a block lives on after it',
    file: 'compiler/2-check/scope.ts',
    text: '    inside();\n    this.#blocks.pop();',
    replacement: '    inside();\n    for (const name of own) this.#declared.add(name);\n    this.#blocks.pop();',
  },
  {
    what: 'a parameter may be declared again',
    file: 'compiler/2-check/scope.ts',
    text: "if (this.#parameters.has(name.name)) this.#report(name, 'cascade.lang.variable.redeclared', `'${name.name}' is a parameter`);\n    if (this.isState",
    replacement: 'if (this.isState',
  },
  {
    what: 'typed and untyped parameters may be mixed',
    file: 'compiler/2-check/header.ts',
    text: 'if (untyped && typed > 0)',
    replacement: 'if (untyped && typed > 9)',
  },
  {
    what: 'REQUIRED goes with DEFAULT',
    file: 'compiler/2-check/header.ts',
    text: 'if (parameter.required && parameter.default)',
    replacement: 'if (parameter.required && parameter.default && parameter.array)',
  },
  {
    what: 'a pure expression that only calls a user procedure is not seen to wait',
    file: 'compiler/2-check/effects.ts',
    text: "if (!target || target.kind === 'user' || asksHost(target.info, node.arguments)) return true;",
    replacement:
      "if (target?.kind === 'builtin' && asksHost(target.info, node.arguments)) return true;\n    if (target?.kind !== 'builtin') return false;",
  },
  // --- emitting
  {
    what: 'user procedures behind && and || are skipped',
    file: 'compiler/3-emit/skipped.ts',
    text: "call?.kind === 'user') {",
    replacement: "call?.kind === undefined && node.type === 'Never') {",
  },
  {
    what: 'x++ has the value after the change',
    file: 'compiler/3-emit/expressions.ts',
    text: '(write) => b.sequence([write, before]),',
    replacement: '(write) => b.sequence([before, write]),',
  },
  {
    what: 'UNTIL is asked after the body',
    file: 'compiler/3-emit/loops.ts',
    text: '    turn.push(b.when(module.truth(until), b.block([close, b.leave])));\n  }\n  turn.push(...body());',
    replacement: '    turn.push(...body(), b.when(module.truth(until), b.block([close, b.leave])));\n  } else turn.push(...body());',
  },
  {
    what: 'FINALLY runs beyond a limit',
    file: 'compiler/3-emit/statements.ts',
    text: "b.when(module.helper('live', finalizer, b.id('$')), b.block(module.statements(finalizer.body, 'none')))",
    replacement: "b.block(module.statements(finalizer.body, 'none'))",
  },
  {
    what: 'a subscript of an ARRAY parameter may be beyond its end',
    file: 'compiler/3-emit/expressions.ts',
    text: "emitRead(node, node.index, inside ? 'atInside' : 'at', null, module)",
    replacement: "emitRead(node, node.index, inside ? 'at' : 'at', null, module)",
  },
  {
    what: 'the value of IF is lost',
    file: 'compiler/3-emit/statements.ts',
    text: 'const then = b.block(module.statements(node.then.body, tail));',
    replacement: "const then = b.block(module.statements(node.then.body, 'none'));",
  },
  // --- operators
  {
    what: 'a String on the right is put in front',
    file: 'stdlib/operators/arithmetic.ts',
    text: "if (typeof a === 'string' && typeof b === 'string') return checkedString(a + b);",
    replacement: "if (typeof a === 'string' && typeof b === 'string') return checkedString(b + a);",
  },
  {
    what: '7 / 2 is 3',
    file: 'stdlib/operators/arithmetic.ts',
    text: 'return a % b === 0 ? a / b + 0 : a / b;',
    replacement: 'return a % b === 0 ? a / b + 0 : Math.trunc(a / b);',
  },
  {
    what: 'big Integers overflow one too late',
    file: 'stdlib/values/numbers.ts',
    text: 'export const MAX_INTEGER = 2n ** 63n - 1n;',
    replacement: 'export const MAX_INTEGER = 2n ** 63n;',
  },
  {
    what: 'the product of two Decimals has the sum of their scales',
    file: 'stdlib/operators/numeric.ts',
    text: 'kept ?? left.scale * right.scale',
    replacement: 'kept ?? left.scale + right.scale',
  },
  {
    what: 'amounts of different currencies are added',
    file: 'stdlib/operators/numeric.ts',
    text: 'if (b instanceof Currency && b.code !== code)',
    replacement: "if (b instanceof Currency && b.code !== code && operator !== '+')",
  },
  {
    what: 'Strings are compared without their case',
    file: 'stdlib/operators/comparison.ts',
    text: "if (typeof a === 'string' && typeof b === 'string') return compareCodeUnits(a, b);",
    replacement: "if (typeof a === 'string' && typeof b === 'string') return compareCodeUnits(a.toLowerCase(), b.toLowerCase());",
  },
  {
    what: 'null is less than anything',
    file: 'stdlib/operators/comparison.ts',
    text: 'if (a === null || a === undefined || b === null || b === undefined) return Number.NaN;',
    replacement: 'if (a === null || a === undefined || b === null || b === undefined) return -1;',
  },
  {
    what: 'a Decimal may stand to the right of an Integer in a comparison',
    file: 'stdlib/operators/comparison.ts',
    text: 'if (!(b instanceof Decimal || b instanceof Currency)) return;',
    replacement: 'if (!(b instanceof Currency)) return;',
  },
  {
    what: 'the order of keys counts in equality',
    file: 'stdlib/operators/deep-equals.ts',
    text: 'return keys.every((key) => Object.hasOwn(b, key)',
    replacement: 'return keys.every((key, i) => Object.keys(b)[i] === key && Object.hasOwn(b, key)',
  },
  {
    what: 'an empty Object is true',
    file: 'stdlib/operators/truth.ts',
    text: 'return !isObject(v) || Object.keys(v).length > 0;',
    replacement: 'return true;',
  },
  {
    what: 'x in list compares the element with x',
    file: 'stdlib/operators/membership.ts',
    text: 'list.some((element) => eq(x, element))',
    replacement: 'list.some((element) => eq(element, x))',
  },
  // --- calls and conversions
  {
    what: 'a public procedure gets its arguments uncopied',
    file: 'stdlib/isolate/arguments.ts',
    text: 'const own = info.private ? value : copied(info, parameter, value);',
    replacement: 'const own = value;',
  },
  {
    what: 'a Real with a fraction becomes an Integer parameter',
    file: 'stdlib/convert/scalars.ts',
    text: "if (!Number.isInteger(number) && where !== 'return')",
    replacement: "if (!Number.isInteger(number) && where === 'property')",
  },
  {
    what: 'an argument null takes the default',
    file: 'stdlib/isolate/arguments.ts',
    text: '    return accepted(info, parameter, value);\n  });',
    replacement:
      '    return value === null && parameter.default !== undefined ? absent(info, parameter) : accepted(info, parameter, value);\n  });',
  },
  {
    what: 'FOR goes through what its body appends',
    file: 'stdlib/isolate/sequence.ts',
    text: 'this.#length = list.length;',
    replacement: 'this.#length = Array.isArray(list) ? list.length + 1 : 0;',
  },
];
