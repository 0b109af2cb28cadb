// Profiles (resources-and-api.md 7.1): the rights of their users for the instances of each type, and for the namespace's definitions.

import { encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { CONSTRAINT_CONSTANTS, storedConstraint, isAdmin, isWithdrawn, mayInvoke, OF_ALL } from '../../resources/access/index.ts';
import { systemType, systemProperties, type DefinitionResource, type Namespace } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';
import { CAPABILITIES, defaultDml, entryGrant, grantsOf } from './grants.ts';

const SHAPE = systemType('ArsProfile', { name: 'String', dml: 'Object', invoke: 'Any', description: 'String' }, ['name']);
const NAME = /^[A-Za-z0-9_]{1,100}$/;
const DEFAULTS = ['user', 'admin'] as const;
const isDefault = (name: string): boolean => (DEFAULTS as readonly string[]).includes(name);

export const PROFILES: DefinitionResource = {
  kind: 'definitions',
  name: 'profiles',
  systemType: 'ArsProfile',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: 'update',
  audited: true,
  type: SHAPE,
  builtIn: (space) => new Map(DEFAULTS.map((name, at) => [name, defaultProfile(space, name, at)])),
  refuseBuiltIn: (name) => apiError('cascade.profile.immutable', name),
  async define(space, body, _stored, { identity }) {
    const name = textField('profiles', body, 'name');
    if (isDefault(name)) throw apiError('cascade.profile.immutable', name);
    if (!NAME.test(name) || name.endsWith('__system'))
      throw apiError('cascade.resource.name.invalid', name, 'letters, digits and _ are expected, and no __system at the end');
    const fields = checkFields(PROFILES, { ...body, invoke: null }, 'refused');
    const dml = await dmlOf(space, own(body, 'dml'));
    const invoke = invokeOf(own(body, 'invoke'));
    if (!isAdmin(identity)) requireCovered(space, dml, invoke, identity);
    const settle = (): Promise<void> => space.states.get(CONSTRAINT_CONSTANTS).settle(space);
    return { name, object: { ...fields, dml, invoke }, apply: () => undefined, settle };
  },
  async remove(space, stored) {
    const name = String(getOwn(stored, 'name'));
    const { directory } = space.installation;
    const user = (await directory.users(space.name)).find(({ profiles }) => profiles.includes(name));
    if (user) throw apiError('cascade.profile.in.use', name, user.username);
    const token = (await directory.tokens(space.name)).find(({ profiles }) => profiles.includes(name));
    if (token) throw apiError('cascade.profile.in.use', name, token.name);
    return { apply: () => undefined };
  },
};

const own = (object: ObjectValue, name: string): Value => (Object.hasOwn(object, name) ? getOwn(object, name) : null);

/** A default profile. Its id is below all others, so that default profiles are listed first. */
function defaultProfile(space: Namespace, name: (typeof DEFAULTS)[number], at: number): ObjectValue {
  const invoke: ObjectValue = { executeProcedure: true, publish: true };
  return { _id: (at + 1).toString(16).padStart(24, '0'), name, dml: defaultDml(space, name), invoke, ...systemProperties };
}

/** Checks `dml`; it may name types that do not exist yet. @throws cascade.profile.constraint.invalid */
async function dmlOf(space: Namespace, given: Value): Promise<ObjectValue> {
  if (given === null) return {};
  if (!isObject(given)) throw invalidField('profiles', 'dml', 'no Object');
  const dml: ObjectValue = {};
  for (const type of Object.keys(given)) {
    const entry = getOwn(given, type);
    if (!isObject(entry)) throw apiError('cascade.profile.constraint.invalid', 'profiles', `dml.${type}`, 'no Object', null);
    const stored: ObjectValue = {};
    for (const operation of Object.keys(entry)) {
      const place = { resource: 'profiles', path: `dml.${type}.${operation}` };
      const named = space.catalog.types.get(type) ?? null;
      setOwn(stored, operation, await storedConstraint(space, named, place, operation, getOwn(entry, operation)));
    }
    setOwn(dml, type, stored);
  }
  return dml;
}

/** Converts both accepted forms of `invoke` to the stored one, an Object. */
function invokeOf(given: Value): ObjectValue {
  if (given === null) return {};
  const invoke: ObjectValue = {};
  if (Array.isArray(given)) {
    for (const name of given) {
      if (typeof name !== 'string') throw invalidField('profiles', 'invoke', 'no array of String');
      setOwn(invoke, name, true);
    }
    return invoke;
  }
  if (!isObject(given)) throw invalidField('profiles', 'invoke', 'neither an array of String nor an Object of Booleans');
  for (const name of Object.keys(given)) {
    const granted = getOwn(given, name);
    if (typeof granted !== 'boolean') throw invalidField('profiles', `invoke.${name}`, 'no Boolean');
    setOwn(invoke, name, granted);
  }
  return invoke;
}

/**
 * A user who is no admin may write only profiles that grant no more than its own: with no constraint of its own, or with the identical one.
 * @throws cascade.profile.escalation
 */
function requireCovered(space: Namespace, dml: ObjectValue, invoke: ObjectValue, caller: Identity): void {
  for (const name of Object.keys(dml)) {
    const type = space.catalog.types.get(name);
    for (const capability of CAPABILITIES) {
      const asked = entryGrant(getOwn(dml, name), capability);
      if (asked === null) continue;
      const had = type ? grantsOf(space, type, capability, caller) : [];
      if (!had.some((grant) => Object.keys(grant).length === 0 || encodeInner(grant) === encodeInner(asked)))
        throw apiError('cascade.profile.escalation', `dml.${name}.${capability}`);
    }
  }
  const named = Object.keys(invoke).filter((name) => !OF_ALL.includes(name));
  const grants = named.filter((name) => getOwn(invoke, name) === true && !mayInvoke(space, name, caller));
  // What all have is granted by a profile that says nothing of it, too.
  const gives = OF_ALL.filter(
    (name) => (Object.hasOwn(invoke, name) ? getOwn(invoke, name) : null) !== false && isWithdrawn(space, name, caller),
  );
  for (const name of [...grants, ...gives]) throw apiError('cascade.profile.escalation', `invoke.${name}`);
}
