// The door of the geometry: GeoJSON shapes on the sphere, and the operands of geo operators.
export type { Spend } from './edges.ts';
export { type Geometry, geoJsonOf, geometryOf, type Position } from './geometry.ts';
export { type GeoOperand, parseNearOperand, parseShapeOperand } from './operand.ts';
export { distance, intersects, within } from './sphere.ts';
