// GeoJSON and distances on the sphere (builtins.md 12).
import { toGeoJson, unconvertible } from '../convert/index.ts';
import { fail } from '../errors.ts';
import { numberOf, type ObjectValue, parseReal, real, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';

/** The radius of `$nearSphere`. */
const EARTH_METRES = 6_378_100;

/** `POINT(lon lat)` as GeoJSON; null for other text. */
function parsePoint(wkt: string): ObjectValue | null {
  const [, inside] = /^\s*POINT\s*\(([^()]*)\)\s*$/i.exec(wkt) ?? [];
  const numbers = inside?.trim().split(/\s+/).map(parseReal);
  if (!numbers || numbers.length < 2 || numbers.length > 3) return null;
  const coordinates: Value[] = [];
  for (const number of numbers) {
    if (number === null || !Number.isFinite(number)) return null;
    coordinates.push(real(number));
  }
  return { type: 'Point', coordinates };
}

/** Longitude and latitude in radians. */
function pointOf(value: ObjectValue | string, parameter: string): [longitude: number, latitude: number] {
  const source = typeof value === 'string' ? (parsePoint(value) ?? fail('cascade.builtin.parse', 'not a WKT point', 0)) : value;
  if (source.type !== 'Point')
    fail('cascade.procedure.parameter.type', 'geoDistance', parameter, 'Point', typeof source.type === 'string' ? source.type : 'Object');
  const [longitude = 0, latitude = 0] = (toGeoJson(source).coordinates as Value[]).map((n) => (numberOf(n) * Math.PI) / 180);
  return [longitude, latitude];
}

/** By haversine; altitudes do not count. */
function geoDistance(_: BuiltinContext, a: ObjectValue | string, b: ObjectValue | string): Value {
  const [longitudeA, latitudeA] = pointOf(a, 'pointA');
  const [longitudeB, latitudeB] = pointOf(b, 'pointB');
  const half = (angle: number): number => Math.sin(angle / 2) ** 2;
  const h = half(latitudeB - latitudeA) + Math.cos(latitudeA) * Math.cos(latitudeB) * half(longitudeB - longitudeA);
  return real(2 * EARTH_METRES * Math.asin(Math.min(1, Math.sqrt(h))));
}

export const geo: readonly Declaration[] = [
  {
    call: 'toGeoJSON(obj: Object|String) => Object',
    forms: 'FM',
    about: 'Checks a Point, LineString or Polygon, or reads `POINT(lon lat)`.',
    errors: ['cascade.lang.conversion'],
    run: (_, obj: ObjectValue | string) => toGeoJson(typeof obj === 'string' ? (parsePoint(obj) ?? unconvertible(obj, 'GeoJSON')) : obj),
  },
  {
    call: 'geoDistance(pointA: Object|String, pointB: Object|String) => Real',
    forms: 'FM',
    about: 'The metres between two points on the sphere.',
    errors: ['cascade.lang.conversion', 'cascade.builtin.parse'],
    run: geoDistance,
  },
];
