// The system properties that the service sets (resources-and-api.md 1.3).

import { DateTime, getOwn, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor, Initiator } from '../../runtime/context/index.ts';
import { isServiceSet, newId } from '../../model/types/index.ts';

/** A new instance: the properties of a checked one (so none is called `__proto__`), with fresh system properties. */
export function stampNew(instance: ObjectValue, actor: Pick<Initiator, 'identity' | 'clock'>): ObjectValue {
  const stamped: ObjectValue = {};
  stamped['_id'] = newId();
  for (const key in instance) if (!isServiceSet(key)) stamped[key] = instance[key] as Value;
  stamped['ars_namespace'] = actor.identity.namespace;
  stamped['ars_version'] = 1;
  stamped['ars_createdAt'] = new DateTime(actor.clock.now());
  stamped['ars_createdBy'] = actor.identity.username;
  return stamped;
}

/** A changed instance: with the stored one's system properties, and the version one higher. */
export function stampChanged(instance: ObjectValue, stored: ObjectValue, actor: Actor): ObjectValue {
  const stamped: ObjectValue = { _id: getOwn(stored, '_id') };
  for (const key of Object.keys(instance)) if (!isServiceSet(key)) setOwn(stamped, key, getOwn(instance, key));
  for (const key of ['ars_namespace', 'ars_createdAt', 'ars_createdBy'])
    if (Object.hasOwn(stored, key)) setOwn(stamped, key, getOwn(stored, key));
  if (actor.takesOver !== undefined && stamped['ars_createdBy'] === actor.takesOver) stamped['ars_createdBy'] = actor.identity.username;
  stamped['ars_version'] = Number(versionOf(stored) + 1n);
  stamped['ars_modifiedAt'] = new DateTime(actor.clock.now());
  stamped['ars_modifiedBy'] = actor.identity.username;
  return stamped;
}

/** The user who stored it last; null where it is not stored. */
export function editorOf(stored: ObjectValue | undefined): string | null {
  const named = (name: string): Value => (stored && Object.hasOwn(stored, name) ? getOwn(stored, name) : null);
  const editor = named('ars_modifiedBy') ?? named('ars_createdBy');
  return editor === null ? null : String(editor);
}

export function versionOf(instance: ObjectValue): bigint {
  const version: Value = getOwn(instance, 'ars_version');
  return typeof version === 'number' || typeof version === 'bigint' ? BigInt(version) : 0n;
}

export const idOf = (instance: ObjectValue): string => String(getOwn(instance, '_id'));
