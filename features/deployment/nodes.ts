// PROCESSED BY as far as an installation without federation can carry it out (language.md 7): no node is registered, so a constraint
// matches none. `self` is there by its name only, and a statement on it is refused.
import { CascadeError } from '../../stdlib/errors.ts';
import { type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import { matches, parseWhere } from '../../model/query/index.ts';
import { fault } from '../../model/errors/faults.ts';
import { systemType } from '../../resources/catalog/system-type.ts';
import type { Namespace } from '../../resources/catalog/types.ts';

export const NODE_SHAPE = systemType(
  'ArsNode',
  { name: 'String', uri: 'String', username: 'String', credentialType: 'String', deliveryMode: 'String', properties: 'Object' },
  ['name'],
);
const SELF: ObjectValue = { name: 'self' };

/**
 * Returns when no node matches and none is needed.
 * @throws CascadeError cascade.federation.nodes, cascade.federation.statement.unsupported, and what a wrong constraint gives
 */
export function checkNodes(space: Namespace, where: Value, cardinality: Value, actor: Actor): void {
  const { username, namespace } = actor.identity;
  const predicate = parseWhere(where, NODE_SHAPE, { username, namespace, now: actor.clock.now() });
  if (namesSelf(where) && matches(predicate, SELF))
    throw new CascadeError(
      'cascade.federation.statement.unsupported',
      'PROCESSED BY cannot be run by this version.',
      [1, 1, 'PROCESSED BY'],
      400,
    );
  if (cardinality === 'atLeastOne') throw fault('cascade.federation.nodes', 0, 'at least 1');
  if (cardinality === 'exactlyOne') throw fault('cascade.federation.nodes', 0, '1');
  space.log.debug({ namespace: space.name }, 'PROCESSED BY found no node');
}

/** `self` is never matched by ALL or a condition on properties, only by its name (integrations.md 11.1). */
const namesSelf = (where: Value): boolean => JSON.stringify(where).includes('"self"');
