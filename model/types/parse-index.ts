// The natural key and the indexes of a submitted type (resources-and-api.md 4.1, Indexes).
import { deepCopy, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../errors/index.ts';
import { type IndexDefinition, type IndexKey, type PropertyDefinition, SYSTEM_PROPERTIES } from './definition.ts';
import { fieldsOf } from './fields.ts';

type Properties = ReadonlyMap<string, PropertyDefinition>;

/** @throws type.key.unknown for a name that is no declared, single-valued property */
export function checkNaturalKey(typeName: string, names: readonly string[], properties: Properties): void {
  for (const [at, name] of names.entries()) {
    const property = properties.get(name);
    if (!property || property.multi || property.encrypted || names.indexOf(name) !== at)
      throw apiError('cascade.type.key.unknown', typeName, name);
  }
}

/** @throws type.key.unknown, type.index.invalid, resource.property.invalid */
export function parseIndex(typeName: string, body: Value, position: number, properties: Properties): IndexDefinition {
  if (!isObject(body)) throw apiError('cascade.resource.property.invalid', 'types', `indexes.${position}`, 'no Object');
  const fields = fieldsOf('types', body, `indexes.${position}.`);
  const keys = fields.texts('keys').map((key) => parseKey(typeName, key, properties));
  if (keys.length === 0) throw apiError('cascade.type.index.invalid', typeName, `indexes.${position}.keys`);
  const options = fields.object('options');
  const unique = fieldsOf('types', options, `indexes.${position}.options.`).boolean('unique');
  checkTogether(typeName, keys, unique, properties);
  return { keys, unique, options: fields.get('options') === null ? null : (deepCopy(options) as ObjectValue) };
}

function parseKey(typeName: string, key: string, properties: Properties): IndexKey {
  const sign = /^[-+#]/.exec(key)?.[0];
  const path = sign === undefined ? key : key.slice(1);
  const [name = '', ...steps] = path.split('.');
  const property = properties.get(name);
  if (!property && !Object.hasOwn(SYSTEM_PROPERTIES, name) && name !== '_id') throw apiError('cascade.type.key.unknown', typeName, path);
  const broken = steps.some((step) => step === '' || step.startsWith('$') || step.includes('\0'));
  if (broken || property?.encrypted || (sign === '#' && (property?.base !== 'GeoJSON' || steps.length > 0)))
    throw apiError('cascade.type.index.invalid', typeName, path);
  return { path, direction: sign === '#' ? 'geo' : sign === '-' ? -1 : 1 };
}

/** What MongoDB would refuse, at once or with the first instance: two geo keys, a unique geo index, two arrays, a key twice. */
function checkTogether(typeName: string, keys: readonly IndexKey[], unique: boolean, properties: Properties): void {
  let geo = false;
  let multi = false;
  for (const [at, { path, direction }] of keys.entries()) {
    const isMulti = properties.get(path.split('.', 1)[0] as string)?.multi === true;
    const isGeo = direction === 'geo';
    const twice = keys.findIndex((key) => key.path === path) !== at;
    if (twice || (isGeo && (geo || unique)) || (isMulti && multi)) throw apiError('cascade.type.index.invalid', typeName, path);
    geo ||= isGeo;
    multi ||= isMulti;
  }
}
