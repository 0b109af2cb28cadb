// A geometry as the store takes it: GeoJSON, numbers as doubles.
import { type Document, Double } from 'mongodb';
import type { Geometry, Position } from '../../../stdlib/geo/index.ts';

export const SHAPE_TYPES = ['Point', 'LineString', 'Polygon'];

export function geometryToBson({ type, lines }: Geometry): Document {
  const rings = lines.map((line) => line.map(pair));
  return { type, coordinates: type === 'Polygon' ? rings : type === 'LineString' ? rings[0] : rings[0]?.[0] };
}

const pair = ([longitude, latitude]: Position): Double[] => [new Double(longitude), new Double(latitude)];
