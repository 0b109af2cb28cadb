// What is surely wrong by the tables fails for every value in the running language, and what fails for every value is there, too.
import { expect, test } from 'vitest';
import { ConversionError, convert } from '../stdlib/convert/index.ts';
import { CascadeError } from '../stdlib/errors.ts';
import { add, div, eq, ge, gt, inArray, le, lt, mod, mul, ne, neg, pos, pow, sub } from '../stdlib/operators/index.ts';
import { Currency, DateTime, Decimal, Real, type Value } from '../stdlib/values/index.ts';
import {
  fitsSignature,
  isScalar,
  named,
  neverCompares,
  neverComputes,
  neverConverts,
  neverHolds,
  neverSigned,
  SCALARS,
  type Scalar,
} from './kinds.ts';

const VALUES: Readonly<Record<Scalar | 'List', readonly Value[]>> = {
  String: ['', 'a', '5', '-1.5', 'USD:5', 'true', '2024-01-01T00:00:00Z'],
  Integer: [0, 1, -3, 2n ** 62n],
  Real: [1.5, -0.25, new Real(1)],
  Decimal: [new Decimal(15n, 1), new Decimal(2n, 0)],
  Currency: [new Currency('USD', new Decimal(5n, 0)), new Currency('EUR', new Decimal(1n, 0))],
  Boolean: [true, false],
  DateTime: [new DateTime(0), new DateTime(5)],
  List: [[], [1]],
};
const KINDS = Object.keys(VALUES) as (keyof typeof VALUES)[];

/** Whether the operation fails for all values of the kinds. */
function alwaysFails(a: keyof typeof VALUES, b: keyof typeof VALUES, run: (x: Value, y: Value) => unknown): boolean {
  return VALUES[a].every((x) =>
    VALUES[b].every((y) => {
      try {
        run(x, y);
        return false;
      } catch (error) {
        if (error instanceof CascadeError || error instanceof ConversionError) return true;
        throw error;
      }
    }),
  );
}

test.each([
  ['+', add],
  ['-', sub],
  ['*', mul],
  ['/', div],
  ['%', mod],
  ['**', pow],
] as const)('4.6 arithmetic that fails for all values: %s', (operator, run) => {
  for (const a of SCALARS)
    for (const b of SCALARS)
      expect(neverComputes(operator, { name: a }, { name: b }), `${a} ${operator} ${b}`).toBe(alwaysFails(a, b, run));
  expect(neverComputes(operator, { name: 'List' }, { name: 'Integer' })).toBe(false);
  expect(neverComputes(operator, { name: 'Boolean' }, { name: 'Object' })).toBe(false);
});

test.each([
  ['==', eq],
  ['!=', ne],
  ['<', lt],
  ['<=', le],
  ['>', gt],
  ['>=', ge],
] as const)('4.7 what the table says of %s fails for all values', (operator, run) => {
  for (const a of KINDS)
    for (const b of KINDS) expect(neverCompares(operator, { name: a }, { name: b }), `${a} ${operator} ${b}`).toBe(alwaysFails(a, b, run));
});

test('4.6 what has no sign, 4.7 what in cannot look into', () => {
  for (const kind of KINDS) {
    for (const run of [neg, pos]) expect(neverSigned({ name: kind }), kind).toBe(alwaysFails(kind, kind, run));
    expect(neverHolds({ name: kind }), kind).toBe(alwaysFails('Integer', kind, (x, y) => inArray(x, y)));
  }
  expect([{ name: 'Object' }, { name: 'Null' }].map(neverSigned)).toEqual([false, false]);
  expect([{ name: 'Object', type: 'Pump' }].map(neverHolds)).toEqual([true]);
});

test('4.7 comparisons that the table refuses', () => {
  expect(neverCompares('<', { name: 'Object', type: 'Pump' }, { name: 'Integer' })).toBe(true);
  expect(neverCompares('==', { name: 'Object', type: 'Pump' }, { name: 'Integer' })).toBe(false);
  expect(neverCompares('<', { name: 'ResourceReference' }, { name: 'String' })).toBe(true);
  expect(neverCompares('<', { name: 'Object' }, { name: 'Integer' })).toBe(false);
});

test('4.3 conversions that fail for all values', () => {
  for (const a of SCALARS)
    for (const b of SCALARS) {
      const fails = alwaysFails(a, a, (x) => convert(x, { type: b, scale: 2 }, 'parameter'));
      expect(neverConverts({ name: a }, b, false), `${a} to ${b}`).toBe(fails);
    }
});

test('4.3 what is no scalar becomes no scalar, and one value no array', () => {
  const never = (from: Parameters<typeof neverConverts>[0], target: string, multi = false) => neverConverts(from, target, multi);
  const pump = { name: 'Object', type: 'Pump' };
  expect([never({ name: 'List' }, 'Integer'), never({ name: 'List' }, 'Pump')]).toEqual([true, false]);
  expect([never({ name: 'String' }, 'Object'), never({ name: 'String' }, 'GeoJSON'), never({ name: 'String' }, 'Pump')]).toEqual([
    true,
    true,
    false,
  ]);
  expect([never(pump, 'Integer'), never(pump, 'String'), never(pump, 'Site'), never({ name: 'Object' }, 'Integer')]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  for (const [from, is] of [
    [{ name: 'List' }, false],
    [{ name: 'Object' }, false],
    [{ name: 'Integer' }, true],
    [{ name: 'Event' }, true],
    [{ name: 'Sequence' }, true],
    [pump, true],
  ] as const)
    expect(never(from, 'Integer', true), JSON.stringify(from)).toBe(is);
});

test('a kind fits the types of signatures that it is widened to', () => {
  const fits = (kind: Parameters<typeof fitsSignature>[0]): string =>
    ['String', 'Integer', 'Real', 'Number', 'Decimal', 'Currency', 'Boolean', 'DateTime', 'List', 'Sequence', 'Object', 'Function']
      .filter((type) => fitsSignature(kind, [type]))
      .join();
  expect(
    ['String', 'Integer', 'Real', 'Decimal', 'Currency', 'Boolean', 'DateTime', 'List', 'Sequence', 'Function'].map((name) =>
      fits({ name }),
    ),
  ).toEqual([
    'String,DateTime',
    'Integer,Real,Number,Decimal,DateTime',
    'Real,Number,Decimal',
    'Number,Decimal',
    'Currency',
    'Boolean',
    'DateTime',
    'List',
    'Sequence',
    'Function',
  ]);
  for (const kind of [{ name: 'Object' }, { name: 'Object', type: 'Pump' }, { name: 'Event' }, { name: 'ResourceReference' }])
    expect(fits(kind), kind.name).toBe('Object');
  expect(fits({ name: 'Blob' }).split(',')).toHaveLength(12);
  expect(fitsSignature({ name: 'Boolean' }, ['String', 'any'])).toBe(true);
});

test('kinds are named with their article', () => {
  expect([{ name: 'Integer' }, { name: 'Real' }, { name: 'Object', type: 'Pump' }, { name: 'Object', type: 'Alarm' }].map(named)).toEqual([
    'an Integer',
    'a Real',
    'a Pump',
    'an Alarm',
  ]);
  expect(['Decimal', 'List'].map(isScalar)).toEqual([true, false]);
});
