// The pictures of the documents (docs/images): the example `inspection`, as its inspector sees it on a phone and on a desktop. What is before the
// camera is drawn here.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { openChromium } from '../../conformance/inbox/chromium.ts';
import { DRAWN, SCENERY } from './scenery.ts';
import { logIn, PHONE } from './scene.ts';
import { rootFolder } from './weight.ts';

const DESKTOP: BrowserContextOptions = { viewport: { width: 1_280, height: 800 } };
const PLACE = { longitude: -118.61, latitude: 34.42 };
const WAITING = /wait at (?<address>\S+): log in as (?<username>\w+), password '(?<password>[^']+)'/;

interface Example extends AsyncDisposable {
  readonly address: string;
  readonly person: { readonly username: string; readonly password: string };
  /** Waits for a line that it prints. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

export async function takePictures(plain: Browser): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-pictures-'));
  try {
    const film = join(folder, 'scenery.mjpeg');
    writeFileSync(film, await drawn(plain));
    await using browser = await openChromium([`--use-file-for-fake-video-capture=${film}`]);
    await using example = await startExample();
    await inspect(browser, example);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inspect(browser: Browser, example: Example): Promise<void> {
  const open = async (options: BrowserContextOptions): Promise<{ context: BrowserContext; page: Page }> => {
    const permissions = ['geolocation', 'camera', 'microphone', 'notifications'];
    const context = await browser.newContext({ locale: 'en-GB', geolocation: PLACE, permissions, ...options });
    const page = await context.newPage();
    await page.goto(example.address);
    await logIn(page, example.person);
    await page.locator('.notice').waitFor({ state: 'detached' });
    return { context, page };
  };
  const dark = await open({ ...PHONE, colorScheme: 'dark' });
  await dark.page.locator('a.message').first().tap();
  await dark.page.locator('.footer button').waitFor();
  await picture(dark.page, 'inspection-form-dark-390');
  await dark.context.close();

  const desktop = await open(DESKTOP);
  await desktop.page.locator('a.message').first().click();
  await fillIn(desktop.page);
  await picture(desktop.page, 'inspection-form-1280', true);
  await desktop.context.close();

  const { page, context } = await open(PHONE);
  await picture(page, 'inspection-list-390');
  await page.locator('a.message').first().tap();
  await page.locator('[data-field="photo"] button').first().tap();
  await page.locator('dialog[open] .button').first().waitFor();
  await page
    .locator('dialog[open] video')
    .evaluate('(video) => video.readyState >= 2 || new Promise((done) => { video.onloadeddata = done; })');
  await picture(page, 'inspection-camera-390');
  await page.keyboard.press('Escape');
  await fillIn(page);
  await picture(page, 'inspection-form-390', true);
  await page.locator('.footer button').tap();
  await example.printed(/inspected \(ann\), cracks/);
  await context.close();
}

async function fillIn(page: Page): Promise<void> {
  await page.locator('[data-field="damage"] label', { hasText: 'Cracks' }).click();
  await page.locator('[data-field="photo"] button').first().click();
  await page.locator('dialog[open]').getByRole('button', { name: 'Take Photo' }).click();
  await page.locator('[data-field="photo"] img').waitFor();
  await page.locator('[data-field="remark"] textarea').fill('Crack in the second pier, two metres long. The road is open.');
  await page.locator('.field .button[aria-expanded]').click();
  await page.locator('.map-box').waitFor();
  // The focus goes, so that no ring is in the picture.
  await page.evaluate('document.activeElement?.blur(); scrollTo(0, 0)');
}

/** @param isWhole from top to bottom, else what is on the screen */
async function picture(page: Page, name: string, isWhole = false): Promise<void> {
  const folder = join(rootFolder(), 'docs/images');
  mkdirSync(folder, { recursive: true });
  // As high as the page, so that its buttons stand at the end.
  if (isWhole) {
    const [width = 0, height = 0] = await page.evaluate<number[]>('[innerWidth, document.documentElement.scrollHeight]');
    await page.setViewportSize({ width, height });
  }
  await page.screenshot({ path: join(folder, `${name}.png`) });
  console.log(`docs/images/${name}.png`);
}

async function startExample(): Promise<Example> {
  const child = spawn(process.execPath, [join(rootFolder(), 'scripts/run.mjs'), 'example', 'inspection'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = lines.map((line) => pattern.exec(line)).find((one) => one !== null);
        if (!match) return;
        waiting.delete(look);
        resolve(match);
      };
      waiting.add(look);
      child.once('exit', () => reject(new Error(`the example ended without printing ${String(pattern)}:\n${lines.join('\n')}`)));
      look();
    });
  const { groups = {} } = await printed(WAITING);
  const { address = '', username = '', password = '' } = groups;
  return { address, person: { username, password }, printed, [Symbol.asyncDispose]: () => ended(child) };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  await exit;
}

/** A picture that chromium shows as what the camera sees. @returns JPEG */
async function drawn(browser: Browser): Promise<Buffer> {
  await using context = await browser.newContext({ viewport: SCENERY });
  const page = await context.newPage();
  await page.setContent(DRAWN);
  return await page.screenshot({ type: 'jpeg', quality: 90 });
}
