// GeoJSON as geometry on the sphere: Point, LineString and Polygon, the shapes that may be stored (resources-and-api.md 5.7).
import { isNumber, isObject, numberOf, real, type Value } from '../values/index.ts';
import { type Vector, vectorOf } from './vector.ts';

export type Position = readonly [longitude: number, latitude: number];

export interface Geometry {
  readonly type: 'Point' | 'LineString' | 'Polygon';
  /** The rings of a Polygon; the one line of a LineString; the one position of a Point. */
  readonly lines: readonly (readonly Position[])[];
  /** The same as unit vectors. */
  readonly vectors: readonly (readonly Vector[])[];
}

/** Null for what is no GeoJSON of ours. Altitudes are left out: they play no part in queries. */
export function geometryOf(value: Value): Geometry | null {
  if (!isObject(value) || !Object.hasOwn(value, 'type') || !Object.hasOwn(value, 'coordinates')) return null;
  const type = value.type;
  const coordinates = value.coordinates as Value;
  const lines =
    type === 'Point'
      ? pointLines(coordinates)
      : type === 'LineString'
        ? lineLines(coordinates)
        : type === 'Polygon'
          ? rings(coordinates)
          : null;
  if (lines === null) return null;
  return {
    type: type as Geometry['type'],
    lines,
    vectors: lines.map((line) => line.map(([longitude, latitude]) => vectorOf(longitude, latitude))),
  };
}

/** The shape as data again, without altitudes. */
export function geoJsonOf({ type, lines }: Geometry): Value {
  const rings = lines.map((line) => line.map((position) => position.map(real)));
  return { type, coordinates: type === 'Polygon' ? rings : type === 'LineString' ? (rings[0] as Value) : (rings[0]?.[0] as Value) };
}

function pointLines(coordinates: Value): Position[][] | null {
  const position = positionOf(coordinates);
  return position && [[position]];
}

function lineLines(coordinates: Value): Position[][] | null {
  const line = positionsOf(coordinates);
  return line && line.length >= 2 ? [line] : null;
}

/** Also a single ring without the array around it. */
function rings(coordinates: Value): Position[][] | null {
  if (!Array.isArray(coordinates) || coordinates.length === 0) return null;
  const first = coordinates[0];
  const flat = Array.isArray(first) && isNumber(first[0] ?? null);
  const result: Position[][] = [];
  for (const part of flat ? [coordinates] : coordinates) {
    const ring = positionsOf(part);
    if (!ring || ring.length < 4) return null;
    const [head, tail] = [ring[0] as Position, ring.at(-1) as Position];
    if (head[0] !== tail[0] || head[1] !== tail[1]) return null;
    result.push(ring);
  }
  return result;
}

function positionsOf(value: Value): Position[] | null {
  if (!Array.isArray(value)) return null;
  const positions: Position[] = [];
  for (const element of value) {
    const position = positionOf(element);
    if (!position) return null;
    positions.push(position);
  }
  return positions;
}

function positionOf(value: Value): Position | null {
  if (!Array.isArray(value) || value.length < 2 || value.length > 3 || !value.every(isNumber)) return null;
  const longitude = numberOf(value[0] as Value);
  const latitude = numberOf(value[1] as Value);
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90 ? [longitude, latitude] : null;
}
