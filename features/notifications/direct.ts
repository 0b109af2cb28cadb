// Plain notifications without a form (integrations.md 7.1): published to the source itself, and stored like messages.
import { type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { own } from '../../resources/operations/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { cut, sendMessage, storeMessage } from './notifications.ts';
import { devicesNamed } from './push-targets.ts';

/**
 * @param request `{users or devices, title, body, data}`, checked to name at least one of them; unknown devices are ignored
 * @throws errors of sendPayload
 */
export async function publishNotification(space: Namespace, source: string, request: ObjectValue, actor: Actor): Promise<void> {
  const [named, ids] = [texts(own(request, 'users')), texts(own(request, 'devices'))];
  const devices = named.length > 0 ? [] : await devicesNamed(space, ids);
  const users = named.length > 0 ? named : [...new Set(devices.map(({ username }) => username))];
  if (users.length === 0) return; // none of the named devices exists any more
  const payload = { body: own(request, 'body'), data: own(request, 'data') };
  const message = { source, messageId: null, category: '', title: cut(own(request, 'title')), payload, users };
  const only = named.length > 0 ? null : new Set(devices.map(({ deviceId }) => deviceId));
  await sendMessage(space, null, actor, (batching) => storeMessage(space, message, () => undefined, batching, only));
}

const texts = (value: Value): string[] => (Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []);
