// The indexes that the store keeps for a type: declared ones, shorthands of properties, natural key, expiry.
import type { BaseType, IndexKey, PropertyDefinition, TypeDefinition } from './definition.ts';

/** As the driver's `createIndexes` takes it. */
export interface MongoIndex {
  /** Tells all of it: two indexes of one name are the same index. */
  readonly name: string;
  readonly key: Readonly<Record<string, 1 | -1 | '2dsphere'>>;
  readonly unique?: true;
  readonly partialFilterExpression?: Readonly<Record<string, unknown>>;
  readonly expireAfterSeconds?: number;
}

/** In the order of declaration, none twice. A natural key gets an index for look-ups; it is not unique by itself. */
export function mongoIndexes(type: TypeDefinition): MongoIndex[] {
  const found = new Map<string, MongoIndex>();
  const add = (index: MongoIndex): void => {
    if (!found.has(index.name)) found.set(index.name, index);
  };
  for (const { keys, unique } of type.indexes) add(index(type, keys, unique));
  for (const { name, unique, indexed, base } of type.properties.values()) {
    if (unique) add(index(type, [{ path: name, direction: 1 }], true));
    else if (indexed) add(index(type, [{ path: name, direction: base === 'GeoJSON' ? 'geo' : 1 }], false));
  }
  if (type.naturalKey.length > 0) {
    const natural = index(
      type,
      type.naturalKey.map((path) => ({ path, direction: 1 })),
      false,
    );
    if (![...found.values()].some((other) => beginsWith(other, natural))) add(natural);
  }
  if (type.expiresAfterMs !== null) {
    found.delete('index:ars_createdAt:1'); // the database has no two of one key, and this one serves look-ups, too
    add(expiry(Math.ceil(type.expiresAfterMs / 1000)));
  }
  return [...found.values()];
}

/** Where storage keeps what a path of the API names: `.code` and `.value` of a Currency are `.c` and `.v`. */
export function storedPath(type: TypeDefinition, path: string): string {
  const [name = '', ...steps] = path.split('.');
  if (type.properties.get(name)?.base !== 'Currency') return path;
  return [name, ...steps.map((step) => (step === 'code' ? 'c' : step === 'value' ? 'v' : step))].join('.');
}

function index(type: TypeDefinition, keys: readonly IndexKey[], unique: boolean): MongoIndex {
  const key: Record<string, 1 | -1 | '2dsphere'> = {};
  for (const { path, direction } of keys) key[storedPath(type, path)] = direction === 'geo' ? '2dsphere' : direction;
  const names = Object.entries(key).map(([path, direction]) => `${path}:${direction}`);
  if (!unique) return { name: `index:${names.join()}`, key };
  // The types too: they are part of what "not null" means below.
  const typed = keys.map(({ path }, at) => `${names[at]}:${type.properties.get(path.split('.', 1)[0] as string)?.base ?? 'System'}`);
  return { name: `unique:${typed.join()}`, key, unique, partialFilterExpression: someKeySet(type, keys) };
}

const expiry = (seconds: number): MongoIndex => ({ name: `expiry:${seconds}`, key: { ars_createdAt: 1 }, expireAfterSeconds: seconds });

/**
 * A unique index ignores instances in which all keys are missing or null. "Not null" is said as a lower bound of the stored type, which
 * the query planner can prove from an equality on the key; `$type` would keep the index from serving look-ups.
 */
function someKeySet(type: TypeDefinition, keys: readonly IndexKey[]): Record<string, unknown> {
  const set = keys.map(({ path }) => ({ [storedPath(type, path)]: notNull(type, path) }));
  const [only, ...others] = set;
  return only && others.length === 0 ? only : { $or: set };
}

const ANY_TYPE = ['double', 'string', 'object', 'array', 'bool', 'date', 'int', 'long', 'decimal', 'objectId'];
const LOWEST: Readonly<Record<BaseType, unknown>> = {
  String: '',
  Integer: Number.NEGATIVE_INFINITY,
  Real: Number.NEGATIVE_INFINITY,
  Decimal: Number.NEGATIVE_INFINITY,
  Boolean: false,
  DateTime: new Date(-8_640_000_000_000_000),
  Currency: {},
  GeoJSON: {},
  ResourceReference: {},
  Object: {},
};

function notNull(type: TypeDefinition, path: string): Record<string, unknown> {
  const [name = '', step] = path.split('.');
  const property: PropertyDefinition | undefined = type.properties.get(name);
  if (!property) return { $type: ANY_TYPE };
  if (step === undefined) return { $gte: LOWEST[property.base] };
  if (property.base === 'ResourceReference' || (property.base === 'Currency' && step === 'code')) return { $gte: '' };
  if (property.base === 'Currency') return { $gte: Number.NEGATIVE_INFINITY };
  return { $type: ANY_TYPE };
}

/** Whether a look-up by the keys of `wanted` can use the index: its first keys are those, in any order. */
function beginsWith(index: MongoIndex, wanted: MongoIndex): boolean {
  const names = Object.keys(wanted.key);
  const first = Object.keys(index.key).slice(0, names.length);
  return names.every((name) => first.includes(name));
}
