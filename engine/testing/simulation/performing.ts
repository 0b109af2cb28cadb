// Carries out the requests of simulated programs by the statements of the service.

import { BSON, type Document } from 'mongodb';
import { apiError } from '../../../model/errors/api-errors.ts';
import { instanceFromBson } from '../../../model/values/index.ts';
import { instancesOf } from '../../../resources/catalog/catalogue.ts';
import type { InstanceResource, Namespace } from '../../../resources/catalog/types.ts';
import { computedIn, updateComputed } from '../../../resources/instances/computed-change.ts';
import { deleteMany } from '../../../resources/instances/delete.ts';
import { readById } from '../../../resources/instances/find.ts';
import { insertMany, insertOne } from '../../../resources/instances/insert.ts';
import { followedInstance } from '../../../resources/instances/pending-instances.ts';
import { selectRows } from '../../../resources/instances/select.ts';
import { updateOne } from '../../../resources/instances/update.ts';
import { updateMany } from '../../../resources/instances/update-many.ts';
import { upsertOne } from '../../../resources/instances/upsert.ts';
import { deliveriesOf } from '../../../features/delivery/namespace-state.ts';
import type { Actor } from '../../../runtime/context/actor.ts';
import { asyncCall, raise } from '../../../runtime/events/events.ts';
import type { Locks } from '../../../runtime/shared-state/locks.ts';
import { type Answer, attemptOf } from '../../../runtime/transactions/index.ts';
import { encodeInner, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { Request } from './sandbox.ts';

interface Asked {
  readonly space: Namespace;
  readonly locks: Locks;
  readonly type: string;
  readonly value: Value;
  readonly where: Value;
  /** The whole request. */
  readonly payload: ObjectValue;
  readonly actor: Actor;
}

type Perform = (asked: Asked) => Promise<Answer>;

export function perform(space: Namespace, locks: Locks, kind: string, payload: ObjectValue, actor: Actor): Promise<Answer> {
  const asked = {
    space,
    locks,
    type: String(payload['type']),
    value: payload['value'] ?? null,
    where: payload['where'] ?? {},
    payload,
    actor,
  };
  return PERFORMED[kind as Request['kind']](asked);
}

export function resourceOf(space: Namespace, name: string): InstanceResource {
  const type = space.catalog.types.get(name);
  if (!type) throw new Error(`no type ${name}`);
  return instancesOf(type);
}

export async function find({ storage: { db } }: Namespace, resource: InstanceResource, where: ObjectValue): Promise<ObjectValue> {
  const row = await db.collection(resource.collection).findOne(where);
  if (!row) throw apiError('cascade.resource.not.found', resource.name);
  return instanceFromBson(resource.type, BSON.serialize(row));
}

const changeTo =
  (value: Value) =>
  (stored: ObjectValue): ObjectValue => ({ ...stored, ...(value as ObjectValue) });

const NOTHING: Answer = { ok: 'null' };

const PERFORMED: Readonly<Record<Request['kind'], Perform>> = {
  async lock({ locks, type, actor }) {
    await locks.take(type, actor.state ?? { run: '' });
    return NOTHING;
  },
  async unlock({ locks, type, actor }) {
    locks.free(type, actor.state?.run ?? '');
    return NOTHING;
  },
  async publish({ space, type, value, actor }) {
    const events = raise(space, `/topics${type}/publish`, value, actor);
    if (events.length > 0) await actor.commit({ writes: [], events }, NOTHING);
    return NOTHING;
  },
  async async({ type, value, actor }) {
    await actor.commit({ writes: [], events: [asyncCall(type, [value], {}, actor)] }, NOTHING);
    return NOTHING;
  },
  async attempt({ actor }) {
    return { ok: String(actor.event ? attemptOf(actor.event.event) : 0) };
  },
  async ack({ space, actor }) {
    await deliveriesOf(space).acknowledgeRun(actor);
    return NOTHING;
  },
  insert: async ({ space, type, value, actor }) => ({ ok: encodeInner(await insertOne(space, resourceOf(space, type), value, actor)) }),
  insertMany: async ({ space, type, value, actor }) => ({
    ok: encodeInner(await insertMany(space, resourceOf(space, type), value as Value[], actor)),
  }),
  upsert: async ({ space, type, value, actor }) => ({ ok: encodeInner(await upsertOne(space, resourceOf(space, type), value, actor)) }),
  /** SELECT ONE. */
  async select({ space, type, where, payload, actor }) {
    const query = { where, props: null, orderBy: [], skip: 0, limit: 1, forChange: payload['forChange'] === true };
    const rows = await selectRows(space, resourceOf(space, type), query, actor);
    return { ok: rows[0] ?? 'null' };
  },
  /** Changes an instance by its `_id`. */
  async update({ space, type, value, where, payload, actor }) {
    const resource = resourceOf(space, type);
    const id = String((where as ObjectValue)['_id']);
    const computed = computedIn(payload);
    const change = changeTo(value);
    const shown = computed && (await updateComputed(space, resource, id, { values: value as ObjectValue, change, computed }, actor));
    if (shown) return { ok: encodeInner(shown.instance) };
    const found = async (): Promise<ObjectValue> => followedInstance(resource, id, actor) ?? readById(space, resource, id, actor);
    return { ok: encodeInner(await updateOne(space, resource, found, changeTo(value), actor)) };
  },
  async list({ space, type, where, actor }) {
    const resource = resourceOf(space, type);
    const found = await space.storage.db
      .collection(resource.collection)
      .find(where as Document)
      .toArray();
    const rows = found.map((row) => instanceFromBson(resource.type, BSON.serialize(row)));
    for (const row of rows) actor.readSet?.record(resource.collection, String(row['_id']), BigInt(row['ars_version'] as number));
    return { list: encodeInner(rows) };
  },
  deleteMany: async ({ space, type, where, actor }) => ({ ok: String(await deleteMany(space, resourceOf(space, type), where, actor)) }),
  updateMany: async ({ space, type, value, where, actor }) => ({
    ok: (await updateMany(space, resourceOf(space, type), where, changeTo(value), actor, null)) ?? 'null',
  }),
  async set({ space, type, value, where, actor }) {
    const resource = resourceOf(space, type);
    const found = () => find(space, resource, where as ObjectValue);
    return { ok: encodeInner(await updateOne(space, resource, found, changeTo(value), actor)) };
  },
  async read({ space, type, where, actor }) {
    const resource = resourceOf(space, type);
    for (;;) {
      const row = await find(space, resource, where as ObjectValue);
      const id = String(row['_id']);
      if ((await actor.readSet?.turn(resource.collection, [id])) === 'read again') continue;
      actor.readSet?.record(resource.collection, id, BigInt(row['ars_version'] as number));
      return { ok: encodeInner(row) };
    }
  },
};
