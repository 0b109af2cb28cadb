// A transaction whose client has died stays open at the store for a minute and more, and blocks writes to what it has written, also the row
// that closes the journal of the dead process.

import { type Document, type MongoClient, MongoServerError } from 'mongodb';
import { isUnavailable } from './errors.ts';

/** What is there now is asked of one server, whatever the connection's own concern. */
const LOCAL = { readConcern: { level: 'local' } } as const;

/**
 * Aborts the open transactions of clients with these names. Where the store does not permit that (a user with few rights, a router of
 * shards) they time out later.
 * @returns how many there were
 */
export async function abortTransactionsOf(client: MongoClient, names: readonly string[]): Promise<number> {
  if (names.length === 0) return 0;
  const admin = client.db('admin');
  try {
    const theirs = { transaction: { $exists: true }, 'clientMetadata.application.name': { $in: [...names] } };
    const open = await admin.aggregate([{ $currentOp: { idleSessions: true } }, { $match: theirs }], LOCAL).toArray();
    if (open.length > 0) await admin.command({ killSessions: open.map(({ lsid }) => ({ id: (lsid as Document)['id'] })) });
    return open.length;
  } catch (error) {
    if (error instanceof MongoServerError && !isUnavailable(error)) return 0;
    throw error;
  }
}
