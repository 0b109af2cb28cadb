// $lookup (resources-and-api.md 3.6): rows of another type of the same namespace by an equality; other forms are refused.

import type { Document } from 'mongodb';
import { getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { giving } from './meaning.ts';
import { fieldAt, newName, shapeOf, type Shape } from './shape.ts';

/** @throws cascade.resource.type.not.found */
export type TypeNamed = (name: string) => TypeDefinition;

/** The caller's restriction on a type's instances, for the store; null: none. @throws cascade.authorization.denied */
export type VisibleOf = (type: TypeDefinition) => Document | null;

/** Properties that a type does not declare any more, and whose values may be stored still. */
export type RemovedFrom = (type: TypeDefinition) => readonly string[];

interface Context {
  readonly typeNamed: TypeNamed;
  readonly visible: VisibleOf;
  readonly removedFrom: RemovedFrom;
}

/** The name of the member that holds a converted key during the join; no property has this name. */
const KEY = '__key';

export function lookup(body: ObjectValue, shape: Shape, context: Context): { stages: Document[]; shape: Shape } {
  // An object could name another database.
  if (['let', 'pipeline'].some((name) => Object.hasOwn(body, name)) || isObject(getOwn(body, 'from')))
    throw apiError('cascade.query.stage.forbidden', '$lookup');
  const text = (name: string): string => {
    const value = Object.hasOwn(body, name) ? body[name] : null;
    if (typeof value !== 'string') throw apiError('cascade.query.operand.invalid', name, '$lookup');
    return value;
  };
  const stranger = Object.keys(body).find((name) => !['from', 'localField', 'foreignField', 'as'].includes(name));
  if (stranger !== undefined) throw apiError('cascade.query.operand.invalid', stranger, '$lookup');
  const type = context.typeNamed(text('from'));
  const local = fieldAt(shape, text('localField'), '$lookup');
  const foreign = fieldAt(shapeOf(type, false), text('foreignField'), '$lookup');
  const as = newName(text('as'), '$lookup');
  const from = type.collection;
  const visible = context.visible(type);
  const removed = context.removedFrom(type);
  const foreignField = removed.includes(foreign.path.split('.', 1)[0] as string) ? KEY : foreign.path; // no instance has a member KEY
  const only = visible ? { pipeline: [{ $match: visible }] } : {};
  const join = (localField: string): Document => ({ $lookup: { from, localField, foreignField, as, ...only } });
  const encrypted = [...type.properties.values()].filter((property) => property.encrypted).map(({ name }) => name);
  const secrets = [...encrypted, ...type.secrets, ...removed].map((name) => `${as}.${name}`);
  const stages =
    local.isObjectId === foreign.isObjectId
      ? [join(local.path)]
      : // Clients see ids as texts: one side is converted to the kind of the other.
        [{ $addFields: { [KEY]: converted(`$${local.path}`, foreign.isObjectId ? 'objectId' : 'string') } }, join(KEY), { $unset: [KEY] }];
  if (secrets.length > 0) stages.push({ $unset: secrets });
  return { stages, shape: giving(shape, [[as, { kind: 'type', multi: true, structure: () => type }]]) };
}

/** A value that cannot be converted joins nothing; an array joins by each of its elements. */
function converted(path: string, to: string): Document {
  const one = (input: string): Document => ({ $convert: { input, to, onError: '', onNull: '' } });
  return { $cond: [{ $isArray: path }, { $map: { input: path, as: 'e', in: one('$$e') } }, one(path)] };
}
