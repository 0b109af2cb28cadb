// Runs as they went: what started them and what they were answered, so that they can be repeated to the same end and looked into
// (`cascade replay`). Those that failed are kept by themselves, others while a debug config of type `trace` asks for it.

import { createHash } from 'node:crypto';
import { type Document, Long, ObjectId } from 'mongodb';
import type { Write } from '../../runtime/transactions/index.ts';
import type { Recording } from '../../runtime/runs/index.ts';
import { openText, sealText } from '../../model/values/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

export const RECORDINGS = 'recordings';
/** Per namespace; the oldest go. */
const MOST = 1_000;
/** Made since the oldest went last: a storm of failures is known by its first ones. */
const made = new WeakMap<Namespace, number>();

/** What the texts of a recording are sealed for, where the namespace has a key. */
const PURPOSE = 'recording';

/** Of a run that an event started: it ends once. What others called may end more than once, when their caller's run is repeated. */
const idOf = (invocation: string): ObjectId => new ObjectId(createHash('sha256').update(invocation).digest().subarray(0, 12));

/** The write that keeps it, to go with the end of the run; none in a storm. */
export function recordingWrites(space: Namespace, { event, given, ...rest }: Recording): Write[] {
  const count = (made.get(space) ?? 0) + 1;
  made.set(space, count);
  if (count > MOST) return [];
  const { invocation, executable, steps, error } = rest;
  const { resource, name, map } = executable;
  const kept = event && { ...event, deliveries: undefined };
  const document: Document & { _id: ObjectId } = {
    _id: event ? idOf(invocation) : new ObjectId(),
    ars_version: Long.ONE,
    recordedAt: new Date(space.clock.now()),
    invocation,
    executable: { resource, name, ...(map === undefined ? {} : { map }), text: textOf(space, resource) },
    // All three may hold values of encrypted properties.
    ...(space.storage.cipher
      ? {
          event: event && { uuid: event.uuid },
          sealed: sealText(space.storage.cipher, JSON.stringify({ event: kept, given, steps }), PURPOSE, invocation),
        }
      : { event: kept, given, steps }),
    error,
  };
  return [{ collection: RECORDINGS, op: 'insert', document }];
}

/** The text that it has now, for a trace of its lines: whether the run had the same, the program tells. */
function textOf(space: Pick<Namespace, 'catalog'>, resource: string): string | null {
  const [, kind = '', ...name] = resource.split('/');
  const text = space.catalog.definitions.get(kind, name.join('/'))?.['ruleText'];
  return typeof text === 'string' ? text : null;
}

/** By the invocation or the uuid of the event; the youngest. */
export async function findRecording(space: Namespace, id: string): Promise<Document | null> {
  const [found] = await space.storage.db
    .collection(RECORDINGS)
    .find({ $or: [{ invocation: id }, { 'event.uuid': id }] })
    .sort({ recordedAt: -1, _id: -1 })
    .limit(1)
    .toArray();
  if (typeof found?.['sealed'] !== 'string') return found ?? null;
  const { sealed, ...open } = found;
  return { ...open, ...(JSON.parse(openText(space.storage.cipher, sealed, PURPOSE, String(found['invocation']))) as Document) };
}

export async function trimRecordings(space: Namespace): Promise<void> {
  made.delete(space);
  const collection = space.storage.db.collection(RECORDINGS);
  const [last] = await collection
    .find({}, { projection: { recordedAt: 1 } })
    .sort({ recordedAt: -1 })
    .skip(MOST)
    .limit(1)
    .toArray();
  if (last) await collection.deleteMany({ recordedAt: { $lte: last['recordedAt'] } });
}
