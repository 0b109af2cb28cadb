// Distance, intersection and containment of shapes on the sphere, by great circles, as the store's geo operators have them.
import type { Geometry } from './geometry.ts';
import { edges, edgesOf, EdgeTree, Meter, type Spend } from './edges.ts';
import { angle, angleToArc, arcsCross, arcsTouch, cross, dot, plus, TOUCH, unit, type Vector } from './vector.ts';

/** The radius with which the store turns angles into metres. */
const EARTH_RADIUS_M = 6_378_100;

/**
 * Metres from a Point to the nearest place of a shape; 0 inside a Polygon.
 * @param spend is told of the work, here and below: outlines may have many thousands of edges
 */
export function distance(point: Geometry, shape: Geometry, spend: Spend): number {
  const from = firstVector(point);
  if (shape.type === 'Point') return angle(from, firstVector(shape)) * EARTH_RADIUS_M;
  spend(4 * positions(shape));
  if (shape.type === 'Polygon' && isInside(from, shape)) return 0;
  let nearest = Number.POSITIVE_INFINITY;
  for (const [a, b] of edges(shape)) nearest = Math.min(nearest, angleToArc(from, a, b));
  return nearest * EARTH_RADIUS_M;
}

export function intersects(a: Geometry, b: Geometry, spend: Spend): boolean {
  if (a.type === 'Point') return touches(firstVector(a), b, spend);
  if (b.type === 'Point') return touches(firstVector(b), a, spend);
  return edgesMeet(a, b, new Meter(spend)) || contains(a, b, spend) || contains(b, a, spend);
}

/** Whether no part of the shape is outside the Polygon; its border belongs to it. */
export function within(shape: Geometry, polygon: Geometry, spend: Spend): boolean {
  if (shape.type === 'Point') return touches(firstVector(shape), polygon, spend);
  const meter = new Meter(spend);
  const border = new EdgeTree(polygon, meter);
  for (const line of shape.vectors)
    for (const side of sidesAlong(line, polygon, border, meter)) if (side === 'outside' || side === 'across') return false;
  if (shape.type !== 'Polygon') return true;
  const own = new EdgeTree(shape, meter);
  for (const hole of polygon.vectors.slice(1)) for (const side of sidesAlong(hole, shape, own, meter)) if (side === 'inside') return false;
  return true;
}

/** Of a place, to a Polygon; or of an edge that crosses its border. */
type Side = 'inside' | 'outside' | 'border' | 'across';

/**
 * Where the vertices of a line are, and the middles of its edges. Only at the border inside and outside part, so most places are where the
 * one before them is.
 */
function* sidesAlong(line: readonly Vector[], polygon: Geometry, border: EdgeTree, meter: Meter): Generator<Side> {
  const sideOf = (point: Vector): Side => {
    meter.add(positions(polygon));
    return isInside(point, polygon) ? 'inside' : 'outside';
  };
  const atBorder = (point: Vector): boolean => border.some(point, point, (c, d) => angleToArc(point, c, d) < TOUCH);
  let last: Side | null = null;
  for (const [a, b] of edgesOf(line)) {
    let touched = false;
    const crossed = border.some(a, b, (c, d) => {
      touched ||= arcsTouch(a, b, c, d);
      return arcsCross(a, b, c, d);
    });
    if (crossed) {
      yield 'across';
      last = null;
    } else if (touched) {
      for (const point of [a, unit(plus(a, b)), b]) yield (last = atBorder(point) ? 'border' : sideOf(point));
      if (last === 'border') last = null;
    } else yield (last ??= sideOf(a));
  }
}

const firstVector = (shape: Geometry): Vector => shape.vectors[0]?.[0] as Vector;

const positions = (shape: Geometry): number => shape.vectors.reduce((sum, line) => sum + line.length, 0);

function touches(point: Vector, shape: Geometry, spend: Spend): boolean {
  if (shape.type === 'Point') return angle(point, firstVector(shape)) < TOUCH;
  spend(4 * positions(shape));
  if (shape.type === 'Polygon' && isInside(point, shape)) return true;
  for (const [a, b] of edges(shape)) if (angleToArc(point, a, b) < TOUCH) return true;
  return false;
}

/** Asked only where no edges meet: then one vertex speaks for the whole. */
function contains(outer: Geometry, inner: Geometry, spend: Spend): boolean {
  if (outer.type !== 'Polygon') return false;
  spend(positions(outer));
  return isInside(firstVector(inner), outer);
}

function edgesMeet(a: Geometry, b: Geometry, meter: Meter): boolean {
  const others = new EdgeTree(b, meter);
  for (const [a1, a2] of edges(a)) if (others.some(a1, a2, (b1, b2) => arcsCross(a1, a2, b1, b2) || arcsTouch(a1, a2, b1, b2))) return true;
  return false;
}

/** Inside the first ring and in none of the others. */
function isInside(point: Vector, polygon: Geometry): boolean {
  const [outer, ...holes] = polygon.vectors;
  return outer !== undefined && isInRing(point, outer) && !holes.some((hole) => isInRing(point, hole));
}

/**
 * The ring's turns around the point, seen from it. A ring has two sides on a sphere; the smaller one is meant, and a point whose antipode
 * is in it is told apart by the ring's middle.
 */
function isInRing(point: Vector, ring: readonly Vector[]): boolean {
  let turn = 0;
  let middle = 0;
  for (let i = 1; i < ring.length; i++) {
    const a = ring[i - 1] as Vector;
    const b = ring[i] as Vector;
    middle += dot(point, b);
    const left = cross(point, a);
    const right = cross(point, b);
    turn += Math.atan2(dot(point, cross(left, right)), dot(left, right));
  }
  return middle > 0 && Math.abs(turn) > Math.PI;
}
