// Points of the sphere as unit vectors, and the arcs between them.

export type Vector = readonly [x: number, y: number, z: number];

/** In radians: some millimetres on the ground. What is nearer touches. */
export const TOUCH = 1e-9;

export function vectorOf(longitude: number, latitude: number): Vector {
  const lambda = (longitude * Math.PI) / 180;
  const phi = (latitude * Math.PI) / 180;
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

export const length = (a: Vector): number => Math.hypot(a[0], a[1], a[2]);

export const plus = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];

export const minus = (a: Vector): Vector => [-a[0], -a[1], -a[2]];

export function unit(a: Vector): Vector {
  const size = length(a);
  return size === 0 ? a : [a[0] / size, a[1] / size, a[2] / size];
}

/** In radians; exact for near and far points alike. */
export const angle = (a: Vector, b: Vector): number => Math.atan2(length(cross(a, b)), dot(a, b));

/** Whether a point of the arc's great circle lies on the arc from `a` to `b` (less than half a turn) with the normal `normal`. */
function isOnArc(point: Vector, a: Vector, b: Vector, normal: Vector): boolean {
  return dot(cross(normal, a), point) >= 0 && dot(cross(normal, b), point) <= 0;
}

/** The angle between a point and an arc. */
export function angleToArc(point: Vector, a: Vector, b: Vector): number {
  const normal = unit(cross(a, b));
  const height = dot(normal, point);
  const foot: Vector = [point[0] - height * normal[0], point[1] - height * normal[1], point[2] - height * normal[2]];
  if (length(normal) > 0 && isOnArc(foot, a, b, normal)) return Math.abs(Math.asin(Math.max(-1, Math.min(1, height))));
  return Math.min(angle(point, a), angle(point, b));
}

/** Whether an end of one of two arcs lies on the other. */
export function arcsTouch(a: Vector, b: Vector, c: Vector, d: Vector): boolean {
  const touch = (point: Vector, from: Vector, to: Vector): boolean => angleToArc(point, from, to) < TOUCH;
  return touch(a, c, d) || touch(b, c, d) || touch(c, a, b) || touch(d, a, b);
}

/** Whether two arcs cross, each with ends clearly on both sides of the other. */
export function arcsCross(a: Vector, b: Vector, c: Vector, d: Vector): boolean {
  const first = unit(cross(a, b));
  const second = unit(cross(c, d));
  if (!apart(dot(first, c), dot(first, d)) || !apart(dot(second, a), dot(second, b))) return false;
  const line = cross(first, second);
  const both = (point: Vector): boolean => isOnArc(point, a, b, first) && isOnArc(point, c, d, second);
  return both(line) || both(minus(line));
}

const apart = (one: number, other: number): boolean => (one > TOUCH && other < -TOUCH) || (one < -TOUCH && other > TOUCH);
