// Dead letters (integrations.md 12.4): events that were given up, stored for a week with the reason, for users to read, retry or delete.
// The whole event is stored beside the visible part, so that an event with a shortened value can still be retried.

import type { Long } from 'mongodb';
import { type Document } from 'mongodb';
import { type Removed, removeOldest } from '../../platform/mongo/index.ts';
import { cutText, DateTime, decodeInner, encodeInner, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type StoredEvent, type UnitOfWork, withEventTexts } from '../../runtime/transactions/index.ts';
import { instanceToBson, openText, sealText } from '../../model/values/index.ts';
import { omit, type Namespace } from '../../resources/catalog/index.ts';
import { ACKNOWLEDGEMENTS, DEAD_LETTERS } from './delivery-types.ts';
import { raise, storedMembersIn, withStoredMembers } from '../../runtime/events/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import { stampNew } from '../../resources/representation/index.ts';

export type DeadReason = 'ttl' | 'poison' | 'outbox' | 'chain' | 'lost';

export const DEAD_LETTER_PATH = '/types/system.deadletters/insert';
const LONGEST_VALUE = 256 * 1024;
/** Limit for the stored event, since a document of the store holds 16 MiB: a longer event is listed, but cannot be retried. */
const LONGEST_KEPT_BYTES = 15 * 1024 * 1024;
const KEPT_MS = 7 * 86_400_000;
const MOST = 10_000;
const MOST_ACKNOWLEDGEMENTS = 100_000;
/** Purpose of the sealed event, where the namespace has a key. */
const KEPT = 'dead letter';

export interface Dead {
  readonly event: StoredEvent;
  /** `/rules/<name>`, `/procedures/<name>`, or the name of a subscription. */
  readonly target: string;
  readonly reason: DeadReason;
  /** Null where the rule has not failed: only the time to live has expired. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** How often the event was delivered to the target, including the last delivery. */
  readonly deliveries: number;
}

/** The stored parts of the event with which it can be retried. */
export type KeptEvent = Pick<StoredEvent, 'uuid' | 'path' | 'value' | 'at' | 'by' | 'sequence' | 'transport'>;

/** As they stand in the store. */
interface Kept extends KeptEvent {
  /** The members of an instance that are stored in another form than the event shows, by which the rights to a retry are decided. */
  readonly stored?: string;
}

/**
 * The unit of work that stores a dead letter; empty for rules that listen on dead letters, which would otherwise cause endless dead
 * letters.
 * @param actor whose chain of rules the event of the dead letter continues; by default it begins one
 */
export function deadLetter(space: Namespace, dead: Dead, actor: Actor = serviceActor(space)): Pick<UnitOfWork, 'writes' | 'events'> {
  if (dead.event.path === DEAD_LETTER_PATH || completesOnDeadLetters(space, dead.event.path)) return { writes: [], events: [] };
  const { uuid, path, value, at, by, sequence, transport } = dead.event;
  const open = withoutEncrypted(space, path, value);
  const truncated = open.length > LONGEST_VALUE;
  const now = new DateTime(space.clock.now());
  const shown: Value = truncated ? cutText(open, LONGEST_VALUE) : decodeInner(open);
  const instance: ObjectValue = {
    event: { uuid, path, value: shown, createdAt: new DateTime(at.getTime()) },
    target: dead.target,
    reason: dead.reason,
    error: dead.error && { code: dead.error.code, message: dead.error.message },
    deliveries: dead.deliveries,
    firstAt: new DateTime(at.getTime()),
    lastAt: now,
    ...(truncated ? { truncated } : {}),
  };
  const stamped = stampNew(instance, actor);
  const document = instanceToBson(DEAD_LETTERS.type, stamped) as Document & { _id: never };
  const seal = (text: string): string => sealText(space.storage.cipher, text, KEPT, uuid);
  const kept = seal(value);
  const members = storedMembersIn(dead.event);
  const stored = members && seal(encodeInner(members));
  if (Buffer.byteLength(kept) + Buffer.byteLength(stored ?? '') <= LONGEST_KEPT_BYTES)
    document['kept'] = {
      uuid,
      path,
      value: kept,
      at,
      by,
      ...(sequence && { sequence }),
      ...(transport && { transport: { ...transport, properties: seal(transport.properties) } }),
      ...(stored !== undefined && { stored }),
    } satisfies Kept;
  return {
    writes: [{ collection: DEAD_LETTERS.collection, op: 'insert', document }],
    events: raise(space, DEAD_LETTER_PATH, stamped, actor),
  };
}

/** Whether an event is what completed a rule over several events, of which one may have been a dead letter. */
function completesOnDeadLetters(space: Namespace, path: string): boolean {
  const rule = path.startsWith('/rules/') ? space.catalog.definitions.get('rules', path.slice('/rules/'.length)) : undefined;
  const triggers = rule?.['triggers'];
  return Array.isArray(triggers) && triggers.some((trigger) => (trigger as ObjectValue)['path'] === DEAD_LETTER_PATH);
}

/** The value of an event as the dead letter shows it: properties that are encrypted at rest are not readable here. */
function withoutEncrypted(space: Namespace, path: string, value: string): string {
  const type = space.catalog.types.get(/^\/types\/([^/]+)\//.exec(path)?.[1] ?? '');
  const secrets = [...(type?.properties.values() ?? [])].filter(({ encrypted }) => encrypted).map(({ name }) => name);
  if (secrets.length === 0) return value;
  const instance = decodeInner(value);
  return isObject(instance) ? encodeInner(omit(instance, secrets)) : value;
}

/**
 * Removes dead letters and acknowledgements that are older than a week, and the oldest beyond the bounds, without raising events
 * (integrations.md 12.4). Only the owner of a namespace calls it.
 */
export async function trimDeliveryRecords({ storage: { db }, clock }: Namespace, mostBytes: number): Promise<{ deadLetters: Removed }> {
  const kept = { order: '_id', time: 'ars_createdAt', since: new Date(clock.now() - KEPT_MS), mostBytes };
  await removeOldest(db.collection(ACKNOWLEDGEMENTS.collection), { ...kept, mostRows: MOST_ACKNOWLEDGEMENTS });
  return { deadLetters: await removeOldest(db.collection(DEAD_LETTERS.collection), { ...kept, mostRows: MOST }) };
}

export interface StoredDeadLetter {
  readonly target: string;
  readonly deliveries: number;
  readonly version: bigint;
  /** Null where the event was too long to store. */
  readonly kept: KeptEvent | null;
}

/** The event that a stored dead letter holds. */
export function keptIn({ storage: { cipher } }: Namespace, stored: Document): KeptEvent | null {
  if (!stored['kept']) return null;
  const { stored: members, ...kept } = stored['kept'] as Kept;
  const open = (text: string): string => openText(cipher, text, KEPT, kept.uuid);
  const event = withEventTexts(kept, open);
  return members === undefined ? event : withStoredMembers(event, decodeInner(open(members)) as ObjectValue);
}

export async function readDeadLetter(space: Namespace, id: Document['_id']): Promise<StoredDeadLetter | null> {
  const found = await space.storage.db.collection(DEAD_LETTERS.collection).findOne({ _id: id }, { promoteLongs: false });
  if (!found) return null;
  return {
    target: String(found['target']),
    deliveries: Number(found['deliveries']),
    version: (found['ars_version'] as Long).toBigInt(),
    kept: keptIn(space, found),
  };
}
