// The key with which a namespace signs Web Push (VAPID): created at its first use, stored sealed, the same in all processes.
import type { Namespace, ResourceRequest } from '../../resources/catalog/index.ts';
import { StateKey } from '../../resources/states.ts';
import { apiError } from '../../model/errors/index.ts';
import { reply } from '../../resources/requests/index.ts';
import { mendedVapidKey, newVapidKey, type VapidKey, sourcesOf } from '../sources/index.ts';

/** The key is stored with the records of sources, under a name that no source can have. */
const PLACE = '/push';
const KEY = 'vapid';

const KEYS = new StateKey<{ key: Promise<VapidKey> | null }>('key of web push', () => ({ key: null }));

export function webPushKey(space: Namespace): Promise<VapidKey> {
  const state = space.states.get(KEYS);
  state.key ??= readOrMake(space).catch((error: unknown) => {
    state.key = null;
    throw error;
  });
  return state.key;
}

async function readOrMake(space: Namespace): Promise<VapidKey> {
  const { records } = sourcesOf(space);
  const cipher = await space.installation.keys.ensureCipher(space.name);
  const kept = (await records.unseal(cipher, PLACE, KEY)) ?? (await records.sealOnce(cipher, PLACE, KEY, JSON.stringify(newVapidKey())));
  return mendedVapidKey(JSON.parse(kept) as VapidKey);
}

/** `GET …/pushkey`: the public key for subscriptions of pages, for any user that is logged in. */
export const pushKey: ResourceRequest = async (space, { op }) => {
  if (op !== 'select') throw apiError('cascade.method.not.allowed', op, 'pushkey');
  if (!space.installation.keys.areAvailable) throw apiError('cascade.resource.not.found', '/pushkey'); // none can be kept
  const { publicKey } = await webPushKey(space);
  return reply(JSON.stringify({ publicKey }));
};
