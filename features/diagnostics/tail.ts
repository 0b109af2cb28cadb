// Sends messages of programs to clients that follow the log, in the order of their storage.
import { BSON } from 'mongodb';
import { instanceFromBson } from '../../model/values/index.ts';
import { LOGS_PATH } from '../../runtime/events/index.ts';
import type { LogEntry, StoredEvent } from '../../runtime/transactions/index.ts';
import { encodeInner } from '../../stdlib/values/index.ts';
import { LOGS } from './diagnostic-types.ts';

/** Messages as events that no rule can listen on and that are not stored. */
export const eventsOf = (logs: readonly LogEntry[]): StoredEvent[] =>
  logs.map((entry) => ({
    uuid: entry._id.toHexString(),
    chain: { root: entry._id.toHexString(), depth: 0 },
    path: LOGS_PATH,
    value: encodeInner(instanceFromBson(LOGS.type, BSON.serialize(entry))),
    at: entry['timestamp'] as Date,
    by: String(entry['username']),
    runs: [],
  }));
