// Each answer arrives once: without a connection and back, tapped often, from two tabs, with a service that is killed meanwhile.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Stage } from './testing/browser.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
});

const FORM = {
  fields: [
    { type: 'inputString', id: 's', label: 'Remark' },
    { type: 'camera', id: 'photo', label: 'Photo' },
  ],
};

async function fill(page: Page, text: string): Promise<void> {
  await page.locator('a.message').first().tap();
  await page.locator('#field-0').fill(text);
  await page.getByRole('button', { name: 'Take Photo' }).tap();
  await page.locator('dialog[open]').getByRole('button', { name: 'Take Photo' }).tap();
  await expect.poll(() => page.locator('[data-field="photo"] img').count()).toBe(1);
}

const submitButton = (page: Page) => page.locator('.footer button');

async function answers(username: string): Promise<unknown[]> {
  return (await stage.heardFrom(username)).map(({ values }) => (values as Record<string, unknown>)['s']);
}

/** The service worker holds the page and its files. */
const isKept = (page: Page) => expect.poll(() => page.evaluate('caches.keys().then((names) => names.length)')).toBe(1);

test('what is answered without a connection is kept over a restart of the page and sent when it is back', async () => {
  await stage.send('offline', FORM, 'Offline');
  const { page, context } = await stage.open('offline');
  await page.locator('a.message').waitFor();
  await isKept(page);
  await context.setOffline(true);
  await page.reload();
  await fill(page, 'written in the cellar');
  await submitButton(page).tap();
  await page.locator('.mark', { hasText: 'Waiting to be sent' }).waitFor();
  await page.reload();
  await page.locator('.mark', { hasText: 'Waiting to be sent' }).waitFor();
  expect(await answers('offline')).toEqual([]);
  await context.setOffline(false);
  await expect.poll(() => answers('offline')).toEqual(['written in the cellar']);
  await expect.poll(() => page.locator('a.message').count()).toBe(0);
  await context.close();
});

test('a button that is tapped ten times sends one answer', async () => {
  const last = await stage.send('often', FORM, 'Often');
  const { page, context } = await stage.open('often');
  await fill(page, 'once');
  await page.evaluate('for (let n = 0; n < 10; n++) document.querySelector(".footer button").click()');
  await expect.poll(() => answers('often')).toEqual(['once']);
  expect(last).not.toBe('');
  // A second answer would have been heard before that to a later form.
  await stage.send('often', FORM, 'Later');
  await fill(page, 'later');
  await submitButton(page).tap();
  await expect.poll(() => answers('often')).toEqual(['once', 'later']);
  await context.close();
});

test('two tabs share drafts, and answer once', async () => {
  await stage.send('tabs', FORM, 'Tabs');
  const { page, context } = await stage.open('tabs');
  await fill(page, 'from the first tab');
  const other = await stage.another(context);
  await other.locator('a.message').first().tap();
  await expect.poll(() => other.locator('#field-0').inputValue()).toBe('from the first tab');
  await other.locator('#field-0').fill('from the second tab');
  await expect.poll(() => page.locator('#field-0').inputValue()).toBe('from the second tab');
  await Promise.all([page, other].map((one) => one.evaluate('document.querySelector(".footer button").click()')));
  await expect.poll(() => answers('tabs')).toEqual(['from the second tab']);
  for (const one of [page, other]) await expect.poll(() => one.locator('a.message').count()).toBe(0);
  await context.close();
});

test('a message that is withdrawn or answered elsewhere leaves the list', async () => {
  const id = await stage.send('elsewhere', { fields: [] }, 'Elsewhere');
  const { page, context } = await stage.open('elsewhere');
  await page.locator('a.message').waitFor();
  const token = await page.evaluate<string>(
    'new Promise((done) => { const open = indexedDB.open("cascade-inbox"); open.onsuccess = () => { const get = open.result.transaction("settings").objectStore("settings").get("session"); get.onsuccess = () => done(get.result.token); }; })',
  );
  const submit = `/custom/ArsPayloadMessage/${id}/submit`;
  const reply = await stage.admin.send('POST', submit, { body: {}, authenticated: false, headers: { authorization: `Bearer ${token}` } });
  expect(reply.status).toBe(200);
  await page.getByText('was answered elsewhere').waitFor();
  expect(await page.locator('a.message').count()).toBe(0);
  await context.close();
});

test('a message is dismissed, and is gone on the service, too', async () => {
  const id = await stage.send('dismiss', { fields: [] }, 'Dismiss');
  const { page, context } = await stage.open('dismiss');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.locator('a.message').tap();
  await page.getByRole('button', { name: 'Remove from my inbox' }).tap();
  const message = async (): Promise<string> => (await stage.admin.send('GET', `/custom/ArsPayloadMessage/${id}`)).text;
  await expect.poll(message).toMatch(/"status":"deleted".*"readAt":"/);
  await expect.poll(() => page.locator('a.message').count()).toBe(0);
  await context.close();
});

test('a service that is killed between the tap and its answer hears it once', async () => {
  await stage.send('killed', FORM, 'Killed');
  const { page, context } = await stage.open('killed');
  await isKept(page);
  await fill(page, 'through a kill');
  // The answer of the first try is lost on its way: the service has stored it, and is killed.
  let tries = 0;
  await context.route(/\/submit$/, async (route) => {
    tries++;
    if (tries > 1) return route.continue();
    await route.fetch();
    await stage.service.kill();
    await route.abort('connectionreset');
  });
  await submitButton(page).tap();
  await expect.poll(() => tries).toBe(1);
  await stage.service.restart();
  await stage.admin.login(stage.service.user, stage.service.password);
  await expect.poll(() => page.locator('a.message').count()).toBe(0);
  await expect.poll(() => answers('killed')).toEqual(['through a kill']);
  expect(tries).toBeGreaterThan(1);
  await context.close();
});

test('no script has failed', () => {
  expect(stage.complaints).toEqual([]);
});
