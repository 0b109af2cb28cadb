import { expect, test } from 'vitest';
import { real } from '../values/index.ts';
import { expectCases, testContext } from './testing/cases.ts';
import { firstIndex, lastIndex } from './text-search.ts';

const INDEX = { error: 'cascade.lang.index' };
const RANGE = { error: 'cascade.lang.range' };
const NULL = { error: 'cascade.lang.null' };
const TYPE = { error: 'cascade.procedure.parameter.type' };

expectCases('builtins.md 2', [
  ['concat', ['a', 'b', 1], 'ab1'],
  ['concat', ['a', null], 'anull'],
  ['concat', ['a'], 'a'],
  ['contains', ['abc', 'bc'], true],
  ['endsWith', ['abc', 'bc'], true],
  ['endsWith', ['abc', ''], true],
  ['startsWith', ['abc', 'b'], false],
  ['startsWith', [null, 'b'], NULL],
  ['startsWith', ['abc', null], NULL],
  ['startsWith', ['abc', 1], TYPE],
  ['startsWith', [12, '1'], TYPE],
  ['startsWith', ['abc'], { error: 'cascade.procedure.parameter.missing' }],
  ['startsWith', ['abc', 'a', 'b'], { error: 'cascade.procedure.argument.count' }],
  ['equals', ['a', 'A'], false],
  ['equals', ['a', null], false],
  ['equals', ['a', 'a'], true],
  ['equalsIgnoreCase', ['Ab', 'aB'], true],
  ['equalsIgnoreCase', ['Ab', null], false],
  ['equalsIgnoreCase', ['ẞ', 'ß'], true],
  ['equalsIgnoreCase', ['ς', 'Σ'], true],
  ['includes', ['abc', 'd'], false],
  ['indexOf', ['banana', 'an'], 1],
  ['indexOf', ['x', 'y'], -1],
  ['indexOf', ['x', ''], 0],
  ['lastIndexOf', ['banana', 'an'], 3],
  ['length', ['abc'], 3],
  ['length', [''], 0],
  ['length', ['😀'], 2],
  ['size', ['ab'], 2],
  ['isEmpty', [' '], false],
  ['isEmpty', [''], true],
  ['charAt', ['abc', 1], 'b'],
  ['charAt', ['abc', 3], INDEX],
  ['charAt', ['abc', -1], INDEX],
  ['repeat', ['ab', 2], 'abab'],
  ['repeat', ['ab', 0], ''],
  ['repeat', ['ab', -1], RANGE],
  ['repeat', ['ab', 100_000_000], { error: 'cascade.lang.string.size' }],
  ['slice', ['canal', -3, -1], 'na'],
  ['slice', ['canal', 4, 2], ''],
  ['slice', ['canal', 2], 'nal'],
  ['slice', ['canal', 2, null], 'nal'],
  ['slice', ['canal', -99, 99], 'canal'],
  ['substring', ['canal', 1, 3], 'an'],
  ['substring', ['canal', 3, 1], 'an'],
  ['substring', ['canal', -2, 2], 'ca'],
  ['substring', ['abc', 1, 99], 'bc'],
  ['substring', ['abc', real(1)], TYPE],
  ['substr', ['canal', 1, 2], 'an'],
  ['substr', ['canal', 2], 'nal'],
  ['substr', ['abc', 1, 5], INDEX],
  ['substr', ['abc', 3], ''],
  ['substr', ['abc', -1], INDEX],
  ['substr', ['abc', 1, -1], INDEX],
  ['toUpperCase', ['aB'], 'AB'],
  ['toLowerCase', ['aB'], 'ab'],
  ['trim', ['\ufeff\u00a0 a \t\n'], 'a'],
  ['trimLeft', [' a '], 'a '],
  ['trimRight', [' a '], ' a'],
  ['whitespaceTo', ['a b\tc', '_'], 'a_b_c'],
  ['whitespaceTo', ['a b', '$'], 'a$b'],
  ['whitespaceTo', ['a b', ''], RANGE],
  ['isAlpha', ['abC'], true],
  ['isAlpha', ['é'], false],
  ['isAlpha', [''], false],
  ['isAlphaNumeric', ['a1'], true],
  ['isAlphaNumeric', [''], false],
  ['isHexadecimal', ['0fG'], false],
  ['isHexadecimal', ['0fA'], true],
  ['isName', ['a-b$1'], true],
  ['isName', ['a b'], false],
  ['isName', [''], true],
  ['isNumeric', ['007'], true],
  ['isNumeric', ['-1'], false],
  ['isNumeric', ['1\n'], false],
  ['isReal', ['1.5'], true],
  ['isReal', ['12.'], true],
  ['isReal', ['.'], false],
  ['isReal', ['-1.5'], false],
  ['isReal', ['1e3'], false],
  ['isReal', ['1.2.3'], false],
  ['toString', [real(5)], '5.0'],
  ['toString', [12], '12'],
  ['toString', [null], 'null'],
]);

test('a long text is found where the engine finds it', () => {
  let state = 5;
  const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  const found = new Set<boolean>();
  for (let i = 0; i < 500; i++) {
    const unit = Array.from({ length: 1 + random(6) }, () => 'ab'[random(2)]).join('');
    const text = unit.repeat(60) + (random(2) === 0 ? 'b' : '') + unit.repeat(random(60));
    const from = random(40);
    const sought = random(4) === 0 ? `${unit.repeat(30)}c` : text.slice(from, from + 65 + random(60)) + (random(3) === 0 ? 'a' : '');
    const [first, last] = [text.indexOf(sought), text.lastIndexOf(sought)];
    expect([firstIndex(testContext(), text, sought), lastIndex(testContext(), text, sought)]).toEqual([first, last]);
    found.add(first >= 0 && first !== last);
  }
  expect(found.size).toBe(2);
});
