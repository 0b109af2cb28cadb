// Runs as they went: what started them and what they were answered, so that they can be repeated to the same end and looked into
// (`cascade replay`). Those that failed are kept by themselves, others while a debug config of type `trace` asks for it.

import { createHash } from 'node:crypto';
import { type Document, Long, ObjectId } from 'mongodb';
import type { Write } from '../commit/index.ts';
import type { Recording } from '../runs/index.ts';
import type { Namespace } from './types.ts';

export const RECORDINGS = 'recordings';
/** Per namespace; the oldest go. */
const MOST = 1_000;

const idOf = (invocation: string): ObjectId => new ObjectId(createHash('sha256').update(invocation).digest().subarray(0, 12));

/** The write that keeps it, to go with the end of the run. */
export function recordingWrite(space: Namespace, recording: Recording): Write {
  const { event, executable, ...rest } = recording;
  const { deliveries: _, ...kept } = event;
  const { resource, name, service, program, map, identity } = executable;
  const document: Document & { _id: ObjectId } = {
    _id: idOf(recording.invocation),
    ars_version: Long.ONE,
    namespace: space.name,
    recordedAt: new Date(space.clock.now()),
    ...rest,
    event: kept,
    executable: { resource, name, service, program, map, username: identity.username },
  };
  return { collection: RECORDINGS, op: 'insert', document };
}

/** By the invocation or the uuid of the event; the youngest. */
export async function findRecording(space: Namespace, id: string): Promise<Document | null> {
  const [found] = await space.db
    .collection(RECORDINGS)
    .find({ $or: [{ invocation: id }, { 'event.uuid': id }] })
    .sort({ recordedAt: -1 })
    .limit(1)
    .toArray();
  return found ?? null;
}

export async function trimRecordings(space: Namespace): Promise<void> {
  const collection = space.db.collection(RECORDINGS);
  const [last] = await collection
    .find({}, { projection: { recordedAt: 1 } })
    .sort({ recordedAt: -1 })
    .skip(MOST)
    .limit(1)
    .toArray();
  if (last) await collection.deleteMany({ recordedAt: { $lte: last['recordedAt'] } });
}
