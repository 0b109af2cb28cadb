// The end of notifications on this device, when whoever they are for logs out: what is shown goes, and nothing more comes, even where the
// service cannot be told. It drops a subscription that the push service does not know any more.

export async function endNotifications(): Promise<void> {
  const registration = 'serviceWorker' in navigator ? await navigator.serviceWorker.getRegistration() : undefined;
  if (!registration) return;
  if ('getNotifications' in registration) for (const shown of await registration.getNotifications()) shown.close();
  if ('pushManager' in registration) await (await registration.pushManager.getSubscription())?.unsubscribe();
}
