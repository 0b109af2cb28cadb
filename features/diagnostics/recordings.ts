// Recordings of runs: the event that started a run and the answers to its requests, so that `cascade replay` can repeat it. Failed runs are
// always recorded, others while a debug config of type `trace` covers their rule.

import { createHash } from 'node:crypto';
import { type Document, Long, ObjectId } from 'mongodb';
import { type Removed, removeOldest } from '../../platform/mongo/index.ts';
import type { Write } from '../../runtime/transactions/index.ts';
import type { Recording } from '../../runtime/runs/index.ts';
import { openText, sealText } from '../../model/values/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

export const RECORDINGS = 'recordings';
/** Recordings per namespace; the oldest are removed. */
const MOST = 1_000;
/** Recordings since the last removal of old ones: when many runs fail, the first recordings suffice. */
const made = new WeakMap<Namespace, number>();

/** Purpose of sealed texts of a recording, where the namespace has a key. */
const PURPOSE = 'recording';

/** The id of a recording. A run that an event started ends once; a called run may end more often, when its caller is replayed. */
const idOf = (invocation: string): ObjectId => new ObjectId(createHash('sha256').update(invocation).digest().subarray(0, 12));

/** The write that stores the recording, for the unit that ends the run; none while there are too many. */
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
    // All three may contain values of encrypted properties.
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

/** The current text of the program, for a trace of its lines: replay checks whether the run had the same text. */
function textOf(space: Pick<Namespace, 'catalog'>, resource: string): string | null {
  const [, kind = '', ...name] = resource.split('/');
  const text = space.catalog.definitions.get(kind, name.join('/'))?.['ruleText'];
  return typeof text === 'string' ? text : null;
}

/** The newest recording with this invocation id or event uuid. */
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

/** Namespaces whose recordings have the index by time: without it the store would sort the recordings themselves. */
const indexed = new WeakSet<Namespace>();

/** Removes the oldest recordings beyond the bounds. Only the owner of a namespace calls it. */
export async function trimRecordings(space: Namespace, mostBytes: number): Promise<Removed> {
  made.delete(space);
  const collection = space.storage.db.collection(RECORDINGS);
  if (!indexed.has(space)) await collection.createIndex({ recordedAt: 1 });
  indexed.add(space);
  return removeOldest(collection, { order: 'recordedAt', time: 'recordedAt', since: new Date(0), mostRows: MOST, mostBytes });
}
