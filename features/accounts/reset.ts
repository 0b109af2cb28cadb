// Sets a new password for an account that nobody can log in to, from outside the service; audited in the same transaction, in the user's
// namespace.
import { openDirectory, openIdentity } from '../../identity/index.ts';
import { systemClock } from '../../platform/clock/index.ts';
import type { Store } from '../../platform/mongo/index.ts';
import { AUDITS, auditWrite, newAudit } from '../../resources/access/index.ts';

const INSTALLATION = 'system';

/**
 * @param operator the user of the operating system who does it
 * @throws user.not.found, user.password.weak
 */
export async function resetAccount(
  store: Pick<Store, 'installation' | 'namespace'>,
  username: string,
  password: string,
  operator: string,
): Promise<void> {
  const user = await openDirectory(store.installation).user(username, null);
  const node = await store.installation.collection<{ _id: string; uuid: string }>('installation').findOne({ _id: 'node' });
  const initiator = {
    identity: { username: INSTALLATION, namespace: user?.home ?? INSTALLATION, profiles: [] },
    clock: systemClock,
    chain: { root: null, depth: 0 },
  };
  await openIdentity(store.installation).resetAccount(username, password, async (session) => {
    const entity = `/users/${user?.username ?? username}`;
    const audit = newAudit(
      { installation: { about: node ? { nodeUuid: node.uuid } : {} } },
      { entity, op: 'update', message: `reset of ${entity} by ${operator}` },
      initiator,
    );
    const write = auditWrite(audit);
    if (write.op === 'insert')
      await store.namespace(initiator.identity.namespace).collection(AUDITS).insertOne(write.document, { session });
  });
}
