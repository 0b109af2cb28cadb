// The door of the geometry: GeoJSON shapes on the sphere, and the operands of geo operators.
export { type Geometry, geometryOf, type Position } from './geometry.ts';
export { type GeoOperand, parseNearOperand, parseShapeOperand } from './operand.ts';
export { distance, intersects, within } from './sphere.ts';
