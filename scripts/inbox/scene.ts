// A service with one person who is asked to fill a form with every type of field.
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { ALL_FIELDS } from '../../conformance/inbox/all-fields.ts';

export const PERSON = { username: 'ann', password: 'a person of the figures' };
export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

export interface Scene extends AsyncDisposable {
  readonly browser: Browser;
  /** The address of the inbox. */
  readonly address: string;
  /** A new browser in which nothing is kept, at the inbox, logged in. */
  open(options: BrowserContextOptions): Promise<{ context: BrowserContext; page: Page }>;
}

export async function openScene(browser: Browser): Promise<Scene> {
  const service = await startService({ args: ['--host', '127.0.0.1'] });
  const client = new RestClient(service.url);
  const post = async (path: string, body: object | string): Promise<void> => {
    const isText = typeof body === 'string';
    const headers = { 'content-type': isText ? 'text/plain' : 'application/json' };
    const { status, text } = await client.send('POST', path, { text: isText ? body : JSON.stringify(body), headers });
    if (status >= 300) throw new Error(`the service refused ${path}: ${status} ${text}`);
  };
  await client.login(service.user, service.password);
  await post('/users', PERSON);
  await post('/sources', { name: 'figures', type: 'PUSH_NOTIF', config: {} });
  await post(
    '/procedures',
    'PROCEDURE ask(form, user) return Notification.sendPayload("figures", null, "figures", "All fields", form, [user])',
  );
  await post('/procedures/ask', [{ responseTopic: '/figures/answered', fields: ALL_FIELDS }, PERSON.username]);
  const address = `${service.url}/ui/inbox`;
  return {
    browser,
    address,
    async open(options) {
      const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options });
      const page = await context.newPage();
      await page.goto(address);
      await logIn(page, PERSON);
      return { context, page };
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

export async function logIn(page: Page, { username, password }: typeof PERSON): Promise<void> {
  await page.locator('#username').fill(username);
  await page.locator('#secret').fill(password);
  await page.locator('button[type=submit]').click();
  await page.locator('a.message').first().waitFor();
}
