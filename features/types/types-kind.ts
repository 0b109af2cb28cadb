// Types (resources-and-api.md 4.1): a definition with a collection and its indexes.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { isServiceSet, checkTypeChange, compareTypes, parseType, type TypeDefinition, typeToValue } from '../../model/types/index.ts';
import {
  TYPE_SHAPE,
  type DefinitionResource,
  knownNames,
  type Namespace,
  type NameScope,
  omit,
  storedNames,
} from '../../resources/catalog/index.ts';
import { CONSTRAINT_CONSTANTS } from '../../resources/access/index.ts';
import { accessLevelsOf } from './access-levels.ts';
import { spellingChanged, typeChanged } from './changed.ts';
import { checkCallersProperties } from '../../resources/definitions/index.ts';
import { buildAfter, buildBefore, indexBuildsOf, addedBy, removeInBackground, removeValues } from '../../resources/collections/index.ts';

const CALLERS: readonly string[] = ['ars_properties', 'ars_group', 'ars_public', 'ars_relationships', 'ars_dependentResource'];

/** Indexes in construction, which a type's representation shows while there are any. */
const BUILDS = 'indexBuilds';

export const TYPES: DefinitionResource = {
  kind: 'definitions',
  name: 'types',
  systemType: 'ArsType',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete', 'schema']),
  onExisting: 'conflict',
  type: TYPE_SHAPE,
  builtIn: (space) => space.catalog.features.systemTypes,
  foresee(space, object) {
    const type = loadType(object, space);
    return (there) => void there.catalog.types.set(type.name, type);
  },
  async enforce(space, name, object) {
    if (object) space.storage.cipher ??= await space.installation.keys.cipherOf(space.name);
    const type = object && loadType(object, space);
    if (type) space.catalog.types.set(name, type);
    else space.catalog.types.delete(name);
    typeChanged(space, name);
  },
  async define(space, body, stored) {
    for (const key of Object.keys(body))
      if (/^(ars)?_/.test(key) && !isServiceSet(key) && !CALLERS.includes(key)) throw apiError('cascade.type.property.name.reserved', key);
    checkCallersProperties('types', body);
    const checked = await parsed(space, omit(body, [BUILDS]), stored);
    let type = stored ? { ...checked, collection: space.catalog.definitions.collectionOf(stored) } : checked;
    if (space.catalog.scalars.has(type.name)) throw apiError('cascade.type.name.reserved', type.name);
    const before = stored ? space.catalog.types.get(String(getOwn(stored, 'name'))) : undefined;
    checkNested(space, type);
    const accessLevels = await accessLevelsOf(space, type);
    const removed = before ? addedBy(type, before) : [];
    const needsEmpty = before !== undefined && (await checkChanges(space, before, type));
    let lift: (() => void) | undefined;
    let isPrepared = false;
    return {
      name: type.name,
      object: withCallersProperties({ ...typeToValue(type), accessLevels }, body),
      beside: () => {
        const { definitions } = space.catalog;
        return definitions.besideType(type, [...new Set([...definitions.removedFrom(type), ...removed])]);
      },
      prepare: async (object) => {
        isPrepared = true;
        if (!space.catalog.announced) await space.states.get(CONSTRAINT_CONSTANTS).foresee(space, space, [type]);
        if (!stored) type = { ...type, collection: space.catalog.definitions.collectionOf(object) };
        await removeValues(space, type, before ? addedBy(before, type) : []);
        // Blocks writes between the check for instances and the new definition.
        if (needsEmpty) lift = space.transactions.block([type.collection]);
        if (needsEmpty) await space.transactions.exclusive(() => checkChanges(space, before, type));
        await buildBefore(space, type, stored === null);
      },
      abandon: () => {
        lift?.();
        if (stored && isPrepared) buildAfter(space, type);
      },
      apply: (object) => {
        removeInBackground(space, type, removed);
        try {
          space.catalog.types.set(type.name, loadType(object, space)); // its scalars may have changed since it was checked
        } finally {
          lift?.();
        }
        if (stored) buildAfter(space, type);
        typeChanged(space, type.name);
      },
      settle: () => space.states.get(CONSTRAINT_CONSTANTS).settle(space),
    };
  },
  show(space, stored) {
    const type = space.catalog.types.get(String(getOwn(stored, 'name')));
    const builds = type && indexBuildsOf(space).shown(type);
    return builds ? { ...stored, [BUILDS]: builds } : stored;
  },
  async remove(space, stored) {
    const name = String(getOwn(stored, 'name'));
    const collection = space.catalog.definitions.collectionOf(stored);
    return {
      apply: () => {
        space.catalog.types.delete(name);
        space.catalog.definitions.noteRemoved(collection, []);
        spellingChanged(space, name);
        // The definition is removed, so that instances are unreachable: their removal is not awaited, and maintenance repeats it after a
        // failure.
        space.transactions
          .exclusive(() => space.storage.db.collection(collection).drop())
          .catch((error: unknown) => space.log.error({ err: error, type: name }, 'the instances of a deleted type could not be removed'));
      },
    };
  },
};

/** The type that a stored definition describes. */
export function loadType(stored: ObjectValue, space: NameScope): TypeDefinition {
  const body = Object.fromEntries(Object.entries(stored).filter(([key]) => key !== '_id' && !key.startsWith('ars_')));
  return parseType(body, storedNames(space), { collection: space.catalog.definitions.collectionOf(stored) });
}

/** Parses a definition; the first encrypted property creates the namespace's key. @param stored the one that it changes */
async function parsed(space: Namespace, body: ObjectValue, stored: ObjectValue | null): Promise<TypeDefinition> {
  const parse = (): TypeDefinition => parseType(body, { ...knownNames(space), ...(stored && { kept: typesNamedIn(stored) }) });
  const type = parse();
  const [secret] = encryptedIn(type);
  if (secret === undefined) return type;
  if (!space.installation.keys.areAvailable)
    throw apiError(
      'cascade.resource.property.invalid',
      'types',
      `properties.${secret}.encrypted`,
      'the service was started without a master key',
    );
  if (space.storage.cipher) return type;
  space.storage.cipher = await space.installation.keys.ensureCipher(space.name);
  return parse();
}

/** The names of the properties' types. */
function typesNamedIn(stored: ObjectValue): Map<string, Value> {
  const properties = getOwn(stored, 'properties');
  if (!isObject(properties)) return new Map();
  return new Map(
    Object.entries(properties).map(([name, property]) => [name, isObject(property) ? (getOwn(property, 'type') ?? null) : property]),
  );
}

const encryptedIn = (type: TypeDefinition): string[] =>
  [...type.properties.values()].filter(({ encrypted }) => encrypted).map(({ name }) => name);

/**
 * Checks nested types: encryption applies to whole properties of an instance, so that an Object whose type has encrypted properties must
 * itself be encrypted.
 */
function checkNested(space: Namespace, type: TypeDefinition): void {
  const isSecret = (name: string): boolean => {
    const members = name === type.name ? type : space.catalog.types.get(name);
    return members !== undefined && encryptedIn(members).length > 0;
  };
  // Of thousands of types, those that may hold this one are looked at only where that can be wrong.
  const owners = encryptedIn(type).length > 0 ? space.catalog.types.values() : [];
  for (const owner of [type, ...owners]) {
    if (owner !== type && owner.name === type.name) continue;
    for (const property of owner.properties.values()) {
      if (property.kind !== 'type' || property.encrypted || !isSecret(property.type)) continue;
      if (owner !== type && property.type !== type.name) continue;
      const path = owner === type ? `properties.${property.name}` : `properties.${encryptedIn(type)[0] ?? ''}`;
      const reason = `${owner.name}.${property.name} holds it and is not encrypted`;
      throw apiError('cascade.resource.property.invalid', 'types', `${path}.encrypted`, reason);
    }
  }
}

/** @returns whether the change is possible only without instances, of which there are none now */
async function checkChanges(space: Namespace, before: TypeDefinition, after: TypeDefinition): Promise<boolean> {
  const change = compareTypes(before, after);
  if (change.needsEmpty.length === 0) return false;
  const any = await space.storage.db.collection(before.collection).findOne({}, { projection: { _id: 1 } });
  checkTypeChange(before.name, change, any !== null);
  return true;
}

/** Adds properties that belong to the caller, such as ars_properties, to the definition. */
function withCallersProperties(object: ObjectValue, body: ObjectValue): ObjectValue {
  for (const name of CALLERS) if (Object.hasOwn(body, name)) object[name] = getOwn(body, name);
  return object;
}
