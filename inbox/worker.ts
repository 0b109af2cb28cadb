// The service worker: keeps the page's own files, so that it opens without a connection, and shows what is pushed while it is closed.
// Data is never kept here: that is the page's, in IndexedDB.

/** What of a service worker's world is used (the page's types are the DOM's, which do not go together with a worker's). */
interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Extendable {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface Pushed extends Extendable {
  readonly data: { json(): unknown } | null;
}
interface Clicked extends Extendable {
  readonly notification: Notification;
}
interface Page {
  readonly url: string;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}
interface Worker {
  addEventListener(type: 'install' | 'activate', listener: (event: Extendable) => void): void;
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void;
  addEventListener(type: 'push', listener: (event: Pushed) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: Clicked) => void): void;
  skipWaiting(): Promise<void>;
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: { type: 'window' }): Promise<Page[]>;
    openWindow(url: string): Promise<unknown>;
  };
  readonly registration: { showNotification(title: string, options: NotificationOptions): Promise<void> };
}

/** Set by the build: the files of this version, and a name for them. */
declare const FILES: readonly string[];
declare const EDITION: string;

const PAGE = '/ui/inbox';
const worker = globalThis as unknown as Worker;
const cacheName = `cascade-inbox/${EDITION}`;

worker.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(cacheName)
      .then((cache) => cache.addAll([PAGE, ...FILES]))
      .then(() => worker.skipWaiting()),
  );
});

// The edition before is kept: pages of it that are open load parts of themselves later, which the service has no more.
worker.addEventListener('activate', (event) => {
  const outdated = (name: string): boolean => name.startsWith('cascade-inbox/') && name !== cacheName;
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter(outdated)
            .slice(0, -1)
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => worker.clients.claim()),
  );
});

/** Files with a hash in their name never change; the page itself comes from the service while that can be reached and answers in time. */
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (pathname === PAGE) event.respondWith(page(request));
  else if (pathname.startsWith(`${PAGE}/`) && pathname !== `${PAGE}/worker.js`)
    event.respondWith(
      kept(pathname)
        .then((file) => file ?? caches.match(pathname))
        .then((file) => file ?? fetch(request)),
    );
});

const kept = async (path: string): Promise<Response | undefined> => (await caches.open(cacheName)).match(path);

const PAGE_WITHIN_MS = 4_000;

/** A proxy in front of a service that is down answers, too; a connection that is hardly there may never do. */
async function page(request: Request): Promise<Response> {
  const asked = fetch(request);
  const last = await kept(PAGE);
  if (!last) return asked;
  const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), PAGE_WITHIN_MS));
  const answer = await Promise.race([asked.catch(() => null), late]);
  return answer && answer.status < 500 ? answer : last;
}

worker.addEventListener('push', (event) => {
  const content = read(event.data);
  const title = content.title || content.category || 'Cascade';
  event.waitUntil(
    worker.registration.showNotification(title, {
      body: content.body,
      tag: content.messageId,
      data: { messageId: content.messageId },
    }),
  );
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { messageId } = (event.notification.data ?? {}) as { messageId?: string };
  const url = messageId ? `${PAGE}#/message/${encodeURIComponent(messageId)}` : PAGE;
  event.waitUntil(
    worker.clients.matchAll({ type: 'window' }).then(async (pages) => {
      const page = pages.find((one) => new URL(one.url).pathname === PAGE);
      if (!page) return worker.clients.openWindow(url);
      await page.navigate(url);
      return page.focus();
    }),
  );
});

function read(data: Pushed['data']): { title: string; category: string; body: string; messageId: string } {
  let content: unknown = null;
  try {
    content = data?.json();
  } catch {
    // Not of our making: that something came is all there is to say.
  }
  const from = typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  const text = (name: string): string => (typeof from[name] === 'string' ? from[name] : '');
  return { title: text('title'), category: text('category'), body: text('body'), messageId: text('messageId') };
}
