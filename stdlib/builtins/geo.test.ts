import { expect, test } from 'vitest';
import { numberOf, real, type Value } from '../values/index.ts';
import { lookup } from './index.ts';
import { expectCases, testContext } from './testing/cases.ts';

const CONVERSION = { error: 'cascade.lang.conversion' };
const ring = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
];

expectCases('builtins.md 12', [
  ['toGeoJSON', [{ type: 'Point', coordinates: [1, 2] }], { type: 'Point', coordinates: [1, 2] }],
  ['toGeoJSON', [{ type: 'Polygon', coordinates: [ring] }], { type: 'Polygon', coordinates: [ring] }],
  ['toGeoJSON', [{ type: 'Polygon', coordinates: ring }], { type: 'Polygon', coordinates: [ring] }],
  ['toGeoJSON', ['POINT(1.5 2)'], { type: 'Point', coordinates: [1.5, real(2)] }],
  ['toGeoJSON', [{ type: 'point', coordinates: [1, 2] }], CONVERSION],
  ['toGeoJSON', [{ type: 'Point', coordinates: [1, 93] }], CONVERSION],
  ['toGeoJSON', [{ type: 'LineString', coordinates: [[1, 2]] }], CONVERSION],
  ['toGeoJSON', ['POINT(1)'], CONVERSION],
  ['geoDistance', ['POINT(3 4)', 'POINT(3 4)'], real(0)],
  ['geoDistance', ['POINT 3 4', 'POINT(3 4)'], { error: 'cascade.builtin.parse' }],
  ['geoDistance', [{ type: 'Polygon', coordinates: [ring] }, 'POINT(3 4)'], { error: 'cascade.procedure.parameter.type' }],
]);

test.each([
  ['POINT(0 0)', 'POINT(0 1)', 111_318.845],
  [{ type: 'Point', coordinates: [-122.4194, 37.7749] }, { type: 'Point', coordinates: [-118.2437, 34.0522] }, 559_743.675],
] as [Value, Value, number][])('builtins.md 12: the distance of %j and %j', (a, b, metres) => {
  const distance = numberOf(lookup('geoDistance')?.call(testContext(), [a, b]) ?? 0);
  expect(Math.abs(distance / metres - 1)).toBeLessThan(0.0001);
});
