// Which nodes a condition means (integrations.md 11.4), and what others see of one.
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { matches, parseWhere } from '../../model/query/index.ts';
import { systemType, type Namespace } from '../../resources/catalog/index.ts';

export const NODE_SHAPE = systemType(
  'ArsNode',
  { name: 'String', uri: 'String', username: 'String', credentialType: 'String', deliveryMode: 'String', properties: 'Object' },
  ['name'],
);
const SELF: ObjectValue = { name: 'self' };
/** The installation itself, as it stands in each namespace. */
export const SELF_RECORD: ObjectValue = {
  _id: 'ffffffffffffffffffffffff',
  name: 'self',
  deliveryMode: 'bestEffort',
  properties: {},
  ars_properties: {},
  ars_version: 1,
};

/**
 * Names of the nodes that satisfy a where-object, in order; `self` only where it is called by its name.
 * @throws CascadeError for a condition that is none
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

/** Whether `self` stands in the condition as the value of `name`. */
function namesSelf(where: Value): boolean {
  if (Array.isArray(where)) return where.some(namesSelf);
  if (typeof where !== 'object' || where === null) return false;
  return Object.entries(where as ObjectValue).some(([key, value]) =>
    key === 'name' ? value === 'self' || JSON.stringify(value).includes('"self"') : namesSelf(value),
  );
}

/** What may be read of a node: no secrets. */
export function shownNode(space: Namespace, name: string): ObjectValue {
  const stored = space.catalog.definitions.get('nodes', name) ?? SELF_RECORD;
  return Object.fromEntries(
    Object.keys(stored)
      .filter((field) => field !== 'sealed')
      .map((field) => [field, getOwn(stored, field)]),
  );
}
