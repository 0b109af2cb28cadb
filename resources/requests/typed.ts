// Replies to another installation (integrations.md 11.3): the instances that a reply shows, with the types of their properties.
import {
  getOwn,
  isObject,
  type ObjectValue,
  parseCurrency,
  parseDateTime,
  parseDecimal,
  setOwn,
  type Value,
} from '../../stdlib/values/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { parseJson, toTypedJson } from '../../model/values/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { resolve } from '../catalog/catalogue.ts';
import type { Namespace } from '../catalog/types.ts';

const OPERATIONS = new Set(['select', 'selectOne', 'insert', 'upsert', 'update', 'patch']);
const READERS: Readonly<Record<string, (text: string) => Value | null>> = {
  DateTime: parseDateTime,
  Decimal: parseDecimal,
  Currency: parseCurrency,
};
const SYSTEM_TIMES = new Set(['ars_createdAt', 'ars_modifiedAt']);

/** The same reply with typed values, where its body shows instances of a resource; others are plain JSON. */
export function typedReply(space: Namespace, request: ApiRequest, given: ApiReply): ApiReply {
  if (given.isTyped || given.body === undefined || given.partial || !OPERATIONS.has(request.op)) return given;
  if (space.features.installationResource(request.resourceName, request.custom)) return given;
  const { type } = resolve(space, request.resourceName, request.custom);
  const shown = parseJson(given.body);
  const typed = Array.isArray(shown) ? shown.map((one) => instance(one, type)) : instance(shown, type);
  return { ...given, body: toTypedJson(typed), isTyped: true };
}

function instance(shown: Value, type: TypeDefinition): Value {
  if (!isObject(shown)) return shown;
  const result: ObjectValue = {};
  for (const name of Object.keys(shown)) {
    const value = getOwn(shown, name);
    const base = SYSTEM_TIMES.has(name) ? 'DateTime' : type.properties.get(name)?.base;
    const read = base === undefined ? undefined : READERS[base];
    setOwn(result, name, read ? (Array.isArray(value) ? value.map((one) => readBy(read, one)) : readBy(read, value)) : value);
  }
  return result;
}

const readBy = (read: (text: string) => Value | null, value: Value): Value => (typeof value === 'string' ? (read(value) ?? value) : value);
