// Notifications on this device: the subscription that they come by, and their end.

/**
 * The end, when whoever they are for logs out: what is shown goes, and nothing more comes, even where the service cannot be told. It drops
 * a subscription that the push service does not know any more.
 */
export async function endNotifications(): Promise<void> {
  const registration = 'serviceWorker' in navigator ? await navigator.serviceWorker.getRegistration() : undefined;
  if (!registration) return;
  if ('getNotifications' in registration) for (const shown of await registration.getNotifications()) shown.close();
  if ('pushManager' in registration) await (await registration.pushManager.getSubscription())?.unsubscribe();
}

/** The browser's subscription as it is now; null: it has ended, by the browser's settings perhaps, since the person asked for notifications. */
export async function presentSubscription(): Promise<string | null> {
  const registration = 'serviceWorker' in navigator ? await navigator.serviceWorker.getRegistration().catch(() => undefined) : undefined;
  const subscription = registration && 'pushManager' in registration ? await registration.pushManager.getSubscription() : null;
  return subscription && JSON.stringify(subscription);
}
