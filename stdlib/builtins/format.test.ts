import { expect, test } from 'vitest';
import { MAX_INTEGER, parseCurrency, real, type Value } from '../values/index.ts';
import { formatMessage } from './format.ts';
import { lookup } from './index.ts';
import { date, decimal, expectCases, outcome, testContext } from './testing/cases.ts';

const PATTERN = { error: 'cascade.builtin.pattern' };
const FORMAT = { error: 'cascade.builtin.format' };
const d0 = date('2026-03-07T15:04:05.067Z');

expectCases('builtins.md 3.1', [
  ['format', ['{1}-{0}', 'a', 'b'], 'b-a'],
  ['format', ['{0} {1}', 'a'], 'a {1}'],
  ['format', ['{0,date,}|{0,date, }|{0,time,}|{1,number,}', date('1970-01-01'), 1.5], 'Jan 1, 1970|Jan 1, 1970|12:00:00 AM|1.5'],
  ['format', ['{0}', 1_234_567], '1,234,567'],
  ['format', ['{0}', 37.7749295], '37.775'],
  ['format', ['{0}', '37.7749295'], '37.7749295'],
  ['format', ["it's {0}", 'x'], 'its {0}'],
  ['format', ["it''s {0}", 'x'], "it's x"],
  ['format', ["'{0}' {0}", 'x'], '{0} x'],
  ['format', ["'{''}' {0}", 'x'], "{'} x"],
  ['format', ['{0}', null], 'null'],
  ['format', ['{0,number}', null], 'null'],
  ['format', ['a}b'], 'a}b'],
  ['format', ['{x}', 1], PATTERN],
  ['format', ['{0', 1], PATTERN],
  ['format', ['{ 0 }', 1], PATTERN],
  ['format', ['{-1}', 1], PATTERN],
  ['format', ['{0,bogus}', 1], PATTERN],
  ['format', ['{0, Number , Integer }', 1234.5], '1,234'],
  ['format', ['{0, number, 0.0}', 2], ' 2.0'],
  ['format', ['{0}', parseCurrency('EUR:3.5000')], 'EUR:3.5000'],
  ['format', ['{0}', d0], '2026-03-07T15:04:05.067Z'],
  ['format', ['{0} {1}', true, [1, null]], 'true [1,null]'],
  ['format', ['{15}', ...Array<Value>(16).fill(1)], { error: 'cascade.procedure.argument.count' }],
  ['format', ['{14}', ...Array<Value>(15).fill(1)], '1'],
  ['io.service.text.Strings.format', ['{15}', Array<Value>(16).fill(1)], '1'],
]);

expectCases('builtins.md 3.2', [
  ['format', ['{0,number}', 1234.56789], '1,234.568'],
  ['format', ['{0,number,integer}', 1234.5], '1,234'],
  ['format', ['{0,number,integer}', 1235.5], '1,236'],
  ['format', ['{0,number,integer}', 2.5], '2'],
  ['format', ['{0,number,integer}', -0.5], '-0'],
  ['format', ['{0,number,percent}', 0.256], '26%'],
  ['format', ['{0,number,currency}', 1234.5], '$1,234.50'],
  ['format', ['{0,number,currency}', -1234.5], '-$1,234.50'],
  ['format', ['{0,number,#.##}', 3.14159], '3.14'],
  ['format', ['{0,number}', 'x'], FORMAT],
  ['format', ['{0,number}', true], FORMAT],
  ['format', ['{0,number,0.00}', parseCurrency('EUR:3.505')], '3.50'],
  ['format', ['{0,number,0.00}', decimal('2.675')], '2.68'],
  ['format', ['{0,number,0.00}', decimal('2.665')], '2.66'],
  ['format', ['{0}', MAX_INTEGER], '9,223,372,036,854,775,807'],
  ['format', ['{0,number,toString}', 1], 'toString1'],
]);

test.each([
  ['0.00', 2.5, '2.50'],
  ['#,##0.00', 1_234_567.891, '1,234,567.89'],
  ['000', 7, '007'],
  ['#', 12_345.678, '12346'],
  ['#.#', 0.25, '0.2'],
  ['#.#', 0.35, '0.3'],
  ['0.###E0', 12_345, '1.234E4'],
  ['#%', 0.25, '25%'],
  ['0.0;(0.0)', -3.25, '(3.2)'],
  ["'#'#", 5, '#5'],
  ['$#,##0.00', 9.5, '$9.50'],
  ['#', 0, '0'],
  ['#.00', 0.5, '.50'],
  ['.###', 0.5, '.5'],
  ['0.0##', 0.1, '0.1'],
  ['00.00E00', 0.00123, '12.30E-04'],
  ['##0.##E0', 12_345, '12.345E3'],
  ['0E0', 0, '0E0'],
  ['0‰', 0.0125, '12‰'],
  ['#%', 0.005, '0%'],
  ['0.', 7, '7.'],
  ['', 1234.5, '1,234.5'],
  ["0 'o''clock'", 5, "5 o'clock"],
  ['#,####', 123_456_789, '1,2345,6789'],
] as [string, number, string][])('builtins.md 3.2: %s of %d is %s', (pattern, value, expected) => {
  expect(formatMessage(`{0,number,${pattern}}`, [value], testContext())).toBe(expected);
});

test.each(['0.0.0', '0#', '#.#0', '#,', '0E', '0 0', '#,##0E0', ';(0)', '.E0'])('builtins.md 3.2: %s is a pattern error', (pattern) => {
  expect(outcome(() => formatMessage(`{0,number,${pattern}}`, [1], testContext()))).toEqual(PATTERN);
});

test.each([
  ['date', 'Mar 7, 2026'],
  ['date,medium', 'Mar 7, 2026'],
  ['date,short', '3/7/26'],
  ['date,long', 'March 7, 2026'],
  ['date, FULL ', 'Saturday, March 7, 2026'],
  ['time', '3:04:05 PM'],
  ['time,short', '3:04 PM'],
  ['time,long', '3:04:05 PM UTC'],
  ['time,full', '3:04:05 PM Coordinated Universal Time'],
  ['date,yyyy-MM-dd', '2026-03-07'],
  ['date, yyyy-MMM-dd HH:mm z', ' 2026-Mar-07 15:04 UTC'],
  ["date,EEE d MMM yyyy 'at' h:mm a", 'Sat 7 Mar 2026 at 3:04 PM'],
  ["date,yyyy-MM-dd'T'HH:mm:ss.SSSX", '2026-03-07T15:04:05.067Z'],
  ['date,G y yy Y', 'AD 2026 26 2026'],
  ['date,M MM MMM MMMM LLLL', '3 03 Mar March March'],
  ['date,w W D d F', '10 1 66 7 1'],
  ['date,E EEE EEEE u', 'Sat Sat Saturday 6'],
  ['date,a H k K h', 'PM 15 15 3 3'],
  ['date,m s S SSS SSSS', '4 5 67 067 0067'],
  ['date,z zzzz Z X XX XXX', 'UTC Coordinated Universal Time +0000 Z Z Z'],
])('builtins.md 3.3: {0,%s} is %s', (place, expected) => {
  expect(formatMessage(`{0,${place}}`, [d0], testContext())).toBe(expected);
});

test.each([
  ['2025-12-28', '1 2026'],
  ['2025-12-27', '52 2025'],
  ['2026-01-01', '1 2026'],
  ['2023-12-30', '52 2023'],
  ['2023-12-31', '1 2024'],
])('builtins.md 3.3: weeks start on Sunday and week 1 holds January 1: %s is %s', (day, expected) => {
  expect(formatMessage('{0,date,w Y}', [date(day)], testContext())).toBe(expected);
});

expectCases('builtins.md 3.3', [
  ['format', ['{0,date,bbb}', d0], PATTERN],
  ['format', ['{0,date,XXXX}', d0], PATTERN],
  ['format', ['{0,date,yyyy}', 0], '1970'],
  ['format', ['{0,date,yyyy}', '2020-05-05T00:00:00Z'], '2020'],
  ['format', ['{0,date}', 'x'], FORMAT],
  ['format', ['{0,date}', true], FORMAT],
  ['format', ['{0,time,k:mm K}', '2020-05-05'], '24:00 0'],
]);

const FILES = '{0,choice,0#no files|1#one file|1<{0,number,integer} files}';
expectCases('builtins.md 3.4', [
  ['format', [FILES, 0], 'no files'],
  ['format', [FILES, 1], 'one file'],
  ['format', [FILES, 1273], '1,273 files'],
  ['format', [FILES, -5], 'no files'],
  ['format', ['{0,choice,0#a|1#b|2#c}', 1.5], 'b'],
  ['format', ['{0,choice,-∞<low|0≤high}', -7], 'low'],
  ['format', ["{0,choice,0#it''s|1#'a|b'}", 1], 'a|b'],
  ['format', ['{0,choice,1#a|0#b}', 1], PATTERN],
  ['format', ['{0,choice,x#a}', 1], PATTERN],
  ['format', ['{0,choice,0#a|∞#b}', real(Number.POSITIVE_INFINITY)], 'b'],
  ['format', ['{0,date} {0,time} {0,number}', null], 'null null null'],
  ['format', ['{0} {1}', -1234567, real(-0.5)], '-1,234,567 -0.5'],
  [
    'format',
    ['{0,number,#} {1,number,#} {2,number,(#)}', real(Number.NaN), real(Number.POSITIVE_INFINITY), real(Number.NEGATIVE_INFINITY)],
    'NaN ∞ -(∞)',
  ],
  ['format', ['{0,number,#;#}{1,number,#;(#)}', -5, -5], '-5(5)'],
  ['format', ['{0,number,#;#x;y}', -5], PATTERN],
  ['format', ['{0,number,#.00} {1,number,#}', decimal('-1.005'), -5n], '-1.00 -5'],
  ['format', ['{0,date,h a}{1,date,h a}', date('1970-01-01T03:00:00Z'), date('1970-01-01T15:00:00Z')], '3 AM3 PM'],
  ['format', ["{0,date,''yyyy'a''b'}", date('1970-01-01')], "'1970a'b"],
  ['format', ["{0,date,yyyy''''}", date('1970-01-01')], "1970''"],
  ['format', ['{0,choice}', 1], { ...PATTERN, params: ['', 0] }],
  ['format', ['a{0}b{1}{2}c', 1, 'x', null], 'a1bxnullc'],
  ['format', ['{0,number,0#}', 1], { ...PATTERN, params: ['0#', 1] }],
  ['format', ['{0,number,#0#0}', 1], { ...PATTERN, params: ['#0#0', 2] }],
  ['format', ['{0,choice,0#a}', 'x'], FORMAT],
]);

test('a message that grows without end is stopped', () => {
  const long = 'x'.repeat(1_000_000);
  expect(outcome(() => formatMessage('{0}'.repeat(20), [long], testContext()))).toEqual({ error: 'cascade.lang.string.size' });
});

test('the text of a format is charged to the run', () => {
  const context = testContext();
  lookup('format')?.call(context, ['{0}', real(5)]);
  expect(context.charged).toBe(2);
});

test.each([
  ['0,0', 7, '0,7'],
  [`${'0'.repeat(30)},000`, 7, `${'000,'.repeat(10)}007`],
  ['#,####', 123_456_789, '1,2345,6789'],
  ['#,000.0', 12, '012.0'],
  [',000.0', 1_234, '1,234.0'],
])('groups of digits: %s', (pattern, value, expected) => {
  expect(formatMessage(`{0,number,${pattern}}`, [value], testContext())).toBe(expected);
});
