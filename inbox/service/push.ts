// Notifications while the page is closed: a push subscription of this browser (Web Push), told to the service with the device.
import type { Inbox } from '../inbox.ts';

/** `possible`: the person may be asked; `none`: neither browser nor service can. */
export type PushState = 'unknown' | 'possible' | 'on' | 'denied' | 'none';

export async function canNotify(inbox: Inbox): Promise<PushState> {
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis) || !('Notification' in globalThis)) return 'none';
  const registration = await navigator.serviceWorker.getRegistration().catch(() => undefined); // refused where storage is blocked
  if (!registration) return 'none';
  const subscription = await registration.pushManager.getSubscription();
  if (subscription && (await inbox.setting<string>('push')) !== undefined) return 'on';
  if ((await inbox.pushKey().catch(() => null)) === null) return 'none';
  return Notification.permission === 'denied' ? 'denied' : 'possible';
}

/**
 * Asks the person, then the browser's push service, then tells ours.
 * @throws DOMException, api.Refused, TypeError: one of them cannot be reached, or does not want to
 */
export async function enablePush(inbox: Inbox): Promise<PushState> {
  const [key, registration] = [await inbox.pushKey(), await navigator.serviceWorker.ready];
  if (key === null) return 'none';
  if ((await Notification.requestPermission()) !== 'granted') return 'denied';
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  await inbox.registerForPush(JSON.stringify(subscription));
  return 'on';
}
