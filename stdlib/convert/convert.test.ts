import { expect, test } from 'vitest';
import { MAX_INTEGER, MIN_INTEGER, Real, real, text, type Value } from '../values/index.ts';
import { c, d, t } from '../values/testing/outcome.ts';
import { ConversionError, convert, type Destination } from './index.ts';

const DAY = t('2031-05-04T03:02:01Z');
type Row = [type: string, value: Value, expected: Value | { reason: string }, where?: Destination, scale?: number];
const no = (reason = 'format') => ({ reason });

const line = (...coordinates: Value[]): Value => ({ type: 'LineString', coordinates });
const polygon = (...coordinates: Value[]): Value => ({ type: 'Polygon', coordinates });
const RING: Value[] = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
  [0, 0],
];

const ROWS: Row[] = [
  // 5.1
  ['String', 'abc', 'abc'],
  ['String', '  x ', '  x '],
  ['String', 12, '12'],
  ['String', 1.5, '1.5'],
  ['String', true, 'true'],
  ['String', DAY, '2031-05-04T03:02:01.000Z'],
  ['String', d('1.50'), '1.50'],
  ['String', {}, no()],
  ['String', [], no()],
  ['String', '\ud800', no('surrogate')],
  ['String', '😀', '😀'],
  ['String', '\ud800', '\ud800', 'operand'],
  ['String', c('USD:1.50'), 'USD:1.50'],
  // 5.2
  ['Integer', 42, 42],
  ['Integer', 9_007_199_254_740_993n, 9_007_199_254_740_993n],
  ['Integer', '9007199254740993', 9_007_199_254_740_993n],
  ['Integer', '9223372036854775807', MAX_INTEGER],
  ['Integer', '9223372036854775808', no('range')],
  ['Integer', '-9223372036854775809', no('range')],
  ['Integer', '+9223372036854775808', no('range')],
  ['Integer', real(9.3e18), no('range')],
  ['Integer', real(2 ** 63), no('range')],
  ['Integer', real(-(2 ** 63)), MIN_INTEGER],
  ['Integer', real(-9.3e18), no('range')],
  ['Integer', real(Number.POSITIVE_INFINITY), no('range')],
  ['Integer', real(Number.POSITIVE_INFINITY), no('range'), 'return'],
  ['Integer', real(Number.NaN), no('range'), 'return'],
  ['Integer', real(3), 3],
  ['Integer', real(1e3), 1000],
  ['Integer', 3.5, no('fraction')],
  ['Integer', 3.5, 3, 'return'],
  ['Integer', -3.5, -3, 'return'],
  ['Integer', '3.0', no()],
  ['Integer', 'abc', no()],
  ['Integer', '', no()],
  ['Integer', ' 7 ', 7],
  ['Integer', true, no()],
  ['Integer', {}, no()],
  ['Integer', d('3'), no()],
  ['Integer', c('USD:3'), no()],
  ['Integer', t('1970-01-01T00:00:01.5Z'), 1500],
  // 5.3
  ['Real', 1.5, 1.5],
  ['Real', 3, real(3)],
  ['Real', real(Number.POSITIVE_INFINITY), no('range')],
  ['Real', real(Number.POSITIVE_INFINITY), real(Number.POSITIVE_INFINITY), 'operand'],
  ['Real', '1.5', 1.5],
  ['Real', ' 1.5 ', 1.5],
  ['Real', '1e3', real(1000)],
  ['Real', '1e400', no('range')],
  ['Real', 'abc', no()],
  ['Real', '', no()],
  ['Real', 'NaN', no()],
  ['Real', true, no()],
  ['Real', d('1.50'), 1.5],
  ['Real', c('USD:1.50'), 1.5],
  ['Real', DAY, no()],
  // 5.4
  ['DateTime', '2031-05-04T03:02:01Z', DAY],
  ['DateTime', '2031-05-04T03:02:01.123456789Z', t('2031-05-04T03:02:01.123Z')],
  ['DateTime', '2031-05-04T05:02:01+02:00', DAY],
  ['DateTime', '2031-05-04T05:02:01+0200', DAY],
  ['DateTime', '2031-05-04', t('2031-05-04T00:00:00Z')],
  ['DateTime', '2031-05-04T03:02', t('2031-05-04T03:02:00Z')],
  ['DateTime', ' 2031-05-04T03:02:01Z ', DAY],
  ['DateTime', real(Number.POSITIVE_INFINITY), no('range')],
  ['DateTime', 1_900_000_000_000, t('2030-03-17T17:46:40Z')],
  ['DateTime', '1900000000000', no()],
  ['DateTime', -1, t('1969-12-31T23:59:59.999Z')],
  ['DateTime', real(1.9e12), t('2030-03-17T17:46:40Z')],
  ['DateTime', 1.5, no('fraction')],
  ['DateTime', '2031-02-30T00:00:00Z', no()],
  ['DateTime', '04/05/2031', no()],
  ['DateTime', '', no()],
  ['DateTime', '2031-05-04T24:00', no()],
  ['DateTime', '2031-05-04T03:02:60Z', no()],
  ['DateTime', 253_402_300_800_000, no('range')],
  ['DateTime', true, no()],
  // 5.5
  ['Decimal', '12.5', d('12.50'), 'property', 2],
  ['Decimal', '12.345', d('12.35'), 'property', 2],
  ['Decimal', '-12.345', d('-12.35'), 'property', 2],
  ['Decimal', 12.5, d('12.50'), 'property', 2],
  ['Decimal', new Real(0.1, '0.1000000000000000055511151231257827'), d('0.1000000000000000055511151231257827'), 'property', 34],
  ['Decimal', 12, d('12.00'), 'property', 2],
  ['Decimal', '-0.001', d('0.00'), 'property', 2],
  ['Decimal', '1e3', d('1000.00'), 'property', 2],
  ['Decimal', ' 1 ', d('1.00'), 'property', 2],
  ['Decimal', '12,5', no(), 'property', 2],
  ['Decimal', '', no(), 'property', 2],
  ['Decimal', 'USD:1', no(), 'property', 2],
  ['Decimal', '1'.repeat(33), no('range'), 'property', 2],
  ['Decimal', '1'.repeat(32), d(`${'1'.repeat(32)}.00`), 'property', 2],
  ['Decimal', '1'.repeat(33), d(`${'1'.repeat(33)}.00`), 'parameter', 2],
  ['Decimal', true, no(), 'property', 2],
  ['Decimal', {}, no(), 'property', 2],
  ['Decimal', '2.5', d('3'), 'property', 0],
  ['Decimal', '2.5', d('3'), 'parameter'],
  ['Decimal', '2.505', d('2.505'), 'operand'],
  ['Decimal', c('USD:2.5'), d('2.50'), 'property', 2],
  ['Decimal', real(Number.NaN), no('range'), 'parameter'],
  // 5.6
  ['Currency', 'USD:100', c('USD:100.0000')],
  ['Currency', 'EUR:0.00005', c('EUR:0.0001')],
  ['Currency', 'JPY:-7.5', c('JPY:-7.5000')],
  ['Currency', 'XTS:1', c('XTS:1.0000')],
  ['Currency', 'usd:1', no()],
  ['Currency', 'US:1', no()],
  ['Currency', 'XQQ:1', no()],
  ['Currency', '100', no('currency.code')],
  ['Currency', 100, no('currency.code')],
  ['Currency', '100', d('100'), 'operand'],
  ['Currency', 9.5, d('9.5'), 'operand'],
  ['Currency', 'EUR:9.5', c('EUR:9.5'), 'operand'],
  ['Currency', 'usd:5', no(), 'operand'],
  ['Currency', 'USD:', no()],
  ['Currency', 'USD:abc', no()],
  ['Currency', 'USD 5', no()],
  ['Currency', { code: 'USD', value: '5' }, no()],
  ['Currency', 'USD: 5', no()],
  ['Currency', 'USD:2.5', c('USD:3'), 'property', 0],
  ['Currency', ' USD:2.5 ', c('USD:2.5000')],
  ['Currency', c('USD:2.5'), c('USD:2.5000')],
  ['Currency', 'USD:2.505', c('USD:2.51'), 'operand', 2],
  ['Currency', 2.505, d('2.51'), 'operand', 2],
  ['Currency', `USD:${'1'.repeat(31)}`, no('range')],
  // 5.7
  ['GeoJSON', { type: 'Point', coordinates: [13.4, 52.5] }, { type: 'Point', coordinates: [13.4, 52.5] }],
  ['GeoJSON', { type: 'Point', coordinates: [13.4, 52.5, 34] }, { type: 'Point', coordinates: [13.4, 52.5, 34] }],
  ['GeoJSON', { type: 'point', coordinates: [1, 2] }, no()],
  ['GeoJSON', { type: 'Point', coordinates: [13.4] }, no()],
  ['GeoJSON', { type: 'Point', coordinates: [1, 2, 3, 4] }, no()],
  ['GeoJSON', { type: 'Point', coordinates: ['13', 52] }, no()],
  ['GeoJSON', { type: 'Point', coordinates: [52.5, 193.4] }, no('range')],
  ['GeoJSON', { type: 'Point', coordinates: [1, 2], crs: 1 }, no()],
  ['GeoJSON', { type: 'MultiPoint', coordinates: [[1, 2]] }, no()],
  [
    'GeoJSON',
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 1],
        ],
      ],
    },
    no('ring.open'),
  ],
  ['GeoJSON', 'POINT(1 2)', no()],
  ['GeoJSON', { type: 'Point', coordinates: [180, -90] }, { type: 'Point', coordinates: [180, -90] }],
  ['GeoJSON', { type: 'Point', coordinates: [-180.5, 0] }, no('range')],
  ['GeoJSON', { type: 'Point', coordinates: [0, 90.5] }, no('range')],
  ['GeoJSON', { type: 'Point', coordinates: [0, 0, real(Number.POSITIVE_INFINITY)] }, no('range')],
  ['GeoJSON', { type: 'Point', coordinates: { 0: 1, 1: 2 } }, no()],
  ['GeoJSON', { type: 'Point', place: [1, 2] }, no()],
  ['GeoJSON', line([0, 0], [1, 1]), line([0, 0], [1, 1])],
  ['GeoJSON', line([0, 0]), no()],
  ['GeoJSON', line([0, 0], [1, 91]), no('range')],
  ['GeoJSON', line([0, 0], 'here'), no()],
  ['GeoJSON', polygon(RING), polygon(RING)],
  ['GeoJSON', polygon(RING, RING), polygon(RING, RING)],
  ['GeoJSON', { type: 'Polygon', coordinates: RING }, polygon(RING)],
  ['GeoJSON', polygon(), no()],
  ['GeoJSON', polygon(RING, 'hole'), no()],
  ['GeoJSON', polygon(RING.slice(1)), no('ring.open')],
  ['GeoJSON', polygon([RING[0]!, RING[1]!, RING[0]!]), no()],
  ['GeoJSON', polygon([...RING.slice(0, -1), [0, 0, 5]]), no('ring.open')],
  ['GeoJSON', polygon([...RING.slice(0, -1), [0, 0.5]]), no('ring.open')],
  ['GeoJSON', polygon([...RING.slice(0, 2), [0, 91], RING[0]!]), no('range')],
  // 5.8
  ['ResourceReference', '/types/Silo', { resource: 'types', resourceId: 'Silo' }],
  ['ResourceReference', '/topics//plant/7', { resource: 'topics', resourceId: '/plant/7' }],
  ['ResourceReference', '/documents/a/b.txt', { resource: 'documents', resourceId: 'a/b.txt' }],
  ['ResourceReference', '/system.sources/gate', { resource: 'system.sources', resourceId: 'gate' }],
  ['ResourceReference', '/custom/Silo/66b0', { resource: 'Silo', resourceId: '66b0' }],
  ['ResourceReference', { resource: 'users', resourceId: 'ann' }, { resource: 'users', resourceId: 'ann' }],
  ['ResourceReference', ' /types/Silo ', { resource: 'types', resourceId: 'Silo' }],
  ['ResourceReference', 'see /types/Silo', no()],
  ['ResourceReference', { resource: '', resourceId: 'ann' }, no()],
  ['ResourceReference', { resource: 'users', resourceId: '' }, no()],
  ['ResourceReference', { resource: 'custom/Silo', resourceId: '66b0' }, { resource: 'Silo', resourceId: '66b0' }],
  ['ResourceReference', { resource: 'custom', resourceId: 'Silo/66b0' }, { resource: 'Silo', resourceId: '66b0' }],
  ['ResourceReference', { resource: '/types', resourceId: 'x' }, no()],
  ['ResourceReference', { resource: 'us/ers', resourceId: 'x' }, no()],
  ['ResourceReference', { resource: 'custom/', resourceId: 'x' }, no()],
  ['ResourceReference', { resource: 'custom', resourceId: 'x' }, { resource: 'custom', resourceId: 'x' }],
  ['ResourceReference', 'types/Silo', no()],
  ['ResourceReference', '/types', no()],
  ['ResourceReference', '/types/', no()],
  ['ResourceReference', { resource: 'users' }, no()],
  ['ResourceReference', { resource: 'users', resourceId: 'ann', more: 1 }, no()],
  ['ResourceReference', 12, no()],
  ['ResourceReference', '', no()],
  // 5.9, 5.10
  ['Object', { a: { b: [1] } }, { a: { b: [1] } }],
  ['Object', [1], no()],
  ['Object', 'text', no()],
  ['Boolean', true, true],
  ['Boolean', 'TRUE', true],
  ['Boolean', ' true ', false],
  ['Boolean', 'yes', false],
  ['Boolean', 1, true],
  ['Boolean', 0, false],
  ['Boolean', real(1), true],
  ['Boolean', 2, no('range')],
  ['Boolean', 0.5, no('range')],
  ['Boolean', {}, no()],
  ['Boolean', d('1'), no()],
  ['Boolean', DAY, no()],
  ['String', null, null],
  ['Boolean', null, null],
];

test.each(ROWS.map((row) => [row[0], text(row[1]), row] as const))(
  'language.md 4.3, resources-and-api.md 5: %s of %s (%#)',
  (_, __, row) => {
    const [type, value, expected, where = 'property', scale] = row;
    let actual: unknown;
    try {
      actual = convert(value, { type, scale }, where);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      expect(error.code).toBe('cascade.lang.conversion');
      actual = { reason: error.reason };
    }
    expect(actual).toStrictEqual(expected);
  },
);

test('too many digits are an overflow, also on the way', () => {
  expect(() => convert('1e2000', { type: 'Decimal' }, 'parameter')).toThrow(
    expect.objectContaining({ code: 'cascade.lang.arithmetic.overflow' }),
  );
});

test.each<[Value, string]>([
  [[1], 'List'],
  [{ a: 1 }, 'Object'],
  ['x'.repeat(100), 'x'.repeat(100)],
  ['x'.repeat(101), `${'x'.repeat(100)}…`],
  [true, 'true'],
])('what does not convert is told short (%#)', (value, shown) => {
  expect(() => convert(value, { type: 'Integer' }, 'parameter')).toThrow(expect.objectContaining({ params: [shown, 'Integer'] }));
});
