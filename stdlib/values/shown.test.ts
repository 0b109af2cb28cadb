import { expect, test } from 'vitest';
import { Binary } from './binary.ts';
import { parseDecimal } from './decimals.ts';
import { Currency, DateTime, Decimal, Real, type Value } from './kinds.ts';
import { encodeInner } from './inner-json.ts';
import { Pattern } from './pattern.ts';
import { Shared } from './shared.ts';
import { cutText } from './cut-text.ts';
import { shown, shownAll } from './shown.ts';

const nested = (levels: number): Value => (levels === 0 ? 'in' : [nested(levels - 1)]);
const levelsOf = (value: Value): number => (Array.isArray(value) ? 1 + levelsOf(value[0] as Value) : 0);
const innermost = (value: Value): Value => (Array.isArray(value) ? innermost(value[0] as Value) : value);

test('what is data, and no more than may be kept, is shown as it is', () => {
  const values = [
    null,
    true,
    5,
    2n ** 62n,
    'é',
    new Real(5),
    new DateTime(0),
    new Currency('EUR', new Decimal(1n, 0)),
    { a: [{ ['__proto__']: 1 }] },
  ];
  expect(shownAll(values)).toEqual(values);
});

test('what is no data is named by its type', () => {
  const values = [() => null, new Shared('Map', 1), new Shared('Lock', 2), new Pattern('a'), [new Shared('Value', 3)]];
  expect(shownAll(values)).toEqual(['Function', 'Map', 'Lock', 'RegExp', ['Value']]);
  expect(shownAll([new Binary(new Uint8Array([0, 255]))])).toEqual(['AP8=']);
});

test('a Decimal that the store has no number for is shown as its digits', () => {
  expect(shownAll([parseDecimal('9'.repeat(34)), parseDecimal('1'.repeat(35))])).toEqual([parseDecimal('9'.repeat(34)), '1'.repeat(35)]);
});

test('levels below the hundredth are cut, those of a cycle too', () => {
  expect([levelsOf(shown(nested(100))), innermost(shown(nested(100)))]).toEqual([100, 'in']);
  expect([levelsOf(shown(nested(101))), innermost(shown(nested(101)))]).toEqual([100, '…']);
  expect(levelsOf(shownAll([nested(3_000)]))).toBe(100);
  const cycle: Value[] = [];
  cycle.push(cycle, cycle);
  expect(encodeInner(shownAll([cycle])).length).toBeLessThan(1024 * 1024);
});

test('what is too large is cut where it is, and each of several has its share', () => {
  const [a, b, five] = shownAll(['a'.repeat(9_000_000), 'b'.repeat(9_000_000), 5]) as [string, string, number];
  expect([a.at(-1), b.at(-1), five]).toEqual(['…', '…', 5]);
  expect(Math.min(a.length, b.length)).toBeGreaterThan(300_000);
  expect(a.length + b.length).toBeLessThan(1024 * 1024);
  expect(shownAll(['c'.repeat(1_000_000), 5])).toEqual(['c'.repeat(1_000_000), 5]);
  expect((shown(Array.from({ length: 200_000 }, () => 1)) as Value[]).at(-1)).toBe('…');
  const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k${i}`, i]));
  expect(shown(wide)).toMatchObject({ k0: 0, '…': '…' });
  expect(shownAll(Array.from({ length: 1_000_000 }, () => 1)).at(-1)).toBe('…');
  expect((shown('😀'.repeat(1_000_000)) as string).isWellFormed()).toBe(true);
  expect((shown(`x${'😀'.repeat(1_000_000)}`) as string).isWellFormed()).toBe(true);
});

test('a text is cut between characters', () => {
  expect(['ab', 'abc', 'a😀', '😀😀', 'a😀b'].map((text) => cutText(text, 2))).toEqual(['ab', 'ab', 'a', '😀', 'a']);
  expect(cutText('a😀', 3)).toBe('a😀');
  expect(cutText('😀', 1)).toBe('');
});
