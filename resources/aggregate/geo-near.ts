// $geoNear (resources-and-api.md 3.6): allowed as the first stage only, over a property with a geo index.

import type { Document } from 'mongodb';
import { getOwn, isNumber, isObject, numberOf, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type Condition, type ConditionContext, parseWhere, type Predicate, type Test, toFilter } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { coerceProperty, mongoIndexes } from '../../model/types/index.ts';
import { giving, type Meaning, meaningOf } from './meaning.ts';
import { newName, type Shape } from './shape.ts';

const MEMBERS = ['near', 'distanceField', 'minDistance', 'maxDistance', 'query', 'key', 'includeLocs', 'distanceMultiplier', 'spherical'];

/** @throws cascade.query.operand.invalid, cascade.query.geo.index.missing */
export function geoNear(body: ObjectValue, shape: Shape, context: ConditionContext, front: Document): { stages: Document[]; shape: Shape } {
  const stranger = Object.keys(body).find((name) => !MEMBERS.includes(name));
  if (stranger !== undefined) throw invalid(stranger);
  const indexed = mongoIndexes(shape.type).flatMap(({ key }) => Object.keys(key).filter((path) => key[path] === '2dsphere'));
  const key = body['key'] ?? indexed[0] ?? '';
  if (typeof key !== 'string' || !indexed.includes(key))
    throw apiError('cascade.query.geo.index.missing', typeof key === 'string' ? key : '');
  const distanceField = newName(body['distanceField'], '$geoNear');
  const stage: Document = { near: pointOf(body['near'] ?? null, shape, key), distanceField, key, spherical: true };
  for (const name of ['minDistance', 'maxDistance', 'distanceMultiplier']) {
    if (!Object.hasOwn(body, name)) continue;
    const value = getOwn(body, name);
    if (!isNumber(value) || !(numberOf(value) >= 0)) throw invalid(name);
    stage[name] = numberOf(value);
  }
  const query = toFilter(withoutNear(parseWhere(body['query'] ?? {}, shape.type, context)));
  stage['query'] = Object.keys(front).length === 0 ? query : { $and: [front, query] };
  const added: [string, Meaning][] = [[distanceField, null]];
  if ((body['includeLocs'] ?? null) !== null) {
    stage['includeLocs'] = newName(body['includeLocs'], '$geoNear');
    added.push([stage['includeLocs'] as string, meaningOf(`$${key}`, shape)]);
  }
  return { stages: [{ $geoNear: stage }], shape: giving(shape, added) };
}

function pointOf(near: Value, shape: Shape, key: string): Document {
  const property = shape.type.properties.get(key);
  const point =
    property && isObject(near) && near['type'] === 'Point' ? coerceProperty(shape.type, { ...property, multi: false }, near) : null;
  if (!isObject(point)) throw invalid('near');
  const { coordinates } = point;
  if (!Array.isArray(coordinates)) throw invalid('near');
  return { type: 'Point', coordinates: coordinates.slice(0, 2).map((number) => numberOf(number as never)) };
}

const invalid = (path: string) => apiError('cascade.query.operand.invalid', path, '$geoNear');

/** `$near` sorts its result, and only $geoNear itself may do that in a pipeline. @throws cascade.query.operator.forbidden */
export function withoutNear(predicate: Predicate): Predicate {
  const near = nearIn(predicate.condition);
  if (near) throw apiError('cascade.query.operator.forbidden', near.operator, near.path);
  return predicate;
}

interface Near {
  readonly operator: string;
  readonly path: string;
}

function nearIn(condition: Condition): Near | null {
  if (condition.op !== 'property') return firstOf(condition.terms, nearIn);
  const ofTest = (test: Test): Near | null => {
    if (test.op === 'near') return { operator: test.operator, path: condition.path.text };
    if (test.op === 'elementWhere') return nearIn(test.where);
    return test.op === 'not' || test.op === 'element' ? firstOf(test.tests, ofTest) : null;
  };
  return firstOf(condition.tests, ofTest);
}

function firstOf<T>(all: readonly T[], find: (one: T) => Near | null): Near | null {
  for (const one of all) {
    const found = find(one);
    if (found) return found;
  }
  return null;
}
