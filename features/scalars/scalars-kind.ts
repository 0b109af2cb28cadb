// Scalars (resources-and-api.md 4.2): a name for a base type with procedures that convert and compare its values; resources/scalars calls
// these.

import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import {
  BASE_TYPES,
  type BaseType,
  checkName,
  checkTypeChange,
  compareTypes,
  fieldsOf,
  parseType,
  SCALAR_ACTIONS,
  type ScalarAction,
  type ScalarDefinition,
  type TypeDefinition,
} from '../../model/types/index.ts';
import { SCALAR_SHAPE, type DefinitionResource, storedNames, type Namespace, type DefinitionStore } from '../../resources/catalog/index.ts';
import { CONSTRAINT_CONSTANTS } from '../../resources/access/index.ts';
import { checkFields, invalidField, textField } from '../../resources/definitions/index.ts';

const MOST_SCALE = 30;
const PARAMETERS: Readonly<Record<ScalarAction, number>> = { toInternal: 1, toExternal: 1, toConstraint: 1, comparator: 2 };

export const SCALARS: DefinitionResource = {
  kind: 'definitions',
  name: 'scalars',
  systemType: 'ArsScalar',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: 'update',
  type: SCALAR_SHAPE,
  foresee(_space, object) {
    const scalar = scalarIn(object);
    return (there) => void there.catalog.scalars.set(scalar.name, scalar);
  },
  enforce: (space, name, object) => followScalar(space, name, object),
  async define(space, body, stored) {
    const name = textField('scalars', body, 'name');
    checkName('scalar', name);
    if ((BASE_TYPES as readonly string[]).includes(name)) throw apiError('cascade.resource.name.reserved', name, 'a base type');
    if (space.catalog.types.has(name)) throw apiError('cascade.resource.name.reserved', name, 'a type');
    const baseType = textField('scalars', body, 'baseType');
    if (!(BASE_TYPES as readonly string[]).includes(baseType)) throw invalidField('scalars', 'baseType', 'no base type');
    if (stored && getOwn(stored, 'baseType') !== baseType) throw apiError('cascade.resource.key.immutable', 'scalars', 'baseType');
    const object = withoutNulls(checkFields(SCALARS, body, 'refused'));
    const scalar = scalarIn(object);
    for (const action of SCALAR_ACTIONS) checkProcedure(space, scalar, action);
    const users = await checkedUsers(space, scalar);
    return {
      name,
      object,
      prepare: async () => {
        if (!space.catalog.announced) await space.states.get(CONSTRAINT_CONSTANTS).foresee(space, space, users);
      },
      apply: (after) => followScalar(space, name, after),
      settle: () => space.states.get(CONSTRAINT_CONSTANTS).settle(space),
    };
  },
  async remove(space, stored, _actor, leaving) {
    const name = String(getOwn(stored, 'name'));
    const user = usersOf(space, name).find((type) => !leaving?.has(`/types/${type.name}`));
    if (user) throw apiError('cascade.scalar.in.use', name, user.name);
    return { apply: () => space.catalog.scalars.delete(name) };
  },
};

export function loadScalars(definitions: DefinitionStore): Map<string, ScalarDefinition> {
  return new Map(definitions.list('scalars').map(([name, object]) => [name, scalarIn(object)]));
}

/** Applies a scalar that has been stored or removed (null), and the types that use it, as they are stored now. */
export function followScalar(space: Namespace, name: string, object: ObjectValue | null): void {
  if (!object) return void space.catalog.scalars.delete(name);
  space.catalog.scalars.set(name, scalarIn(object));
  for (const { name: type } of usersOf(space, name)) {
    const stored = space.catalog.definitions.get('types', type);
    if (!stored) continue;
    space.catalog.types.set(type, parseType(stored, storedNames(space), { collection: space.catalog.definitions.collectionOf(stored) }));
    space.events.when.retype(type);
    space.events.before.retype(type);
    space.events.correlations.retype(type);
  }
}

/** Removes nulls, which mean "not set", as in exported files. */
function withoutNulls(object: ObjectValue): ObjectValue {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

function scalarIn(object: ObjectValue): ScalarDefinition {
  const fields = fieldsOf('scalars', object);
  const maxLength = fields.integer('maxLength', 0, Number.MAX_SAFE_INTEGER, undefined);
  const scale = fields.integer('scale', 0, MOST_SCALE, undefined);
  const actions = SCALAR_ACTIONS.map((action): [string, Value] => [action, fields.text(action)]).filter(([, name]) => name !== null);
  return {
    name: String(getOwn(object, 'name')),
    baseType: getOwn(object, 'baseType') as BaseType,
    ...(maxLength !== undefined && { maxLength }),
    ...(scale !== undefined && { scale }),
    ...(Object.fromEntries(actions) as Partial<Record<ScalarAction, string>>),
  };
}

/** Checks that the procedure exists, may be called from outside its service, and has the required number of parameters. */
function checkProcedure(space: Namespace, scalar: ScalarDefinition, action: ScalarAction): void {
  const name = scalar[action];
  if (name === undefined) return;
  const procedure = space.catalog.definitions.get('procedures', name);
  if (!procedure) throw apiError('cascade.scalar.procedure.missing', scalar.name, action);
  const parameters = getOwn(procedure, 'parameters');
  const count = Array.isArray(parameters) ? parameters.length : 0;
  if (count !== PARAMETERS[action] || getOwn(procedure, 'visibility') === 'PRIVATE')
    throw apiError('cascade.scalar.procedure.signature', scalar.name, action);
}

/** The types with a property of this scalar. */
function usersOf(space: Namespace, scalar: string): TypeDefinition[] {
  return [...space.catalog.types.values()].filter((type) =>
    [...type.properties.values()].some(({ scalar: used }) => used?.name === scalar),
  );
}

/**
 * The types that use the scalar, with its new definition.
 * @throws type.change.incompatible when that does not fit existing instances of one
 */
async function checkedUsers(space: Namespace, scalar: ScalarDefinition): Promise<TypeDefinition[]> {
  const users: TypeDefinition[] = [];
  const known = { ...storedNames(space), scalars: new Map([...space.catalog.scalars, [scalar.name, scalar] as const]) };
  for (const before of usersOf(space, scalar.name)) {
    const stored = space.catalog.definitions.get('types', before.name) as ObjectValue;
    const after = parseType(stored, known, { collection: before.collection });
    users.push(after);
    const change = compareTypes(before, after);
    if (change.needsEmpty.length > 0)
      checkTypeChange(
        before.name,
        change,
        (await space.storage.db.collection(before.collection).findOne({}, { projection: { _id: 1 } })) !== null,
      );
  }
  return users;
}
