// Distance, intersection and containment of shapes on the sphere, by great circles, as the store's geo operators have them.
import type { Geometry } from './geometry.ts';
import { angle, angleToArc, arcsCross, arcsMeet, cross, dot, plus, TOUCH, unit, type Vector } from './vector.ts';

/** The radius with which the store turns angles into metres. */
const EARTH_RADIUS_M = 6_378_100;

/** Metres from a Point to the nearest place of a shape; 0 inside a Polygon. */
export function distance(point: Geometry, shape: Geometry): number {
  const from = firstVector(point);
  if (shape.type === 'Polygon' && isInside(from, shape)) return 0;
  if (shape.type === 'Point') return angle(from, firstVector(shape)) * EARTH_RADIUS_M;
  let nearest = Number.POSITIVE_INFINITY;
  for (const [a, b] of edges(shape)) nearest = Math.min(nearest, angleToArc(from, a, b));
  return nearest * EARTH_RADIUS_M;
}

export function intersects(a: Geometry, b: Geometry): boolean {
  if (a.type === 'Point') return touches(firstVector(a), b);
  if (b.type === 'Point') return touches(firstVector(b), a);
  return edgesMeet(a, b) || contains(a, b) || contains(b, a);
}

/** Whether no part of the shape is outside the Polygon; its border belongs to it. */
export function within(shape: Geometry, polygon: Geometry): boolean {
  if (shape.type === 'Point') return touches(firstVector(shape), polygon);
  for (const [a, b] of edges(shape)) {
    if (!touches(a, polygon) || !touches(b, polygon) || !touches(unit(plus(a, b)), polygon)) return false;
    for (const [c, d] of edges(polygon)) if (arcsCross(a, b, c, d)) return false;
  }
  const holes = polygon.vectors.slice(1);
  return shape.type !== 'Polygon' || !holes.some((hole) => hole.some((vertex) => isInside(vertex, shape) && !isOnEdge(vertex, shape)));
}

const firstVector = (shape: Geometry): Vector => shape.vectors[0]?.[0] as Vector;

function touches(point: Vector, shape: Geometry): boolean {
  if (shape.type === 'Point') return angle(point, firstVector(shape)) < TOUCH;
  if (shape.type === 'Polygon' && isInside(point, shape)) return true;
  return isOnEdge(point, shape);
}

function isOnEdge(point: Vector, shape: Geometry): boolean {
  for (const [a, b] of edges(shape)) if (angleToArc(point, a, b) < TOUCH) return true;
  return false;
}

/** Asked only where no edges meet: then one vertex speaks for the whole. */
function contains(outer: Geometry, inner: Geometry): boolean {
  return outer.type === 'Polygon' && isInside(firstVector(inner), outer);
}

function edgesMeet(a: Geometry, b: Geometry): boolean {
  for (const [a1, a2] of edges(a)) for (const [b1, b2] of edges(b)) if (arcsMeet(a1, a2, b1, b2)) return true;
  return false;
}

function* edges(shape: Geometry): Generator<[Vector, Vector]> {
  for (const line of shape.vectors) for (let i = 1; i < line.length; i++) yield [line[i - 1] as Vector, line[i] as Vector];
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
