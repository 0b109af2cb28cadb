// Each answer arrives once: without a connection and back, tapped often, from two tabs, with a service that is killed meanwhile.
import events from 'node:events';
import type { Page, Route } from 'playwright-core';
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
  return (await stage.answersFrom(username)).map(({ values }) => (values as Record<string, unknown>)['s']);
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

test('an answer that waits for the connection does not answer the form that has replaced its own meanwhile', async () => {
  const footer = (...labels: string[]) => ({
    fields: labels.map((buttonLabel, at) => ({ type: 'footerButton', buttonLabel, value: at + 1 })),
  });
  const id = await stage.send('replaced', footer('Leave it open', 'Close it'), 'Valve 4');
  const { page, context } = await stage.open('replaced');
  await page.locator('a.message').waitFor();
  await isKept(page);
  await context.setOffline(true);
  await page.locator('a.message').tap();
  await page.getByRole('button', { name: 'Leave it open' }).tap();
  await page.locator('.mark', { hasText: 'Waiting to be sent' }).waitFor();
  await stage.send('replaced', footer('Close it now', 'Do nothing'), 'Valve 4', id);
  await context.setOffline(false);
  await page.getByText('is no longer waiting').waitFor();
  await page.locator('a.message').tap();
  await page.getByRole('button', { name: 'Do nothing' }).tap();
  await expect.poll(async () => (await stage.answersFrom('replaced')).map(({ submitValue }) => submitValue)).toEqual([2]);
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
  const other = await stage.inboxIn(context);
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
  await expect.poll(() => page.locator('a.message').count()).toBe(0);
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

/** SIGTERM, and waits for the end. */
async function stop(): Promise<void> {
  const ended = events.once(stage.service.process, 'exit');
  stage.service.process.kill('SIGTERM');
  await ended;
}

// The reply to the first try is lost on its way, whatever the service has done with it.
test.each<[string, (route: Route) => Promise<unknown>]>([
  ['is killed when it has stored it', (route) => route.fetch().then(() => stage.service.kill())],
  ['is killed before it comes', () => stage.service.kill()],
  ['is killed while it comes', (route) => Promise.allSettled([route.fetch(), stage.service.kill()])],
  ['stops when it has stored it', (route) => route.fetch().then(stop)],
  ['stops while it comes', (route) => Promise.allSettled([route.fetch(), stop()])],
])('a service that %s hears an answer once', async (what, end) => {
  const username = what.replaceAll(' ', '');
  await stage.send(username, FORM, 'Killed');
  const { page, context } = await stage.open(username);
  await fill(page, 'through an end');
  let tries = 0;
  await context.route(/\/submit$/, async (route) => {
    tries++;
    if (tries > 1) return route.continue();
    await end(route);
    await stage.service.restart();
    await route.abort('connectionreset');
  });
  await submitButton(page).tap();
  await expect.poll(() => tries).toBeGreaterThan(1); // the service is there again
  await stage.admin.login(stage.service.user, stage.service.password);
  await expect.poll(() => page.locator('a.message').count()).toBe(0);
  await expect.poll(() => answers(username)).toEqual(['through an end']);
  await context.close();
});

test('a draft with its recordings is there after the page was closed', async () => {
  await stage.send('draft', FORM, 'Draft');
  const { page, context } = await stage.open('draft');
  await fill(page, 'half a sentence');
  await page.close();
  const again = await stage.inboxIn(context);
  await again.locator('a.message').first().tap();
  await expect.poll(() => again.locator('#field-0').inputValue()).toBe('half a sentence');
  await expect.poll(() => again.locator('[data-field="photo"] img').count()).toBe(1);
  await submitButton(again).tap();
  await expect.poll(() => answers('draft')).toEqual(['half a sentence']);
  await context.close();
});

test('a tap on a message that has only just appeared opens it', async () => {
  await stage.send('quick', FORM, 'Quick');
  const { page, context } = await stage.open('quick');
  await page.locator('a.message').waitFor();
  await page.close();
  // As soon as it is in the page, before anything else of the page has its turn.
  await context.addInitScript(`new MutationObserver((_, observer) => {
    const link = document.querySelector('a.message');
    if (link) observer.disconnect(), link.click();
  }).observe(document, { childList: true, subtree: true })`);
  const again = await stage.inboxIn(context);
  await again.locator('#field-0').waitFor();
  await context.close();
});

test('a tap on the button of the camera that has only just appeared takes the photo', async () => {
  await stage.send('prompt', FORM, 'Prompt');
  const { page, context } = await stage.open('prompt');
  await page.locator('a.message').first().tap();
  await page.evaluate(`new MutationObserver((_, observer) => {
    const button = document.querySelector('dialog[open] .button.primary');
    if (button) observer.disconnect(), button.click();
  }).observe(document, { childList: true, subtree: true })`);
  await page.getByRole('button', { name: 'Take Photo' }).tap();
  await page.locator('[data-field="photo"] img').waitFor();
  await context.close();
});

test('an upload that was cut off is taken up again, and what has arrived is not sent again', async () => {
  const photos = ['one', 'two'].map((id) => ({ type: 'camera', id, label: id }));
  await stage.send('cut', { fields: photos }, 'Cut');
  const { page, context } = await stage.open('cut');
  await isKept(page);
  await page.locator('a.message').first().tap();
  for (const { id } of photos) {
    await page.locator(`[data-field="${id}"]`).getByRole('button', { name: 'Take Photo' }).tap();
    await page.locator('dialog[open]').getByRole('button', { name: 'Take Photo' }).tap();
    await expect.poll(() => page.locator(`[data-field="${id}"] img`).count()).toBe(1);
  }
  const uploads: string[] = [];
  let isCut = true;
  await context.route(/\/documents(?:\?|$)/, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    uploads.push(uploads.length === 0 || !isCut ? 'arrived' : 'cut off');
    if (uploads.at(-1) === 'arrived') return route.continue();
    return route.abort('connectionreset');
  });
  await submitButton(page).tap();
  await expect.poll(() => uploads).toContain('cut off');
  await page.reload();
  await page.locator('.mark', { hasText: 'Waiting to be sent' }).waitFor();
  isCut = false;
  await expect.poll(() => page.locator('a.message').count()).toBe(0);
  const [answer] = await stage.answersFrom('cut');
  expect(answer).toMatchObject({ values: { one: expect.stringMatching(/^rcs/), two: expect.stringMatching(/^rcs/) } });
  expect(uploads.filter((one) => one === 'arrived')).toHaveLength(2);
  await context.close();
});

test('no script has failed', () => {
  expect(stage.complaints).toEqual([]);
});
