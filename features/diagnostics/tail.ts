// Messages of programs for those who follow the log, in the order in which they are stored.
import { BSON } from 'mongodb';
import { instanceFromBson } from '../../model/values/index.ts';
import { LOGS_PATH } from '../../runtime/events/index.ts';
import type { LogEntry, StoredEvent } from '../../runtime/transactions/index.ts';
import { encodeInner } from '../../stdlib/values/index.ts';
import { LOGS } from './diagnostic-types.ts';

/** Each as an event that no rule waits for and nothing is stored of. */
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
