// Evaluates conditions on nodes (integrations.md 11.4), and shows nodes without their secrets.
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import { matches, parseWhere } from '../../model/query/index.ts';
import { systemType, type Namespace } from '../../resources/catalog/index.ts';

export const NODE_SHAPE = systemType(
  'ArsNode',
  { name: 'String', uri: 'String', username: 'String', credentialType: 'String', deliveryMode: 'String', properties: 'Object' },
  ['name'],
);
const SELF: ObjectValue = { name: 'self' };
/** The record of the installation itself, which each namespace has. */
export const SELF_RECORD: ObjectValue = {
  _id: 'ffffffffffffffffffffffff',
  name: 'self',
  deliveryMode: 'bestEffort',
  properties: {},
  ars_properties: {},
  ars_version: 1,
};

/**
 * Names of the nodes that satisfy a where-object, in order; `self` is included only where the condition names it.
 * @throws CascadeError for an invalid condition
 */
export function nodesThat(space: Namespace, where: Value, actor: Actor): string[] {
  const { username, namespace } = actor.identity;
  const predicate = parseWhere(where, NODE_SHAPE, { username, namespace, now: actor.clock.now() });
  const names = space.catalog.definitions
    .list('nodes')
    .filter(([name, node]) => name !== 'self' && matches(predicate, node))
    .map(([name]) => name);
  if (namesSelf(where) && matches(predicate, SELF)) names.push('self');
  return names.sort((a, b) => (a < b ? -1 : 1));
}

/** A caller for checks: nothing is evaluated, so it does not matter who asks. */
const ANYBODY = { username: '', namespace: '', now: 0 };

/** Why a where-object that is about to be stored is no condition on nodes; null: it is one. */
export function nodeConditionFault(where: ObjectValue): CascadeError | null {
  try {
    parseWhere(where, NODE_SHAPE, ANYBODY);
    return null;
  } catch (error) {
    if (error instanceof CascadeError) return error;
    throw error;
  }
}

/** Whether the condition has `self` as a value of `name`. */
function namesSelf(where: Value): boolean {
  if (Array.isArray(where)) return where.some(namesSelf);
  if (typeof where !== 'object' || where === null) return false;
  return Object.entries(where as ObjectValue).some(([key, value]) =>
    key === 'name' ? value === 'self' || JSON.stringify(value).includes('"self"') : namesSelf(value),
  );
}

/** A node without its secrets. */
export function shownNode(space: Namespace, name: string): ObjectValue {
  // A node that was deleted while a statement ran on it is none but itself.
  const stored = space.catalog.definitions.get('nodes', name) ?? (name === 'self' ? SELF_RECORD : { name });
  return Object.fromEntries(
    Object.keys(stored)
      .filter((field) => field !== 'sealed')
      .map((field) => [field, getOwn(stored, field)]),
  );
}
