// What axe-core finds in the inbox, of all impacts: the tests refuse what is serious.
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { PHONE, type Scene } from './scene.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface Result {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly help: string;
    readonly nodes: readonly unknown[];
  }[];
  readonly incomplete: readonly { readonly id: string }[];
  readonly passes: readonly unknown[];
}

export async function printAccess(scene: Scene): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    // axe-core comes into the page as an inline script, which the page's policy refuses elsewhere.
    const { context, page } = await scene.open({ ...PHONE, colorScheme, bypassCSP: true });
    await report(page, `list, ${colorScheme}`);
    await page.locator('a.message').tap();
    await page.locator('[data-field="map"] button').tap();
    await page.locator('.map-box').waitFor();
    await report(page, `form with all fields, ${colorScheme}`);
    await page.locator('.footer button').tap();
    await page.locator('.summary').waitFor();
    await report(page, `the same with what is missing, ${colorScheme}`);
    await context.close();
  }
}

async function report(page: Page, what: string): Promise<void> {
  await page.addScriptTag({ path: AXE });
  const { violations, incomplete, passes } = await page.evaluate<Result>('axe.run()');
  const unsure = incomplete.length === 0 ? '' : `, to be looked at: ${incomplete.map(({ id }) => id).join(' ')}`;
  console.log(`axe: ${violations.length} violations, ${passes.length} rules passed${unsure}: ${what}`);
  for (const { id, impact, help, nodes } of violations) console.log(`       ${impact} ${id}: ${help} (${nodes.length})`);
}
