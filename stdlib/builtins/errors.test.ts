// What built-ins raise beside what follows from their parameters is declared (builtins.md 0.2), and so on the reference page.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CascadeError } from '../errors.ts';
import { Binary, DateTime, parseCurrency, parseDecimal, Pattern, real, type Value } from '../values/index.ts';
import { allBuiltins, Matcher } from './index.ts';
import { isOfArguments } from './declaration.ts';
import { testContext } from './testing/cases.ts';

const cyclic: Value[] = [];
cyclic.push(cyclic);
const TEXTS = [
  ...['', 'a', ' ', 'a,b', '12', '-7', '1.5', '9'.repeat(30), '1e2000', '(', '$', '$9', '\\', '(a+)+(?=b)', `${'a'.repeat(40)}`, '\ud800'],
  ...[
    '{0',
    '{0,number}',
    '{0,date,yyyy}',
    '{0,choice,0#a}',
    '%zz',
    '<a/>',
    '<a',
    'USD:1',
    'POINT(1 2)',
    'POINT(',
    'P1D',
    '1 day',
    'UTC',
    '[1',
  ],
  ...['2026-03-07', 'yyyy', 'yyyy-MM-dd', 'ISO', 'date', 'epochDays', 'epochMicroseconds', 'HOURS', 'increasing', 'aGk=', '?a=%', 'a b'],
  ...['$name', '@repeat(xs)${value}@endrepeat', '@endrepeat', '/documents/a', '/users/a', 'n', 'code'],
];
const POOL: readonly Value[] = [
  ...TEXTS,
  ...[0, 1, -1, 2, 101, 1_000_000_000, 2 ** 53, 9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n],
  ...[0.5, Number.NaN, Infinity, -0, 1e300, -1.5].map(real),
  ...[true, false, null],
  ...['1.50', '-3', '9'.repeat(900)].map((digits) => parseDecimal(digits) as Value),
  ...['USD:1.5', 'EUR:-2'].map((text) => parseCurrency(text) as Value),
  ...[0, 1_772_895_845_067, -62_135_596_800_000, 253_402_300_799_999].map((ms) => new DateTime(ms)),
  ...[[], [1, 2], [1, 'a'], [null], [{ n: 1 }, { n: 2 }], [[1], 2], ['USD:1'], cyclic, [{ n: 1 }, { n: 'a' }]],
  ...[[parseCurrency('USD:1'), parseCurrency('EUR:1')] as Value, [9_223_372_036_854_775_807n, 1], [new DateTime(0), new DateTime(5)]],
  ...[
    {},
    { n: 1 },
    { code: 'a', message: 'b {0', params: [] },
    { value: 'x' },
    { resource: 'documents', resourceId: 'a' },
    { xs: 5 },
    { xs: [1] },
  ],
  ...[
    { type: 'Point', coordinates: [1, 2] },
    { type: 'Point', coordinates: [1, 200] },
    { type: 'Line' },
    { a: ((x: Value) => x) as Value },
  ],
  ...[(x: Value) => x, new Pattern('a'), new Binary(new Uint8Array([0, 255])), new Binary(new Uint8Array())],
  new Matcher(testContext(), new Pattern('a'), 'aba'),
];

const overloads = [...allBuiltins()].flatMap((builtin) =>
  builtin.host ? [] : builtin.overloads.filter(({ host }) => !host).map((overload) => ({ builtin, overload })),
);

test('no built-in raises a code that it does not declare', () => {
  const undeclared = new Set<string>();
  fc.assert(
    fc.property(
      fc.constantFrom(...overloads),
      fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
      fc.nat(9),
      ({ builtin, overload }, picks, wild) => {
        const args = overload.params.slice(0, picks.length).map(({ rest }, i) => {
          const accept = overload.accepts[i];
          const fit = wild === i || rest ? POOL : POOL.filter((value) => value !== null && accept?.(value) !== undefined);
          return fit.length === 0 ? null : (fit[(picks[i] as number) % fit.length] as Value);
        });
        try {
          builtin.call(testContext(), args);
        } catch (error) {
          if (!(error instanceof CascadeError)) throw error;
          const declared = builtin.overloads.flatMap(({ errors }) => errors);
          const ofProgram = overload.name === 'exception' || overload.name === 'rethrow'; // their first argument is the code
          if (!ofProgram && !isOfArguments(error.code) && !declared.some((code) => code === error.code))
            undeclared.add(`${overload.name} ${error.code}`);
        }
      },
    ),
    { numRuns: 20_000 },
  );
  expect([...undeclared].sort()).toEqual([]);
});
