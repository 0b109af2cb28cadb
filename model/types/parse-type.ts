// A submitted type, checked and normalised (resources-and-api.md 4.1). Whether it may take the place of a stored one: compare-types.ts.
import { deepCopy, getOwn, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../errors/index.ts';
import { type KnownNames, type PropertyDefinition, SYSTEM_PROPERTIES, type TypeDefinition } from './definition.ts';
import { type Fields, fieldsOf } from './fields.ts';
import { parseInterval } from './interval.ts';
import { checkName } from './names.ts';
import { mongoIndexes } from './mongo-indexes.ts';
import { checkNaturalKey, parseIndex } from './parse-index.ts';
import { parseProperty, without } from './parse-property.ts';
import { Problems } from './problems.ts';

/** The levels of resources-and-api.md 7.3. */
export const ACCESS_LEVELS = ['ars_denied', 'ars_readOnly', 'ars_readWrite', 'ars_readByOwner', 'ars_writeByOwner'] as const;
const MIN_STORAGE_BYTES = 4096;
/** What a TTL index takes: 2^31 - 1 seconds. */
const MAX_EXPIRY_MS = (2 ** 31 - 1) * 1000;

const FIELDS = new Set([
  'name',
  'role',
  'properties',
  'naturalKey',
  'indexes',
  'foreignKeys',
  'audited',
  'groupEnabled',
  'groupRequired',
  'userAccessLevel',
  'adminAccessLevel',
  'accessLevels',
  'maxStorage',
  'maxObjects',
  'expiresAfter',
  'rulesSuppressed',
]);
/** In the body of a type they are those of its definition: the store keeps them, the checked type does without. */
const SERVICE_PROPERTIES = new Set(['_id', ...Object.keys(SYSTEM_PROPERTIES)]);

export interface ParseTypeOptions {
  /** The service's own type: its name, and those of its properties, may be reserved ones. */
  system?: boolean;
  /** Of a type that is stored; `t.<name>` when absent, as for the service's own. */
  collection?: string;
}

/**
 * @param known names that properties may have as their type; the type itself need not be among them
 * @throws CascadeError, or CascadeErrors when several things are wrong
 */
export function parseType(body: ObjectValue, known: KnownNames, options: ParseTypeOptions = {}): TypeDefinition {
  const problems = new Problems();
  const check = <T>(get: () => T, instead: T): T => problems.attempt(get) ?? instead;
  const fields = fieldsOf('types', body);
  const name = check(() => nameOf(fields, options), '');
  const properties = propertiesOf(name, fields, known, options, problems);

  const naturalKey = check(() => fields.texts('naturalKey'), []);
  problems.attempt(() => checkNaturalKey(name, naturalKey, properties));
  const indexes = check(() => fields.array('indexes'), []).flatMap((index, at) => {
    const parsed = problems.attempt(() => parseIndex(name, index, at, properties));
    return parsed ? [parsed] : [];
  });
  problems.attempt(() => checkShorthands(name, properties));

  const role = check(() => roleOf(fields), 'standard');
  problems.attempt(() => checkShared(name, role, properties));
  const groupEnabled = check(() => fields.boolean('groupEnabled'), false);
  const groupRequired = check(() => fields.boolean('groupRequired'), false);
  if (groupRequired && !groupEnabled) problems.add(apiError('cascade.type.group.flags', name, 'groupRequired needs groupEnabled'));

  const accessLevels = check(() => fields.object('accessLevels'), {});
  const levelOf = (field: string, standard: string): string =>
    check(() => accessLevel(name, fields, field, standard, accessLevels), standard);
  const expiresAfter = fields.get('expiresAfter');
  const secrets = options.system
    ? [...properties.values()].filter(({ other }) => other['secret'] === true).map(({ name: own }) => own)
    : [];
  const type: TypeDefinition = {
    name,
    collection: options.collection ?? `t.${name}`,
    role,
    properties,
    isPlain: secrets.length === 0 && [...properties.values()].every(({ kind }) => kind === 'base'),
    secrets,
    naturalKey,
    indexes,
    foreignKeys: check(() => foreignKeysOf(fields), null),
    audited: check(() => fields.boolean('audited'), false),
    groupEnabled,
    groupRequired,
    userAccessLevel: levelOf('userAccessLevel', 'ars_readOnly'),
    adminAccessLevel: levelOf('adminAccessLevel', 'ars_readWrite'),
    accessLevels: deepCopy(accessLevels) as ObjectValue,
    maxStorage: check(() => storageOf(name, fields), 0),
    maxObjects: check(() => objectsOf(name, fields), 0),
    expiresAfter: deepCopy(expiresAfter),
    expiresAfterMs: check(() => expiryOf(name, expiresAfter), null),
    rulesSuppressed: check(() => fields.boolean('rulesSuppressed'), false),
    ...(known.cipher && { cipher: known.cipher }),
    other: without(body, new Set([...FIELDS, ...SERVICE_PROPERTIES])),
  };
  for (const field of ['description', 'version']) problems.attempt(() => fields.text(field));
  problems.attempt(() => fields.array('documentation'));
  problems.raise();
  checkIndexes(type);
  return type;
}

/** What the store takes of a collection, less a few for what we keep ourselves; and of one index. */
const MOST_INDEXES = 60;
const MOST_KEYS = 32;

function checkIndexes(type: TypeDefinition): void {
  const all = mongoIndexes(type);
  if (all.length > MOST_INDEXES || all.some(({ key }) => Object.keys(key).length > MOST_KEYS))
    throw apiError('cascade.type.index.invalid', type.name, 'indexes');
}

function nameOf(fields: Fields, { system = false }: ParseTypeOptions): string {
  const name = fields.text('name');
  if (name === null) throw apiError('cascade.resource.property.required', 'types', 'name');
  if (!system) checkName('type', name);
  return name;
}

function propertiesOf(
  typeName: string,
  fields: Fields,
  known: KnownNames,
  { system = false }: ParseTypeOptions,
  problems: Problems,
): Map<string, PropertyDefinition> {
  const properties = new Map<string, PropertyDefinition>();
  if (fields.get('properties') === null) problems.add(apiError('cascade.resource.property.required', 'types', 'properties'));
  const declared = problems.attempt(() => fields.object('properties')) ?? {};
  for (const name of Object.keys(declared)) {
    const property = problems.attempt(() => {
      if (!system) checkName('property', name);
      return parseProperty(typeName, name, getOwn(declared, name), known);
    });
    if (property) properties.set(name, property);
  }
  return properties;
}

/** `unique` and `indexed` are indexes of one key: what holds for those holds here. */
function checkShorthands(typeName: string, properties: ReadonlyMap<string, PropertyDefinition>): void {
  for (const { name, unique, indexed, encrypted, base } of properties.values()) {
    if ((unique || indexed) && (encrypted || (unique && base === 'GeoJSON'))) throw apiError('cascade.type.index.invalid', typeName, name);
  }
}

/** What runs share is never stored: only the state of a service has it, whose type has no instances. */
function checkShared(typeName: string, role: TypeDefinition['role'], properties: ReadonlyMap<string, PropertyDefinition>): void {
  for (const { name, type, shared } of properties.values())
    if (shared && role !== 'schema') throw apiError('cascade.type.property.type', typeName, name, type);
}

function roleOf(fields: Fields): 'standard' | 'schema' {
  const role = fields.text('role') ?? 'standard';
  if (role !== 'standard' && role !== 'schema')
    throw apiError('cascade.resource.property.invalid', 'types', 'role', 'neither standard nor schema');
  return role;
}

function foreignKeysOf(fields: Fields): Value {
  if (fields.get('foreignKeys') === null) return null;
  const given = fields.array('foreignKeys');
  const wrong = given.findIndex((one) => !isForeignKey(one));
  if (wrong >= 0)
    throw apiError(
      'cascade.resource.property.invalid',
      'types',
      `foreignKeys.${wrong}`,
      'no type with keys of property and targetProperty',
    );
  return deepCopy(given);
}

function isForeignKey(value: Value): boolean {
  const member = (of: Value, name: string): Value => (isObject(of) && Object.hasOwn(of, name) ? getOwn(of, name) : null);
  const keys = member(value, 'keys');
  const isPair = (key: Value): boolean => ['property', 'targetProperty'].every((name) => typeof member(key, name) === 'string');
  return typeof member(value, 'type') === 'string' && Array.isArray(keys) && keys.every(isPair);
}

function accessLevel(typeName: string, fields: Fields, field: string, standard: string, own: ObjectValue): string {
  const level = fields.text(field) ?? standard;
  if (!(ACCESS_LEVELS as readonly string[]).includes(level) && !Object.hasOwn(own, level))
    throw apiError('cascade.type.access.level.unknown', typeName, `${field} ${level}`);
  return level;
}

function storageOf(typeName: string, fields: Fields): number {
  const bytes = fields.get('maxStorage') ?? 0;
  if (!isInteger(bytes) || !(bytes === 0 || (bytes >= MIN_STORAGE_BYTES && bytes <= Number.MAX_SAFE_INTEGER)))
    throw apiError('cascade.type.storage.invalid', typeName, `maxStorage must be at least ${MIN_STORAGE_BYTES}`);
  return Number(bytes);
}

function objectsOf(typeName: string, fields: Fields): number {
  const count = fields.get('maxObjects') ?? 0;
  if (!isInteger(count) || count < 0 || count > Number.MAX_SAFE_INTEGER)
    throw apiError('cascade.type.storage.invalid', typeName, 'maxObjects must not be negative');
  if (count > 0 && (fields.get('maxStorage') ?? 0) === 0)
    throw apiError('cascade.type.storage.invalid', typeName, 'maxObjects needs maxStorage');
  return Number(count);
}

/** An interval's text or milliseconds, above 0; `""` is "not set" as null is (exported files). */
function expiryOf(typeName: string, expiry: Value): number | null {
  if (expiry === null || expiry === '') return null;
  const ms = typeof expiry === 'string' ? parseInterval(expiry) : isInteger(expiry) ? Number(expiry) : null;
  if (ms === null || ms <= 0 || ms > MAX_EXPIRY_MS)
    throw apiError('cascade.type.expiry.invalid', typeName, 'expiresAfter is no interval above 0');
  return ms;
}

/** The representation: as declared, with the defaults of the fields (resources-and-api.md 1.4); without system properties. */
export function typeToValue(type: TypeDefinition): ObjectValue {
  const properties: ObjectValue = {};
  for (const { name, declared } of type.properties.values()) setOwn(properties, name, deepCopy(declared));
  return {
    name: type.name,
    role: type.role,
    properties,
    naturalKey: [...type.naturalKey],
    indexes: type.indexes.map(({ keys, options }) => ({ keys: keys.map(keyText), options: deepCopy(options ?? {}) })),
    foreignKeys: deepCopy(type.foreignKeys),
    audited: type.audited,
    groupEnabled: type.groupEnabled,
    groupRequired: type.groupRequired,
    userAccessLevel: type.userAccessLevel,
    adminAccessLevel: type.adminAccessLevel,
    accessLevels: deepCopy(type.accessLevels),
    maxStorage: type.maxStorage,
    maxObjects: type.maxObjects,
    expiresAfter: deepCopy(type.expiresAfter),
    rulesSuppressed: type.rulesSuppressed,
    ...(deepCopy(type.other) as ObjectValue),
  };
}

const keyText = ({ path, direction }: TypeDefinition['indexes'][number]['keys'][number]): string =>
  direction === 'geo' ? `#${path}` : direction === -1 ? `-${path}` : path;
