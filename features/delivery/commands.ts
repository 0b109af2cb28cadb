// Commands on dead letters.
import { ObjectId } from 'mongodb';
import { apiError } from '../../model/errors/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { type StoredEvent, VersionConflict, type Write } from '../../runtime/transactions/index.ts';
import { requireAdmin } from '../../resources/access/index.ts';
import type { ApiReply } from '../../resources/api.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { NO_CONTENT } from '../../resources/requests/index.ts';
import { readDeadLetter } from './dead-letters.ts';
import { DEAD_LETTERS } from './delivery-types.ts';
import { deliveriesOf } from './namespace-state.ts';

/** Retries a dead letter (integrations.md 12.4). */
export async function retry(space: Namespace, id: string, actor: Actor): Promise<ApiReply> {
  requireAdmin(actor.identity, 'retry', DEAD_LETTERS.name);
  const _id = /^[0-9a-f]{24}$/.test(id) ? ObjectId.createFromHexString(id) : null;
  const dead = _id && (await readDeadLetter(space, _id));
  const gone = () => apiError('cascade.resource.not.found', `/deadletters/${id}`);
  if (!_id || !dead) throw gone();
  if (!dead.kept) throw apiError('cascade.resource.too.large', 0);
  const event: StoredEvent = { ...dead.kept, chain: { root: dead.kept.uuid, depth: 0 }, runs: [], attempt: dead.deliveries + 1 };
  const again = deliveriesOf(space).retry(event, dead.target);
  if (!again) throw apiError('cascade.resource.not.found', dead.target);
  const removal: Write = { collection: DEAD_LETTERS.collection, op: 'delete', id: _id, version: dead.version };
  try {
    await actor.commit({ writes: [removal, ...again.writes], events: again.events }, { ok: 'null' });
  } catch (error) {
    throw error instanceof VersionConflict ? gone() : error; // another request has retried or deleted it
  }
  again.stored?.();
  await deliveriesOf(space).look();
  return NO_CONTENT;
}
