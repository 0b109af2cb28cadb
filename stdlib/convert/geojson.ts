// GeoJSON of the three shapes that the service knows (resources-and-api.md 5.7).
import { isNumber, isObject, numberOf, type ObjectValue, type Value } from '../values/index.ts';
import { unconvertible } from './conversion-error.ts';

const TYPE = 'GeoJSON';

/** The object itself, or with the outer array of a flat Polygon added. Other members than `type` and `coordinates` are refused. */
export function toGeoJson(value: Value): ObjectValue {
  if (!isObject(value) || Object.keys(value).length !== 2 || !Object.hasOwn(value, 'type') || !Object.hasOwn(value, 'coordinates'))
    return unconvertible(value, TYPE);
  const { type, coordinates } = value;
  if (!Array.isArray(coordinates)) return unconvertible(value, TYPE);
  switch (type) {
    case 'Point':
      position(coordinates, value);
      return value;
    case 'LineString':
      if (coordinates.length < 2) unconvertible(value, TYPE);
      for (const each of coordinates) position(each, value);
      return value;
    case 'Polygon': {
      const flat = Array.isArray(coordinates[0]) && !Array.isArray(coordinates[0][0]);
      const rings = flat ? [coordinates] : coordinates;
      if (rings.length === 0) unconvertible(value, TYPE);
      for (const each of rings) ring(each, value);
      return flat ? { type, coordinates: rings } : value;
    }
    default:
      return unconvertible(value, TYPE);
  }
}

function position(at: Value, whole: Value): void {
  if (!Array.isArray(at) || at.length < 2 || at.length > 3 || !at.every(isNumber)) return unconvertible(whole, TYPE);
  const [longitude = Number.NaN, latitude = Number.NaN, altitude = 0] = at.map(numberOf);
  if (!(Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90 && Number.isFinite(altitude))) unconvertible(whole, TYPE, 'range');
}

function ring(positions: Value, whole: Value): void {
  if (!Array.isArray(positions) || positions.length < 4) return unconvertible(whole, TYPE);
  for (const each of positions) position(each, whole);
  const first = (positions[0] as Value[]).map(numberOf);
  const last = (positions.at(-1) as Value[]).map(numberOf);
  if (first.length !== last.length || first.some((n, i) => n !== last[i])) unconvertible(whole, TYPE, 'ring.open');
}
