// One device, several people and bad connections: nobody sees or sends what is another one's, and no answer is lost.
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, PASSWORD, PHONE, type Stage } from './testing/browser.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
});

const FORM = { fields: [{ type: 'inputString', id: 's', label: 'Remark' }] };

const remarks = async (username: string): Promise<unknown[]> =>
  (await stage.answersFrom(username)).map(({ values }) => (values as Record<string, unknown>)['s']);

const titles = (page: Page) => page.locator('a.message .title').allTextContents();

async function answer(page: Page, title: string, text: string): Promise<void> {
  await page.getByRole('link', { name: title }).tap();
  await page.locator('#field-0').fill(text);
  await page.locator('.footer button').tap();
  await page.locator('.messages').waitFor();
}

async function logIn(page: Page, username: string): Promise<void> {
  await page.locator('#username').fill(username);
  await page.locator('#secret').fill(PASSWORD);
  await page.locator('button[type=submit]').tap();
}

/** Holds what it is asked for until it is opened. */
function gate() {
  let open: () => void = () => undefined;
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, isOpen };
}

test('an answer that comes before the device is known again is sent all the same', async () => {
  await stage.send('taken', FORM, 'Taken');
  const { page, context } = await stage.open('taken');
  await page.locator('a.message').waitFor();
  await page
    .locator('.notices', { hasText: 'Connecting' })
    .waitFor({ state: 'detached' })
    .catch(() => undefined);
  const isSubmitted = gate();
  await context.setOffline(true);
  await answer(page, 'Taken', 'not lost');
  const devices = JSON.parse((await stage.admin.send('GET', '/custom/ArsPushTarget', { query: { where: '{"username":"taken"}' } })).text);
  for (const { deviceId } of devices) await stage.admin.send('DELETE', `/custom/ArsPushTarget/${deviceId}`);
  await context.route(/ArsPushTarget\?/, async (route) => {
    await isSubmitted.isOpen;
    await route.continue();
  });
  await context.route(/\/submit$/, async (route) => {
    const response = await route.fetch();
    isSubmitted.open();
    await route.fulfill({ response });
  });
  await context.setOffline(false);
  await expect.poll(() => remarks('taken')).toEqual(['not lost']);
  await expect.poll(() => titles(page)).toEqual([]);
  await context.close();
});

test('what a person was still being sent at the logout does not come to the next one', async () => {
  await stage.send('former', FORM, 'Of the former');
  await stage.send('next', FORM, 'Of the next');
  const context = await stage.browser.newContext(PHONE);
  const page = await stage.inboxIn(context);
  const isLoggedIn = gate();
  let lists = 0;
  await context.route(/ArsPayloadMessage\?where/, async (route) => {
    if (lists++ === 0) await isLoggedIn.isOpen;
    await route.continue();
  });
  await logIn(page, 'former');
  await expect.poll(() => lists).toBe(1);
  await page.getByRole('button', { name: 'Log out' }).tap();
  await logIn(page, 'next');
  await page.getByRole('link', { name: 'Of the next' }).tap();
  await page.locator('#field-0').fill('half a sentence');
  await expect.poll(() => lists).toBe(2);
  const late = page.waitForResponse(/ArsPayloadMessage\?where.*former/);
  isLoggedIn.open();
  await (await late).finished();
  await stage.send('next', FORM, 'Later');
  await page.getByRole('link', { name: 'Back' }).tap();
  await page.getByRole('link', { name: 'Later' }).waitFor();
  expect(await titles(page)).toEqual(['Of the next', 'Later']);
  await page.getByRole('link', { name: 'Of the next' }).tap();
  expect(await page.locator('#field-0').inputValue()).toBe('half a sentence');
  await context.close();
});

test('what waits for the place at the logout is not sent as the next one', async () => {
  const here = { fields: [{ type: 'currentLocation', id: 'here' }] };
  const messageId = await stage.send('leaving', here, 'Of who leaves');
  await stage.send('coming', FORM, 'Of who comes');
  const context = await stage.browser.newContext(PHONE);
  await context.addInitScript(`navigator.geolocation.getCurrentPosition = (found) => {
    window.tellPlace = () => found({ coords: { longitude: 1, latitude: 2 } });
  };`);
  const submits: string[] = [];
  await context.route(/\/submit$/, async (route) => {
    submits.push(route.request().url());
    await route.continue();
  });
  const page = await stage.inboxIn(context);
  await logIn(page, 'leaving');
  await page.getByRole('link', { name: 'Of who leaves' }).tap();
  await page.locator('.footer button').tap();
  await page.locator('article[aria-busy=true]').waitFor();
  await page.getByRole('button', { name: 'Log out' }).tap();
  await logIn(page, 'coming');
  await page.getByRole('link', { name: 'Of who comes' }).waitFor();
  await page.evaluate('window.tellPlace()');
  await answer(page, 'Of who comes', 'mine');
  await expect.poll(() => remarks('coming')).toEqual(['mine']);
  expect(submits.filter((url) => url.includes(messageId))).toEqual([]);
  expect(submits).toHaveLength(1);
  expect(await page.locator('.notices').textContent()).not.toContain('Of who leaves');
  await context.close();
});

test('who logs out while the login is being renewed stays logged out', async () => {
  await stage.send('renewed', FORM, 'Renewed');
  const { page, context } = await stage.open('renewed');
  await page.locator('a.message').waitFor();
  const isLoggedOut = gate();
  let renewals = 0;
  await context.route(/\/authenticate\/refresh$/, async (route) => {
    const response = await route.fetch();
    renewals++;
    await isLoggedOut.isOpen;
    await route.fulfill({ response });
  });
  await page.evaluate(`new Promise((done) => {
    const opening = indexedDB.open('cascade-inbox');
    opening.onsuccess = () => {
      const settings = opening.result.transaction('settings', 'readwrite').objectStore('settings');
      const reading = settings.get('session');
      reading.onsuccess = () => {
        const soon = new Date(Date.now() + 3600000).toISOString();
        settings.put({ ...reading.result, expiresAt: soon }, 'session').onsuccess = () => done(opening.result.close());
      };
    };
  })`);
  await page.reload();
  await page.getByRole('button', { name: 'Log out' }).tap();
  await page.locator('#secret').waitFor();
  await expect.poll(() => renewals).toBe(1);
  const late = page.waitForResponse(/\/authenticate\/refresh$/);
  isLoggedOut.open();
  await (await late).finished();
  await page.reload();
  await page.locator('#secret').waitFor();
  expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(0);
  await context.close();
});

test('an answer that the service fails at keeps no other one back', async () => {
  const first = await stage.send('stuck', FORM, 'Stuck');
  await stage.send('stuck', FORM, 'Free');
  const { page, context } = await stage.open('stuck');
  await page.locator('a.message').first().waitFor();
  const fail = (route: Route) => route.fulfill({ status: 500, body: '[]' });
  await context.route(new RegExp(`${first}/submit$`), fail);
  await answer(page, 'Stuck', 'one');
  await answer(page, 'Free', 'two');
  await expect.poll(() => remarks('stuck')).toEqual(['two']);
  expect(await titles(page)).toEqual(['Stuck']);
  await context.unroute(new RegExp(`${first}/submit$`), fail);
  await expect.poll(() => remarks('stuck')).toEqual(['two', 'one']);
  await context.close();
});

test('from the list, which follows an answer, one gets back to where one came from', async () => {
  await stage.send('history', FORM, 'History');
  const { page, context } = await stage.open('history');
  await page.locator('a.message').waitFor();
  await answer(page, 'History', 'done');
  await expect.poll(() => remarks('history')).toEqual(['done']);
  await expect.poll(() => titles(page)).toEqual([]);
  const before = await page.evaluate<number>('history.length');
  await page.goBack();
  expect(await page.evaluate('[location.hash, history.length]')).toEqual(['', before]);
  await context.close();
});

test('a message that takes the place of another one was not answered elsewhere', async () => {
  const id = await stage.send('replaced', FORM, 'First');
  const { page, context } = await stage.open('replaced');
  await page.getByRole('link', { name: 'First' }).waitFor();
  await stage.send('replaced', FORM, 'Second', id);
  await page.getByRole('link', { name: 'Second' }).waitFor();
  expect(await page.locator('.notices').textContent()).not.toContain('elsewhere');
  await context.close();
});

test('at the logout what was shown of a person goes from the device', async () => {
  const context = await stage.browser.newContext({ ...PHONE, permissions: ['notifications'] });
  await stage.send('shown', FORM, 'Shown');
  const page = await stage.inboxIn(context);
  await logIn(page, 'shown');
  await page.locator('a.message').waitFor();
  const shown = 'navigator.serviceWorker.ready.then((one) => one.getNotifications()).then((all) => all.length)';
  await page.evaluate('navigator.serviceWorker.ready.then((one) => one.showNotification("A leak in your house"))');
  await expect.poll(() => page.evaluate(shown)).toBe(1);
  await page.getByRole('button', { name: 'Log out' }).tap();
  await expect.poll(() => page.evaluate(shown)).toBe(0);
  await context.close();
});

test('a device is not asked for what it need not read: what is typed is kept beside many messages', async () => {
  await stage.send('many', FORM, 'The first');
  const { page, context } = await stage.open('many');
  await page.locator('a.message').waitFor();
  await page.waitForLoadState('networkidle'); // the list that every connection asks for is kept as well
  await page.evaluate(`window.reads = {}; const all = IDBObjectStore.prototype.getAll;
    IDBObjectStore.prototype.getAll = function (...given) { reads[this.name] = (reads[this.name] ?? 0) + 1; return all.apply(this, given); };`);
  await page.getByRole('link', { name: 'The first' }).tap();
  await page.locator('#field-0').pressSequentially('half a sentence');
  await expect.poll(() => page.evaluate('reads.drafts')).toBeGreaterThan(0);
  expect(await page.evaluate('reads.messages ?? 0')).toBe(0);
  await context.close();
});

test('notifications that cannot be switched on are told of, and can be tried again', async () => {
  const { page, context } = await stage.open('told', { ...PHONE, permissions: ['notifications'] });
  let isRefused = false;
  await context.route(/ArsPushTarget/, (route) =>
    isRefused && route.request().postData()?.includes('example.com') ? route.fulfill({ status: 500, body: '[]' }) : route.continue(),
  );
  await page.addInitScript(`
    const subscription = { endpoint: 'https://push.example.com/1', keys: {} };
    PushManager.prototype.subscribe = async () => {
      if (!window.hasPushService) throw new DOMException('no push service', 'AbortError');
      sessionStorage.setItem('subscription', '1');
      return subscription;
    };
    PushManager.prototype.getSubscription = async () => (sessionStorage.getItem('subscription') ? subscription : null);`);
  await page.reload();
  const button = page.getByRole('button', { name: 'Notify me' });
  await button.tap();
  await page.locator('.notices', { hasText: 'could not be switched on: no push service' }).waitFor();
  isRefused = true;
  await page.evaluate('window.hasPushService = true');
  await button.tap();
  await page.locator('.notices', { hasText: 'could not be switched on' }).filter({ hasNotText: 'no push service' }).waitFor();
  await page.reload();
  await button.waitFor();
  await context.close();
});

test('the page opens while a proxy answers for a service that is down', async () => {
  let isDown = false;
  await stage.send('proxied', FORM, 'Proxied');
  const proxy = createServer((incoming, response) => {
    if (isDown) return void response.writeHead(502).end('Bad Gateway');
    const { method, url, headers } = incoming;
    const outgoing = ask(new URL(url ?? '/', stage.service.url), { method, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { page, context } = await stage.open('proxied', PHONE, `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  await expect.poll(() => page.evaluate('caches.keys().then((names) => names.length)')).toBe(1);
  isDown = true;
  await page.reload();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  await context.close();
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
});

test('no script has failed', () => {
  expect(stage.complaints).toEqual([]);
});
