// Shapes of a few degrees near the equator, whose distances and relations are known without the formulas; and the forms of operands.
import { expect, test } from 'vitest';
import { type ObjectValue, Real, type Value } from '../values/index.ts';
import { type Geometry, geoJsonOf, geometryOf, parseNearOperand, parseShapeOperand } from './index.ts';
import { arcsCross, arcsTouch } from './vector.ts';
import { edges } from './edges.ts';
import * as geo from './index.ts';

type Place = [longitude: number, latitude: number];
const shape = (type: string, coordinates: Value): Geometry => {
  const found = geometryOf({ type, coordinates });
  if (!found) throw new Error(`no ${type}`);
  return found;
};
const free = (): void => undefined;
const distance = (a: Geometry, b: Geometry): number => geo.distance(a, b, free);
const intersects = (a: Geometry, b: Geometry): boolean => geo.intersects(a, b, free);
const within = (a: Geometry, b: Geometry): boolean => geo.within(a, b, free);
const point = (...place: Place): Geometry => shape('Point', place);
const line = (...places: Place[]): Geometry => shape('LineString', places);
const box = (west: number, south: number, east: number, north: number): Place[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
];
const polygon = (...rings: Place[][]): Geometry => shape('Polygon', rings);
/** Of a great circle, in metres. */
const DEGREE = (6_378_100 * Math.PI) / 180;

const square = polygon(box(0, 0, 10, 10));
/** A hole with its corners in the middles of the square's edges. */
const corners: Place[] = [
  [5, 0],
  [10, 5],
  [5, 10],
  [0, 5],
  [5, 0],
]; // prettier-ignore
/** Places of a circle. */
const ring = (places: number, radius: number, west = 5, south = 5): Place[] =>
  Array.from({ length: places + 1 }, (_, i): Place => {
    const turn = ((i % places) / places) * 2 * Math.PI;
    return [west + radius * Math.cos(turn), south + radius * Math.sin(turn)];
  });
const bay = ring(40, 3).map(([x, y], i): Place => (i === 7 ? [x / 2 + 2.5, y / 2 + 2.5] : [x, y]));
const holed = polygon(box(0, 0, 10, 10), box(4, 4, 6, 6));

test.each<[string, Geometry, Geometry, number]>([
  ['two points', point(0, 0), point(0, 3), 3],
  ['points far from each other', point(0, 0), point(180, 0), 180],
  ['a line, beside it', point(5, 2), line([0, 0], [10, 0]), 2],
  ['a line, beside it to the south', point(5, -2), line([0, 0], [10, 0]), 2],
  ['a line, off the equator', point(7, 0), line([4, -5], [4, 5]), 3],
  ['a line, behind its end', point(13, 0), line([0, 0], [10, 0]), 3],
  ['a line, before its beginning', point(-3, 0), line([0, 0], [10, 0]), 3],
  ['an oblique line, from the south east', point(10, -4), line([0, 0], [10, 10]), 9.9256],
  ['an oblique line, from the north west', point(-4, 10), line([0, 0], [10, 10]), 9.8338],
  ['a line of two parts, nearer to the second', point(14, 8), line([0, 0], [10, 0], [10, 20]), 3.961],
  ['a polygon, inside', point(5, 5), square, 0],
  ['a polygon, outside', point(12, 0), square, 2],
  ['a polygon, in its hole', point(5, 5), holed, 0.996],
  ['a closed line, which has no inside', point(5, 1), line(...box(0, 0, 10, 10)), 1],
])('distance to %s', (_, from, to, degrees) => {
  expect(distance(from, to) / DEGREE).toBeCloseTo(degrees, 3);
});

test.each<[string, Geometry, Geometry, boolean]>([
  ['the same point', point(1, 2), point(1, 2), true],
  ['another point', point(1, 2), point(1, 2.001), false],
  ['a point inside', point(5, 5), square, true],
  ['a point on the border', point(0, 5), square, true],
  ['a point inside a ring given alone', point(5, 5), shape('Polygon', box(0, 0, 10, 10)), true],
  ['a point outside', point(11, 5), square, false],
  ['a point in the hole', point(5, 5), holed, false],
  ['the other side of the earth', point(-175, -5), square, false],
  ['a point on a line', point(5, 0), line([0, 0], [10, 0]), true],
  ['a point inside a closed line', point(5, 5), line(...box(0, 0, 10, 10)), false],
  ['lines that cross', line([-1, -1], [1, 1]), line([-1, 1], [1, -1]), true],
  ['lines that cross, the second turned round', line([-1, -1], [1, 1]), line([1, -1], [-1, 1]), true],
  ['lines that would cross farther on', line([-1, -1], [1, 1]), line([3, 5], [5, 3]), false],
  ['lines of which one ends on the other', line([5, 0], [5, 5]), line([0, 0], [10, 0]), true],
  ['lines of which one, turned round, ends on the other', line([5, 5], [5, 0]), line([0, 0], [10, 0]), true],
  ['lines that lie beside each other', line([0, 1], [10, 1]), line([0, 0], [10, 0]), false],
  ['a line across the border', line([5, 5], [15, 5]), square, true],
  ['a line through, with both ends outside', line([-5, 5], [15, 5]), square, true],
  ['a line inside', line([1, 1], [2, 2]), square, true],
  ['a line in the hole', line([4.5, 4.5], [5.5, 5.5]), holed, false],
  ['a polygon inside', polygon(box(1, 1, 2, 2)), square, true],
  ['a polygon around the hole', polygon(box(3, 3, 7, 7)), holed, true],
  ['a polygon in the hole', polygon(box(4.5, 4.5, 5.5, 5.5)), holed, false],
  ['a polygon outside', polygon(box(11, 11, 12, 12)), square, false],
])('intersection: %s', (_, a, b, expected) => {
  expect([intersects(a, b), intersects(b, a)]).toEqual([expected, expected]);
});

test.each<[string, Geometry, Geometry, boolean]>([
  ['a point inside', point(5, 5), square, true],
  ['a point on the border', point(10, 5), square, true],
  ['a point outside', point(5, 11), square, false],
  ['a line inside', line([1, 1], [9, 9]), square, true],
  ['a line along the border', line([0, 2], [0, 8]), square, true],
  ...(
    [
      [0, 5],
      [10, 5],
      [5, 0],
    ] as Place[]
  ).flatMap((end): [string, Geometry, Geometry, boolean][] => [
    [`a line that ends on the border at ${end}`, line([5, 5], end), square, true],
    [`a line that begins on the border at ${end}`, line(end, [5, 5]), square, true],
  ]),
  ['a line that leaves', line([5, 5], [15, 5]), square, false],
  ['a line that comes in', line([15, 5], [5, 5]), square, false],
  ['a line over the hole, with both ends inside', line([1, 5], [9, 5]), holed, false],
  ['a line past the hole', line([1, 1], [9, 1]), holed, true],
  ['a closed line around the hole', line(...box(3, 3, 7, 7)), holed, true],
  ['a polygon inside', polygon(box(1, 1, 3, 3)), holed, true],
  ['a polygon around the hole', polygon(box(3, 3, 7, 7)), holed, false],
  ['a polygon around all', polygon(box(-1, -1, 11, 11)), square, false],
  ['the polygon itself', square, square, true],
  ['a polygon through whose inside a hole goes from border to border', square, polygon(box(-5, -5, 15, 15), corners), false],
  ['a polygon of every other place of the border', polygon(ring(20, 3)), polygon(ring(40, 3)), true],
  ['a polygon of places of the border, of which it cuts off a bay', polygon(ring(20, 3)), polygon(bay), false],
])('within: %s', (_, inner, outer, expected) => {
  expect(within(inner, outer)).toBe(expected);
});

test.each<[string, Value, boolean]>([
  ['an altitude', { type: 'Point', coordinates: [1, 2, 300] }, true],
  ['Reals', { type: 'Point', coordinates: [new Real(1), 2.5] }, true],
  ['the ends of the world', { type: 'Point', coordinates: [-180, 90] }, true],
  ['a longitude too far', { type: 'Point', coordinates: [180.1, 0] }, false],
  ['a latitude too far', { type: 'Point', coordinates: [0, -90.1] }, false],
  ['one number', { type: 'Point', coordinates: [1] }, false],
  ['four numbers', { type: 'Point', coordinates: [1, 2, 3, 4] }, false],
  ['a text', { type: 'Point', coordinates: [1, '2'] }, false],
  ['a line of one place', { type: 'LineString', coordinates: [[1, 2]] }, false],
  ['a ring alone', { type: 'Polygon', coordinates: box(1, 1, 2, 2) }, true],
  ['rings', { type: 'Polygon', coordinates: [box(0, 0, 5, 5), box(1, 1, 2, 2)] }, true],
  ['no ring', { type: 'Polygon', coordinates: [] }, false],
  ['an open ring', { type: 'Polygon', coordinates: [box(1, 1, 2, 2).slice(0, 4)] }, false],
  ['a ring that ends one latitude off', { type: 'Polygon', coordinates: [[...box(1, 1, 2, 2).slice(0, 4), [1, 1.5]]] }, false],
  ['a ring of two places', { type: 'Polygon', coordinates: [box(1, 1, 2, 2).slice(3)] }, false],
  ['a second ring that is none', { type: 'Polygon', coordinates: [box(0, 0, 5, 5), []] }, false],
  ['another type', { type: 'MultiPoint', coordinates: [[1, 2]] }, false],
  ['no coordinates', { type: 'Point' }, false],
  ['no object', 'POINT(1 2)', false],
])('GeoJSON with %s', (_, value, isShape) => {
  expect(geometryOf(value) !== null).toBe(isShape);
});

test('operands have their members with or without $, each once', () => {
  const geometry = { type: 'Point', coordinates: [1, 2] };
  expect(parseNearOperand({ geometry })).toMatchObject({ minDistance: 0, maxDistance: Number.POSITIVE_INFINITY });
  expect(parseNearOperand({ $geometry: geometry, $minDistance: 0, maxDistance: 0 })).toMatchObject({ minDistance: 0, maxDistance: 0 });
  expect(parseNearOperand({ geometry, minDistance: 1.5, $maxDistance: new Real(7) })).toMatchObject({ minDistance: 1.5, maxDistance: 7 });
  const members: ObjectValue[] = [
    { maxDistance: -1 },
    { minDistance: '5' },
    { maxDistance: Number.NaN },
    { $maxDistance: null },
    { minDistance: null },
    { $geometry: geometry },
    { near: 1 },
  ];
  for (const wrong of members) expect(parseNearOperand({ geometry, ...wrong })).toBeNull();
  for (const wrong of [{}, geometry, 'here', { geometry: { type: 'LineString', coordinates: box(0, 0, 1, 1) } }, { geometry: 5 }])
    expect(parseNearOperand(wrong as Value)).toBeNull();
  expect(parseShapeOperand({ $geometry: { type: 'LineString', coordinates: box(0, 0, 1, 1) } })?.type).toBe('LineString');
  for (const wrong of [{}, { geometry: 5 }, { geometry, maxDistance: 5 }, null]) expect(parseShapeOperand(wrong as Value)).toBeNull();
});

test('data and shape are the same', () => {
  for (const one of [point(1.5, 2), line([0, 0], [10, 0]), holed]) expect(geometryOf(geoJsonOf(one))).toEqual(one);
});

/** What an operator tells of its work. */
function turns(operator: (a: Geometry, b: Geometry, spend: geo.Spend) => unknown, a: Geometry, b: Geometry): number {
  let sum = 0;
  operator(a, b, (more) => void (sum += more));
  return sum;
}

test.each<[string, Geometry, Geometry, boolean, boolean]>([
  ['far from each other', polygon(ring(2_000, 3, 30)), polygon(ring(2_000, 3)), false, false],
  ['one in the other', polygon(ring(2_000, 3)), polygon(ring(2_000, 4)), true, true],
  ['one close around the other', polygon(ring(2_000, 3)), polygon(ring(1_999, 3.000_1)), true, true],
  ['side by side', polygon(ring(2_000, 3)), polygon(ring(2_000, 3, 11.000_1)), false, false],
  ['the same', polygon(ring(2_000, 3)), polygon(ring(2_000, 3)), true, true],
])('two outlines of thousands of places cost what is near: %s', (_, a, b, meet, isWithin) => {
  expect([intersects(a, b), within(a, b)]).toEqual([meet, isWithin]);
  for (const work of [turns(geo.intersects, a, b), turns(geo.within, a, b)]) {
    expect(work).toBeGreaterThan(100);
    expect(work).toBeLessThan(500_000); // all with all: 64 million
  }
});

test('what is near is told of before it is compared', () => {
  const comb = (from: number): Geometry => line(...Array.from({ length: 2_000 }, (_, i): Place => [from + i / 1e4, (i % 2) * 10]));
  expect(turns(geo.intersects, comb(0), comb(0.000_05))).toBeGreaterThan(0);
  expect(turns(geo.within, comb(2), polygon(ring(40, 30)))).toBeLessThan(200_000);
  expect(turns(geo.distance, point(0, 0), polygon(ring(100_000, 3)))).toBeGreaterThan(200_000);
});

test('an index of edges finds what comparing all of them finds', () => {
  let state = 7;
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const found = { some: 0, none: 0 };
  for (let i = 0; i < 2_000; i++) {
    const size = random() < 0.3 ? 10 : random() < 0.5 ? 1 : 1e-6;
    const walk = (): Place[] => {
      const places: Place[] = [[size * random(), size * random()]];
      for (let k = 0; k < 5; k++) {
        const [x, y] = places[k] as Place;
        places.push([x + size * (random() - 0.5), y + size * (random() - 0.5)]);
      }
      return places;
    };
    const [a, b] = [line(...walk()), line(...walk())];
    const pairs = [...edges(a)].flatMap((one) => [...edges(b)].map((other) => [...one, ...other] as const));
    const expected = pairs.some((four) => arcsCross(...four) || arcsTouch(...four));
    expect(intersects(a, b)).toBe(expected);
    found[expected ? 'some' : 'none']++;
  }
  expect(Math.min(found.some, found.none)).toBeGreaterThan(300);
});
