// The page as such: what axe-core finds, right to left, light and dark, hostile texts, its own preview, a login that has ended, and its weight.
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_FIELDS } from './all-fields.ts';
import { ELSEWHERE, openWithoutStorage } from './chromium.ts';
import { DESKTOP, logIn, openStage, PHONE, shot, type Stage } from './testing/browser.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
});

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe-core finds serious or critical. */
async function findings(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: AXE });
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()');
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** axe-core comes into the page as an inline script, which the page's policy refuses elsewhere. */
const LENIENT: BrowserContextOptions = { bypassCSP: true };

test.each<[string, BrowserContextOptions]>([
  ['phone-light', PHONE],
  ['phone-dark', { ...PHONE, colorScheme: 'dark' }],
  ['desktop-light', DESKTOP],
  ['desktop-dark', { ...DESKTOP, colorScheme: 'dark' }],
  ['arabic', { ...PHONE, locale: 'ar' }],
])('axe-core finds nothing serious: %s', async (name, options) => {
  const fields = ALL_FIELDS.map((field) => (field['type'] === 'text' ? { ...field, color: '#777777' } : field));
  await stage.send(name, { fields }, 'All fields');
  const context = await stage.browser.newContext({ ...options, ...LENIENT });
  const login = await context.newPage();
  await login.goto(`${stage.service.url}/ui/inbox`);
  await login.locator('#secret').waitFor();
  expect(await findings(login)).toEqual([]);
  await context.close();
  const { page, context: own } = await stage.open(name, { ...options, ...LENIENT });
  const link = page.locator('a.message');
  await link.waitFor();
  expect(await findings(page)).toEqual([]);
  await link.click();
  await page.locator('[data-field="map"] button').click();
  await page.locator('.map-box').waitFor();
  await shot(page, `axe-${name}`);
  expect(await findings(page)).toEqual([]);
  await page.locator('.footer button').click();
  await page.locator('.summary').waitFor();
  expect(await findings(page)).toEqual([]);
  for (const id of ['camera', 'audio', 'barcode']) {
    await page.locator(`[data-field="${id}"] button`).first().click();
    await page.locator('dialog[open] .button').first().waitFor();
    expect([id, await findings(page)]).toEqual([id, []]);
    await page.keyboard.press('Escape');
  }
  await own.close();
});

test('the page may be installed, and its policy lets nothing run but its own scripts', async () => {
  await stage.send('installs', { fields: [] }, 'Installs');
  const { page, context } = await stage.open('installs');
  const response = await page.reload();
  const policy = response?.headers()['content-security-policy'] ?? '';
  expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(policy).not.toContain('unsafe');
  const devtools = await context.newCDPSession(page);
  const manifest = await devtools.send('Page.getAppManifest');
  expect(manifest.errors).toEqual([]);
  expect(JSON.parse(manifest.data ?? '')).toMatchObject({ display: 'standalone', start_url: '/ui/inbox' });
  // A context of a test is one in which nothing is kept, which chromium does not install to: there is nothing else against it.
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([]);
  await context.close();
});

test('over plain HTTP from another machine a form is filled with a file in place of the camera, and sent', async () => {
  const png = await (await stage.browser.newPage()).screenshot();
  const fields = [
    { type: 'camera', id: 'photo', label: 'Photo' },
    { type: 'inputString', id: 's', label: 'Remark' },
    { type: 'currentLocation', id: 'here' },
  ];
  await stage.send('plain', { fields }, 'Plain');
  const { page, context } = await stage.open('plain', PHONE, stage.service.url.replace('127.0.0.1', ELSEWHERE));
  expect(await page.evaluate('isSecureContext')).toBe(false);
  await page.locator('a.message').tap();
  await page.locator('[data-field="s"] input').fill('without a lock');
  await page.locator('[data-field="photo"] button').first().tap();
  await page.locator('dialog[open] input[type=file]').setInputFiles({ name: 'p.png', mimeType: 'image/png', buffer: png });
  await page.locator('[data-field="photo"] img').waitFor();
  await page.locator('.footer button').tap();
  await expect.poll(() => stage.answersFrom('plain')).toHaveLength(1);
  const photo = expect.stringMatching(/^rcs\/image\/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.jpg$/);
  expect((await stage.answersFrom('plain'))[0]).toMatchObject({ values: { s: 'without a lock', photo, here: null } });
  await context.close();
});

test('a message that expires leaves the list, and what has expired never comes into it', async () => {
  const expire = async (id: string, at: Date): Promise<void> => {
    const reply = await stage.admin.send('PUT', `/custom/ArsPayloadMessage/${id}`, { body: { expiresAt: at.toISOString() } });
    expect(reply.status).toBe(200);
  };
  await expire(await stage.send('expiry', { fields: [] }, 'Over'), new Date(0));
  await expire(await stage.send('expiry', { fields: [] }, 'Short'), new Date(Date.now() + 15_000));
  await stage.send('expiry', { fields: [] }, 'Long');
  const { page, context } = await stage.open('expiry');
  await page.locator('a.message').first().waitFor();
  const titles = () => page.locator('a.message .title').allTextContents();
  expect(await titles()).not.toContain('Over');
  await expect.poll(titles).toEqual(['Long']);
  await context.close();
});

test('nothing scrolls sideways on a phone, whatever the language', async () => {
  for (const locale of ['en-GB', 'de-DE', 'ar']) {
    const username = `wide-${locale.toLowerCase()}`;
    await stage.send(username, { fields: ALL_FIELDS }, 'x'.repeat(200));
    const { page, context } = await stage.open(username, { ...PHONE, locale });
    await page.locator('a.message').tap();
    await page.locator('.footer button').waitFor();
    const width = await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.dir]');
    expect([locale, width]).toEqual([locale, [390, locale === 'ar' ? 'rtl' : 'ltr']]);
    await context.close();
  }
});

const HOSTILE = [
  '"><img src=x onerror=alert(1)>',
  '</script><script>window.hit = 1</script>',
  'javascript:window.hit=1',
  '\u202Eevil\u0000 \uD83D\uDE00 {{constructor.constructor("window.hit=1")()}}',
  '<svg onload=window.hit=1>',
];

test('hostile texts in every field stay texts', async () => {
  for (const [at, text] of HOSTILE.entries()) {
    const hostile = (value: unknown): unknown =>
      typeof value === 'string' && !/^(#|[a-z]+$|\/)/i.test(value)
        ? text
        : Array.isArray(value)
          ? value.map(hostile)
          : typeof value === 'object' && value !== null
            ? Object.fromEntries(
                Object.entries(value).map(([name, one]) => [name, KEPT.has(name) ? one : hostileText(name, one, text, hostile)]),
              )
            : value;
    const fields = ALL_FIELDS.map(hostile);
    const username = `hostile${at}`;
    await stage.send(username, { fields }, text);
    const { page, context } = await stage.open(username);
    await page.locator('a.message').tap();
    await page.locator('.footer button').waitFor();
    expect(
      await page.evaluate('[typeof window.hit, document.querySelectorAll("img[onerror], script:not([src]), [onload]").length]'),
    ).toEqual(['undefined', 0]);
    const links = await page.locator('a[target=_blank]').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links.filter((href) => href !== null && !/^(?:https?|blob):/.test(href))).toEqual([]);
    await context.close();
  }
});

test('hostile texts that are entered arrive as they were entered', async () => {
  const fields = [
    { type: 'inputString', id: 'line', label: 'Line' },
    { type: 'inputString', id: 'lines', label: 'Lines', flavor: 'multiline' },
    { type: 'droplist', id: 'list', label: 'List', values: HOSTILE },
    { type: 'radioButtons', id: 'radio', label: 'Radio', values: HOSTILE },
  ];
  await stage.send('entering', { fields, state: HOSTILE }, 'Entering');
  const { page, context } = await stage.open('entering');
  await page.locator('a.message').tap();
  const [text = '', other = ''] = HOSTILE;
  await page.locator('[data-field="line"] input').fill(text);
  await page.locator('[data-field="lines"] textarea').fill(`${text}\n${other}`);
  await page.locator('[data-field="list"] select').selectOption({ label: other });
  await page
    .locator('[data-field="radio"] input')
    .nth(HOSTILE.length - 1)
    .check();
  await page.locator('.footer button').tap();
  await expect.poll(() => stage.answersFrom('entering')).toHaveLength(1);
  const values = { line: text, lines: `${text}\n${other}`, list: other, radio: HOSTILE.at(-1) };
  expect((await stage.answersFrom('entering'))[0]).toMatchObject({ values, state: HOSTILE });
  expect(await page.evaluate('typeof window.hit')).toBe('undefined');
  await context.close();
});

/** What a form is refused for when it is anything. */
const KEPT = new Set(['type', 'id', 'flavor', 'maptype', 'align', 'style', 'color', 'source', 'responseTopic']);
const TEXTS = new Set(['label', 'text', 'placeholder', 'checkboxLabel', 'units', 'buttonLabel', 'url', 'startTab']);
const hostileText = (name: string, value: unknown, text: string, deeper: (value: unknown) => unknown): unknown =>
  TEXTS.has(name) ? text : typeof value === 'string' ? value : deeper(value);

test('a preview shows the form, checks it and sends nothing', async () => {
  const id = await stage.send('previewed', { fields: [{ type: 'inputInteger', id: 'n', label: '</script><b>Count' }] }, 'Previewed');
  const page = await stage.browser.newPage();
  await page.goto(`${stage.service.url}/api/v1/resources/custom/ArsPayloadMessage/${id}/preview?token=${stage.admin.token}`);
  await page.getByRole('heading', { name: 'Previewed' }).waitFor();
  await shot(page, 'preview');
  await page.getByRole('button', { name: 'Submit' }).click();
  await page.getByRole('alert').waitFor();
  await page.locator('#field-0').fill('7');
  await page.getByRole('button', { name: 'Submit' }).click();
  expect(JSON.parse((await page.locator('pre').textContent()) ?? '')).toEqual({ submitValue: 0, values: { n: 7 } });
  expect(await stage.answersFrom('previewed')).toEqual([]);
  await page.close();
});

test('after the login has ended, drafts are there for the next one', async () => {
  await stage.send('ended', { fields: [{ type: 'inputString', id: 's', label: 'Remark' }] }, 'Ended');
  const { page, context } = await stage.open('ended');
  await page.locator('a.message').tap();
  await page.locator('#field-0').fill('half a sentence');
  const user = `/users/ended`;
  const reported = await stage.admin.send('PUT', user, { body: { password: 'another password of tests' } });
  expect(reported.status).toBeLessThan(300);
  await page.locator('#secret').waitFor();
  await page.locator('#secret').fill('another password of tests');
  await page.locator('button[type=submit]').click();
  await expect.poll(() => page.locator('#field-0').inputValue()).toBe('half a sentence');
  await context.close();
});

test('where the browser refuses to keep anything, the page says so and works', async () => {
  await using browser = await openWithoutStorage({ ...DESKTOP, locale: 'en-GB' });
  await stage.send('blocked', { fields: [{ type: 'inputString', id: 's', label: 'Text' }] });
  const page = await stage.inboxIn(browser.context);
  await page.getByText('lets the page keep nothing').waitFor();
  await logIn(page, 'blocked');
  await page.locator('a.message').click();
  await page.locator('#field-0').fill('typed');
  await page.goBack();
  await page.locator('a.message .mark').getByText('Draft').waitFor();
  await page.goForward();
  await expect.poll(() => page.locator('#field-0').inputValue()).toBe('typed');
  await page.locator('.footer button').click();
  await expect.poll(() => stage.answersFrom('blocked')).toMatchObject([{ values: { s: 'typed' } }]);
  await page.getByText('Nothing is waiting for you.').waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.locator('#secret').waitFor();
});

test('no script has failed', () => {
  expect(stage.complaints).toEqual([]);
});
