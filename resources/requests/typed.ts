// Replies to another installation (integrations.md 11.3): instances whose values keep their types.
import { getOwn, isObject, type ObjectValue, parseDateTime, setOwn, type Value } from '../../stdlib/values/index.ts';
import { finishInSlices, type MaybePromise } from '../../platform/structures/index.ts';
import { isLong, type TypeDefinition } from '../../model/types/index.ts';
import {
  instanceToJson,
  instanceToJsonInPieces,
  instanceToTypedJson,
  instanceToTypedJsonInPieces,
  parseJson,
  toJson,
  toTypedJson,
} from '../../model/values/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { resolve, type Namespace, type Resource } from '../catalog/index.ts';
import { reply } from './request.ts';

/** The text of an instance in the form that the request asks for. */
export const instanceText = ({ federation }: ApiRequest, type: TypeDefinition, instance: ObjectValue): string =>
  federation?.isTyped ? instanceToTypedJson(type, instance) : instanceToJson(type, instance);

/** The same, in slices where the instance is long. */
export const longInstanceText = (
  { name }: Namespace,
  request: ApiRequest,
  type: TypeDefinition,
  instance: ObjectValue,
): MaybePromise<string> =>
  isLong(instance)
    ? finishInSlices(name, (request.federation?.isTyped ? instanceToTypedJsonInPieces : instanceToJsonInPieces)(type, instance))
    : instanceText(request, type, instance);

/** Marks a reply with instances as typed, where the request asks for types. */
export const typedIf = ({ federation }: ApiRequest, { kind }: Resource): Pick<ApiReply, 'isTyped'> =>
  federation?.isTyped && kind === 'instances' ? { isTyped: true } : {};

/** The reply to an UPDATE by a condition: a number, or the instance. */
export const changedReply = ({ federation }: ApiRequest, value: Value): ApiReply =>
  federation?.isTyped ? { ...reply(toTypedJson(value)), isTyped: true } : reply(toJson(value));

const OPERATIONS = new Set(['select', 'selectOne', 'insert', 'upsert', 'update', 'patch']);
const TIMES = new Set(['ars_createdAt', 'ars_modifiedAt']);

/** The reply with typed times, where its body shows definitions; others unchanged. */
export function typedReply(space: Namespace, request: ApiRequest, given: ApiReply): ApiReply {
  if (given.isTyped || given.body === undefined || given.partial || !OPERATIONS.has(request.op)) return given;
  if (space.catalog.features.installationResource(request.resourceName, request.custom)) return given;
  const { type } = resolve(space, request.resourceName, request.custom);
  const body = parseJson(given.body);
  const typed = Array.isArray(body) ? body.map((one) => definition(one, type)) : definition(body, type);
  return { ...given, body: toTypedJson(typed), isTyped: true };
}

function definition(shown: Value, type: TypeDefinition): Value {
  if (!isObject(shown)) return shown;
  const result: ObjectValue = {};
  for (const name of Object.keys(shown)) {
    const value = getOwn(shown, name);
    const isTime = TIMES.has(name) || type.properties.get(name)?.base === 'DateTime';
    setOwn(result, name, isTime && typeof value === 'string' ? (parseDateTime(value) ?? value) : value);
  }
  return result;
}
