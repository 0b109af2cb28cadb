// UPSERT into a type (resources-and-api.md 2.6, language.md 5.6).

import type { Document } from 'mongodb';
import { getOwn, isObject, type ObjectValue, setOwn, text, type Value } from '../../stdlib/values/index.ts';
import { type Actor, RestartRun } from '../../runtime/context/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { parseWhere, type Predicate, toFilter } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { coerceProperty } from '../../model/types/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { toStored } from '../scalars/index.ts';
import { idOf } from '../representation/index.ts';
import { read } from './find.ts';
import { both, restriction } from '../access/index.ts';
import { updated } from './in-pieces.ts';
import { insertStored } from './insert.ts';
import { keyText, upsertKeys } from './natural-key.ts';
import { StatementTurns, takesTurns } from '../turns.ts';
import { updateOne } from './update.ts';

const TRIES = 10;

/** Changes the instance that the body's key names, or inserts it. Gives it in its external form; null when a BEFORE rule cancelled it. */
export async function upsertOne(space: Namespace, resource: InstanceResource, body: Value, actor: Actor): Promise<ObjectValue | null> {
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  if (resource.guard?.insert) return resource.guard.insert(space, resource, body, actor, true);
  const stored = (await toStored(space, resource.type, resource.receive?.(body, actor, true) ?? body, actor)) as ObjectValue;
  const { predicate, described, key } = match(resource, stored);
  const visible = restriction(space, resource, 'select', actor);
  const filter = toFilter(visible ? both(predicate, visible) : predicate);
  const changes = without(stored, ['_id', 'ars_version']);
  using turns = new StatementTurns(space);
  // The BEFORE INSERT rules run for the one that inserts (language.md O8).
  if (takesTurns(space, resource, actor, 'insert')) await turns.enterForKey(resource, described);
  const readAgain = (instance: ObjectValue): RestartRun =>
    new RestartRun(`${resource.collection}/${idOf(instance)}`, key && `${resource.collection}/${key}`);
  for (let tries = 0; ; tries++) {
    const found = await read(space, resource, filter, 2);
    if (found.length > 0 && key !== null && actor.readSet?.expected(resource.collection, key) === 0n)
      throw readAgain(found[0] as ObjectValue);
    if (found.length > 1) throw await ambiguous(space, resource, filter, described);
    try {
      if (found.length === 0 && visible) await requireUntaken(space, resource, predicate);
      if (found.length === 0) return await insertStored(space, resource, changes, actor);
      let first: ObjectValue | undefined = found[0];
      const find = async (): Promise<ObjectValue> => {
        const stored = first ?? (await read(space, resource, filter, 1))[0];
        first = undefined;
        if (!stored) throw new Vanished();
        return stored;
      };
      return await updateOne(space, resource, find, (stored) => updated(space, resource.type, stored, changes), actor);
    } catch (error) {
      // The loser of two concurrent upserts of a new key continues as an update; in a rule that read the key before, the run restarts with
      // fresh reads.
      const lostKey = found.length === 0 && error instanceof CascadeError && error.code === 'cascade.resource.duplicate.key';
      if (!(error instanceof Vanished) && !lostKey) throw error;
      const [winner] = lostKey ? await read(space, resource, filter, 1) : [];
      if (lostKey && !winner) {
        if (visible) await requireUntaken(space, resource, predicate);
        throw error; // the duplicate key is another one
      }
      if (winner && actor.readSet) throw readAgain(winner);
      if (tries >= TRIES) throw error;
    }
  }
}

class Vanished extends Error {}

/** Bound of the instances that are counted for the error. */
const MOST_COUNTED = 1_000;

async function ambiguous(space: Namespace, resource: InstanceResource, filter: Document, described: string): Promise<CascadeError> {
  const count = await space.storage.rows.count(resource.collection, filter, { most: MOST_COUNTED });
  return apiError('cascade.upsert.ambiguous', resource.name, described, Math.max(count, 2)); // some may have gone meanwhile
}

/** An instance that is hidden from the caller can be neither changed nor inserted a second time. @throws cascade.authorization.denied */
async function requireUntaken(space: Namespace, resource: InstanceResource, predicate: Predicate): Promise<void> {
  const [hidden] = await read(space, resource, toFilter(predicate), 1);
  if (hidden) throw apiError('cascade.authorization.denied', 'upsert', resource.name);
}

/** The condition by which an UPSERT finds its instance: by the key as it would be stored, so that both round it alike. */
function match(resource: InstanceResource, body: ObjectValue): { predicate: Predicate; described: string; key: string | null } {
  const keys = upsertKeys(resource.type);
  const where: ObjectValue = {};
  const described: string[] = [];
  for (const key of keys) {
    const given = Object.hasOwn(body, key) ? getOwn(body, key) : null;
    if (given === null) throw apiError('cascade.upsert.key.missing', resource.name, keys.join(', '));
    const property = resource.type.properties.get(key);
    const value = property ? coerceProperty(resource.type, property, given) : given;
    setOwn(where, key, { $eq: value });
    described.push(`${key}=${text(value)}`);
  }
  const predicate = parseWhere(where, resource.type, { username: '', namespace: '', now: 0 });
  return { predicate, described: described.join(', '), key: keyText(predicate, resource.type) };
}

function without(body: ObjectValue, names: readonly string[]): ObjectValue {
  const rest: ObjectValue = {};
  for (const key of Object.keys(body)) if (!names.includes(key)) setOwn(rest, key, getOwn(body, key));
  return rest;
}
