// The grants of profiles for a type: by access levels (resources-and-api.md 7.3) for the default profiles, by `dml` entries (7.1) for
// others.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { isAdmin, isWrapped } from '../../resources/access/index.ts';
import type { Capability, Namespace } from '../../resources/catalog/index.ts';

export const CAPABILITIES: readonly Capability[] = ['select', 'insert', 'update', 'delete', 'aggregate'];

/** A where-object with substitutions in place of operators; an empty one grants all instances. Null: not granted. */
export type Grant = ObjectValue | null;

const ALL: ObjectValue = {};
const OWN: ObjectValue = { ars_createdBy: { ars_substitution: 'ars_username' } };

const LEVELS: Readonly<Record<string, Readonly<Partial<Record<Capability, ObjectValue>>>>> = {
  ars_denied: {},
  ars_readOnly: { select: ALL, aggregate: ALL },
  ars_readWrite: { select: ALL, aggregate: ALL, insert: ALL, update: ALL, delete: ALL },
  ars_readByOwner: { select: OWN, aggregate: OWN },
  ars_writeByOwner: { select: OWN, aggregate: OWN, insert: ALL, update: OWN, delete: OWN },
};

/** The grant of an entry of `dml`, or of a type's own access levels. */
export function entryGrant(entry: Value, capability: Capability): Grant {
  if (!isObject(entry) || !Object.hasOwn(entry, capability)) return null;
  const constraint = getOwn(entry, capability);
  if (!isObject(constraint)) return ALL;
  if (!isWrapped(capability, constraint)) return constraint;
  const wrapped = getOwn(constraint, 'qual');
  return isObject(wrapped) ? wrapped : ALL;
}

export function levelGrant(type: TypeDefinition, level: string, capability: Capability): Grant {
  if (Object.hasOwn(LEVELS, level)) return LEVELS[level]?.[capability] ?? null;
  return Object.hasOwn(type.accessLevels, level) ? entryGrant(getOwn(type.accessLevels, level), capability) : null;
}

/** The grant of a user-defined profile; for a type that it does not name, its entry `*` counts. */
function profileGrant(profile: ObjectValue | undefined, type: string, capability: Capability): Grant {
  const dml = profile && Object.hasOwn(profile, 'dml') ? getOwn(profile, 'dml') : null;
  if (!isObject(dml)) return null;
  const name = [type, '*'].find((one) => Object.hasOwn(dml, one));
  return name === undefined ? null : entryGrant(getOwn(dml, name), capability);
}

/**
 * The combined grants of a caller's profiles: each of several (those of a procedure, language.md P8) grants independently.
 * @returns where-objects, one of which must hold; an empty list: not granted
 */
export function grantsOf(space: Namespace, type: TypeDefinition, capability: Capability, caller: Identity): ObjectValue[] {
  if (isAdmin(caller)) return found([levelGrant(type, type.adminAccessLevel, capability)]);
  const isCustom = space.catalog.types.has(type.name);
  return found(
    localProfiles(caller).map((name) => {
      const profile = name === 'user' ? undefined : space.catalog.definitions.get('profiles', name);
      // `dml` does not cover the service's own types (7.2): any profile grants what `user` grants for them.
      if (name === 'user' || (profile && !isCustom)) return levelGrant(type, type.userAccessLevel, capability);
      return profileGrant(profile, type.name, capability);
    }),
  );
}

/** All constraints that profiles and the type's own access levels may put on its instances. */
export function* constraintsOn(space: Namespace, type: TypeDefinition): Iterable<ObjectValue> {
  for (const capability of CAPABILITIES) {
    const ofProfiles = space.catalog.definitions.list('profiles').map(([, profile]) => profileGrant(profile, type.name, capability));
    yield* found([...ofProfiles, ...Object.keys(type.accessLevels).map((level) => levelGrant(type, level, capability))]);
  }
}

const found = (grants: readonly Grant[]): ObjectValue[] => grants.filter((one) => one !== null);

/** Names of the caller's profiles of the namespace. */
const localProfiles = ({ profiles }: Identity): string[] => profiles.filter((name) => !name.endsWith('__system'));

/** The `dml` of a default profile, computed from the current access levels of the namespace's types. */
export function defaultDml(space: Namespace, profile: 'user' | 'admin'): ObjectValue {
  const entries = [...space.catalog.types.values()].map((type): [string, ObjectValue] => {
    const level = profile === 'admin' ? type.adminAccessLevel : type.userAccessLevel;
    const granted = CAPABILITIES.map((one) => [one, levelGrant(type, level, one)] as const).filter(([, grant]) => grant !== null);
    return [type.name, Object.fromEntries(granted.map(([one, grant]) => [one, isAll(grant) ? null : grant]))];
  });
  return Object.fromEntries(entries);
}

const isAll = (grant: Grant): boolean => grant !== null && Object.keys(grant).length === 0;
