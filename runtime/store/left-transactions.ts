// A transaction whose client has died stays open at the store for a minute and more. Nobody can write meanwhile what it has written: not even what
// ends the journal of the dead process.

import { type Document, type MongoClient, MongoServerError } from 'mongodb';

/** Who may not look into sessions (a user with few rights) waits instead, as does who stands before a router of shards. */
const CANNOT_LOOK = new Set([13, 59, 40324]);

/**
 * Ends the transactions that are open for clients of these names.
 * @returns how many there were
 */
export async function endTransactionsOf(client: MongoClient, names: readonly string[]): Promise<number> {
  if (names.length === 0) return 0;
  const admin = client.db('admin');
  try {
    const theirs = { transaction: { $exists: true }, 'clientMetadata.application.name': { $in: [...names] } };
    const open = await admin.aggregate([{ $currentOp: { idleSessions: true } }, { $match: theirs }]).toArray();
    if (open.length > 0) await admin.command({ killSessions: open.map(({ lsid }) => ({ id: (lsid as Document)['id'] })) });
    return open.length;
  } catch (error) {
    if (error instanceof MongoServerError && CANNOT_LOOK.has(Number(error.code))) return 0;
    throw error;
  }
}
