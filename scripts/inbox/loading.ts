// When the inbox is there on a phone: a slow 4G connection and a processor of a quarter of ours, as Lighthouse slows them down.
import type { BrowserContext, Page } from 'playwright-core';
import { PERSON, PHONE, type Scene } from './scene.ts';

const TIMES = 5;
/** Lighthouse's slow 4G where requests are slowed down one by one: bytes a second, milliseconds. */
const SLOW_4G = { offline: false, latency: 562.5, downloadThroughput: 1_474_560 / 8, uploadThroughput: 675_000 / 8 };
const SLOWER = 4;

/** Milliseconds since the navigation began. */
interface Loading {
  readonly painted: number;
  readonly usable: number;
}

export async function printLoading(scene: Scene): Promise<void> {
  const [first, later, form]: [Loading[], Loading[], number[]] = [[], [], []];
  for (let time = 0; time < TIMES; time++) {
    await using context = await scene.browser.newContext({ ...PHONE, locale: 'en-GB' });
    const page = await slowPage(context);
    first.push(await loading(page, scene.address, '#secret'));
    await page.locator('#username').fill(PERSON.username);
    await page.locator('#secret').fill(PERSON.password);
    await page.locator('button[type=submit]').click();
    await page.locator('a.message').waitFor();
    const tapped = performance.now();
    await page.locator('a.message').tap();
    await page.locator('.footer button').waitFor();
    form.push(performance.now() - tapped);
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)');
    later.push(await loading(await slowPage(context), scene.address, 'a.message'));
  }
  const row = (what: string, runs: readonly number[]): void => console.log(`${median(runs).toFixed(0).padStart(6)} ms       ${what}`);
  row(
    'first visit: first paint',
    first.map(({ painted }) => painted),
  );
  row(
    'first visit: one can log in',
    first.map(({ usable }) => usable),
  );
  row(
    'later visit: first paint',
    later.map(({ painted }) => painted),
  );
  row(
    'later visit: what waits is listed',
    later.map(({ usable }) => usable),
  );
  row('from the tap to the form with all fields', form);
  console.log(`       (slow 4G, processor at 1/${SLOWER}, median of ${TIMES})`);
}

async function slowPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  const client = await context.newCDPSession(page);
  await client.send('Network.enable');
  await client.send('Network.emulateNetworkConditions', SLOW_4G);
  await client.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  return page;
}

/** @param sign what is in the page when it can be used */
async function loading(page: Page, address: string, sign: string): Promise<Loading> {
  await page.goto(address, { waitUntil: 'commit' });
  await page.locator(sign).first().waitFor();
  const usable = await page.evaluate<number>('performance.now()');
  const painted = await page.evaluate<number>('performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN');
  return { painted, usable };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
