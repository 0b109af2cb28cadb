// GEONEAR, GEOINTERSECTS and GEOWITHIN outside of queries (language.md 2.4, W7): the same shapes and operands, on values.
import { fail } from '../errors.ts';
import { distance, geometryOf, intersects, parseNearOperand, parseShapeOperand, type Spend, within } from '../geo/index.ts';
import { typeOf, type Value } from '../values/index.ts';

/** A null left is false, as it is in a condition. @throws CascadeError where one of the two is no shape, or not the operator's */
export function geo(operator: string, left: Value, right: Value, bounds: { spend: Spend }): boolean {
  const spend: Spend = (turns) => bounds.spend(turns);
  if (left === null || left === undefined) return false;
  const refuse = (): never => fail('cascade.lang.class.cast', operator, typeOf(left), typeOf(right));
  const shape = geometryOf(left) ?? refuse();
  if (operator === 'geonear') {
    const near = parseNearOperand(right) ?? refuse();
    const metres = distance(near.point, shape, spend);
    return metres >= near.minDistance && metres <= near.maxDistance;
  }
  const area = parseShapeOperand(right) ?? refuse();
  if (operator === 'geointersects') return intersects(shape, area, spend);
  return area.type === 'Polygon' ? within(shape, area, spend) : refuse();
}
