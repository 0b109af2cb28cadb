// Debian's chromium, whose camera and microphone are not real.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';

const PROGRAM = process.env['CASCADE_CHROMIUM'] ?? '/usr/bin/chromium';

/** This machine by a name that browsers don't take for it: what comes from there over plain HTTP may use less. */
export const ELSEWHERE = 'plant.test';

/** @param args further ones of its command line. @throws Error: it is not on this machine (CASCADE_CHROMIUM names another place) */
export const openChromium = (args: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: PROGRAM,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'],
      `--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`,
      ...args,
    ],
  });

/** One whose owner has blocked all storage of pages: databases, locks and service workers are refused. */
export async function openWithoutStorage(options: BrowserContextOptions): Promise<{ context: BrowserContext } & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-chromium-'));
  mkdirSync(join(folder, 'Default'));
  const blocked = { profile: { default_content_setting_values: { cookies: 2 } } };
  writeFileSync(join(folder, 'Default', 'Preferences'), JSON.stringify(blocked));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: PROGRAM,
    args: ['--no-sandbox', '--disable-gpu'],
    ...options,
  });
  return {
    context,
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
