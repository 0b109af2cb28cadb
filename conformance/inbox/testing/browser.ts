// A service, a browser (Debian's chromium, whose camera, microphone and place are not real) and people with forms, for the tests of the page of
// the inbox.
import { mkdirSync } from 'node:fs';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { RestClient, type StartedService, startService } from '../../client/index.ts';
import { openChromium } from '../chromium.ts';

export const PASSWORD = 'a password of the tests';
export const TOPIC = '/inbox/reply';
/** Where the browser is. */
export const PLACE = { longitude: 13.4, latitude: 52.5 };
export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
export const DESKTOP: BrowserContextOptions = { viewport: { width: 1_280, height: 800 } };

const SOURCE = 'inboxPush';
const DEFINITIONS: readonly [string, string, object | string][] = [
  ['POST', '/sources', { name: SOURCE, type: 'PUSH_NOTIF', direction: 'SINK', config: {} }],
  ['POST', '/types', { name: 'Heard', properties: { by: { type: 'String' }, v: { type: 'Object' } } }],
  ['POST', '/rules', `RULE inboxHear WHEN PUBLISH OCCURS ON "${TOPIC}" AS e INSERT Heard(by: e.value.username, v: e.value)`],
  [
    'POST',
    '/procedures',
    `PROCEDURE inboxSend(messageId, title, payload, users) return Notification.sendPayload("${SOURCE}", messageId, "inspection", title, payload, users)`,
  ],
];

/** An object of the service as plain JSON. */
export type Row = Record<string, unknown>;

export interface Stage extends AsyncDisposable {
  readonly service: StartedService;
  readonly browser: Browser;
  readonly admin: RestClient;
  /** What the pages have said that they should not: errors of scripts, refusals of the content security policy. */
  readonly complaints: string[];
  /** A form for a person, who is made when first named. @returns the id of the message */
  send(username: string, payload: Row, title?: string, messageId?: string | null): Promise<string>;
  /** What a person has answered, in order. */
  answersFrom(username: string): Promise<Row[]>;
  /** A page of the inbox in a browser, which is watched for complaints. */
  inboxIn(context: BrowserContext, origin?: string): Promise<Page>;
  /** A page with the inbox of a person, logged in. */
  open(username: string, options?: BrowserContextOptions, origin?: string): Promise<{ page: Page; context: BrowserContext }>;
}

export async function openStage(): Promise<Stage> {
  const service = await startService({ args: ['--host', '127.0.0.1'] });
  const browser = await openChromium();
  const admin = new RestClient(service.url);
  await admin.login(service.user, service.password);
  const request = async (method: string, path: string, body: object | string): Promise<Row> => {
    const isText = typeof body === 'string';
    const headers = { 'content-type': isText ? 'text/plain' : 'application/json' };
    const reply = await admin.send(method, path, { text: isText ? body : JSON.stringify(body), headers });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply.text === '' ? {} : (JSON.parse(reply.text) as Row);
  };
  for (const [method, path, body] of DEFINITIONS) await request(method, path, body);
  const people = new Set<string>();
  const complaints: string[] = [];
  const person = async (username: string): Promise<void> => {
    if (people.has(username)) return;
    people.add(username);
    await request('POST', '/users', { username, password: PASSWORD });
  };
  const watched = async (context: BrowserContext): Promise<Page> => {
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) complaints.push(message.text());
    });
    return page;
  };
  const inboxIn = async (context: BrowserContext, origin = service.url): Promise<Page> => {
    const page = await watched(context);
    await page.goto(`${origin}/ui/inbox`);
    return page;
  };
  return {
    service,
    browser,
    admin,
    complaints,
    async send(username, payload, title = 'A form', messageId = null) {
      await person(username);
      const message = await request('POST', '/procedures/inboxSend', [messageId, title, { responseTopic: TOPIC, ...payload }, [username]]);
      return String(message['_id']);
    },
    async answersFrom(username) {
      const query = { where: JSON.stringify({ by: username }), sort: '{"_id":1}' };
      const rows = JSON.parse((await admin.send('GET', '/custom/Heard', { query })).text) as Row[];
      return rows.map((row) => row['v'] as Row);
    },
    async open(username, options = PHONE, origin = service.url) {
      await person(username);
      const context = await browser.newContext({
        ...{ locale: 'en-GB', timezoneId: 'Europe/Berlin', geolocation: PLACE, permissions: ['geolocation', 'camera', 'microphone'] },
        ...options,
      });
      const page = await inboxIn(context, origin);
      await logIn(page, username);
      return { page, context };
    },
    inboxIn,
    async [Symbol.asyncDispose]() {
      await browser.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

export async function logIn(page: Page, username: string): Promise<void> {
  await page.locator('#username').fill(username);
  await page.locator('#secret').fill(PASSWORD);
  await page.locator('button[type=submit]').click();
  await expect.poll(() => page.locator('#secret').count()).toBe(0);
}

const SHOTS = process.env['CASCADE_SCREENSHOTS'];

/** Into the folder that CASCADE_SCREENSHOTS names; without it none is made. */
export async function shot(page: Page, name: string): Promise<void> {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
}

/** What a browser says of requests that find nobody, or are refused, which the page shows itself; and of a header that counts over HTTPS alone. */
const EXPECTED = /Failed to load resource|WebSocket connection to|net::ERR_|Cross-Origin-Opener-Policy header has been ignored/;
