// The stored form of a delivery: one for each target (rule or persistent subscription) that has not acknowledged an event. Computes times
// and documents only; due.ts acts on them. Where the namespace has a key, the texts of the event are sealed: each may hold values of encrypted
// properties.

import { createHash } from 'node:crypto';
import { type Document, Long, ObjectId } from 'mongodb';
import { type StoredEvent, type UnitOfWork, withEventTexts, type Write } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Cipher } from '../../model/types/index.ts';
import { openText, sealText } from '../../model/values/index.ts';
import type { LastError } from './last-errors.ts';

export const DELIVERIES = 'deliveries';

/** The last time of a Date: what is to be kept for longer is kept until then. */
const LAST_MS = 8.64e15;

/** The first deliveries follow at the configured interval; from the next on it doubles (integrations.md 12.3). */
const AT_CONFIGURED_INTERVAL = 5;
const LONGEST_INTERVAL = 10;

export interface Reliability {
  readonly frequencyMs: number;
  readonly ttlMs: number;
}

export interface Delivery {
  readonly _id: ObjectId;
  readonly ars_version: Long;
  /** `/rules/<name>`, or the name of a subscription. */
  readonly target: string;
  readonly event: Pick<StoredEvent, 'uuid' | 'path' | 'value' | 'at' | 'by' | 'chain' | 'sequence' | 'transport'>;
  /** How often it was sent or run. */
  readonly attempts: number;
  readonly nextAt: Date;
  readonly deadline: Date;
  readonly frequencyMs: number;
  /** With which the rule has ended last, before the last delivery. */
  readonly error?: LastError;
  /** Of one that was read: what its texts are sealed as, so that they need not be sealed anew. It is not stored. */
  readonly sealedTexts?: ReadonlyMap<string, string>;
}

/** The interval between the n-th delivery of an event and the next. */
export const intervalMs = (frequencyMs: number, deliveries: number): number =>
  frequencyMs * Math.min(LONGEST_INTERVAL, 2 ** Math.max(0, deliveries - AT_CONFIGURED_INTERVAL));

/** The id follows from event and target, so that a delivery is found without a query. */
export function deliveryId(target: string, { uuid, sequence }: Pick<StoredEvent, 'uuid' | 'sequence'>): ObjectId {
  return target.startsWith('/')
    ? idOf(`${target}\n${uuid}`)
    : sequenceDeliveryId(target, sequence?.partitionId ?? 0, sequence?.sequenceId ?? 0);
}

export const sequenceDeliveryId = (subscription: string, partitionId: number, sequenceId: number): ObjectId =>
  idOf(`${subscription}\n${partitionId}\n${sequenceId}`);

const idOf = (text: string): ObjectId => new ObjectId(createHash('sha256').update(text).digest().subarray(0, 12));

/** @param attempts 1 where the event is delivered right after the commit, 0 where no receiver is connected */
export function newDelivery(
  event: StoredEvent,
  target: string,
  { frequencyMs, ttlMs }: Reliability,
  now: number,
  attempts: number,
): Delivery {
  const { uuid, path, value, at, by, chain, sequence, transport } = event;
  return {
    _id: deliveryId(target, event),
    ars_version: Long.ONE,
    target,
    event: { uuid, path, value, at, by, chain, ...(sequence && { sequence }), ...(transport && { transport }) },
    attempts,
    nextAt: new Date(now + frequencyMs),
    deadline: new Date(Math.min(now + ttlMs, LAST_MS)),
    frequencyMs,
  };
}

/** A document of the store holds 16 MiB. A sealed text is a third longer. */
const MOST_BYTES = 15 * 1024 * 1024;
const MOST_SEALED_BYTES = 11 * 1024 * 1024;

/** @throws cascade.resource.too.large for an event that is too long to be stored until it is acknowledged */
export function requireKeepable({ value }: Pick<StoredEvent, 'value'>, cipher: Cipher | null): void {
  const most = cipher ? MOST_SEALED_BYTES : MOST_BYTES;
  if (value.length * 3 > most && Buffer.byteLength(value) > most) throw apiError('cascade.resource.too.large', most);
}

/** The texts of one event are sealed once, for all its deliveries. */
export function insertions(deliveries: readonly Delivery[], cipher: Cipher | null): Write[] {
  const texts = new Map<string, string>();
  return deliveries.map((delivery): Write => {
    const document = sealed(delivery, (text, id) => {
      const known = texts.get(text) ?? sealText(cipher, text, PURPOSE, id);
      texts.set(text, known);
      return known;
    });
    return {
      collection: DELIVERIES,
      op: 'insert',
      document: document as Document as never,
      mostBytes: 3 * textOf(document) + BESIDES_TEXT_BYTES,
    };
  });
}

/** Purpose of the sealed texts. */
const PURPOSE = 'delivery';

const sealed = ({ sealedTexts, ...delivery }: Delivery, seal: (text: string, id: string) => string): Delivery => ({
  ...delivery,
  event: withEventTexts(delivery.event, (text, id) => sealedTexts?.get(text) ?? seal(text, id)),
});

/** Allowance for the other members of a delivery: its target, names, a path. */
const BESIDES_TEXT_BYTES = 16_384;
const textOf = ({ event }: Delivery): number => event.value.length + (event.transport?.properties.length ?? 0) + event.path.length;

export const removal = ({ _id, ars_version }: Delivery): Write => ({
  collection: DELIVERIES,
  op: 'delete',
  id: _id,
  version: ars_version.toBigInt(),
});

type Continuation = Partial<Pick<Delivery, 'attempts' | 'nextAt' | 'error'>>;

/** The writes that continue a delivery, perhaps for another version of its rule. */
export function continued(delivery: Delivery, target: string, change: Continuation, cipher: Cipher | null): Write[] {
  if (target === delivery.target) return [replacement(delivery, change, cipher)];
  const _id = deliveryId(target, delivery.event);
  return [removal(delivery), ...insertions([{ ...delivery, ...change, _id, ars_version: Long.ONE, target }], cipher)];
}

function replacement(delivery: Delivery, change: Continuation, cipher: Cipher | null): Write {
  const { _id, ars_version, ...rest } = sealed(delivery, (text, id) => sealText(cipher, text, PURPOSE, id));
  const document = { ...rest, ...change, ars_version: ars_version.add(1) };
  return { collection: DELIVERIES, op: 'replace', id: _id, version: ars_version.toBigInt(), document, bytes: textOf(delivery) };
}

/** The unit that changes a delivery of the same target. */
export const replacing = (delivery: Delivery, change: Continuation, cipher: Cipher | null): UnitOfWork => ({
  writes: [replacement(delivery, change, cipher)],
  events: [],
});

/** The given time, or the deadline of the delivery where that is earlier. */
export const untilDeadline = ({ deadline }: Delivery, at: number): Date => new Date(Math.min(at, deadline.getTime()));

/** A delivery that was read without `promoteLongs`: its numbers are converted, but for the version, which stays exact, and its texts opened. */
export function fromStored(delivery: Delivery, cipher: Cipher | null): Delivery {
  const sealedTexts = new Map<string, string>();
  const event = withEventTexts(delivery.event, (stored, id) => {
    const text = openText(cipher, stored, PURPOSE, id);
    if (text !== stored) sealedTexts.set(text, stored); // else it is of before there was a key
    return text;
  });
  const { sequence, chain } = event;
  return {
    ...delivery,
    sealedTexts,
    attempts: Number(delivery.attempts),
    frequencyMs: Number(delivery.frequencyMs),
    event: {
      ...event,
      chain: { ...chain, depth: Number(chain.depth) },
      ...(sequence && { sequence: { partitionId: Number(sequence.partitionId), sequenceId: Number(sequence.sequenceId) } }),
    },
  };
}
