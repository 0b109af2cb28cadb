// What a phone loads for the page of the inbox, compressed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** The repository's, whether this runs from its source or from dist/. */
export function rootFolder(): string {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json'))) root = dirname(root);
  return root;
}

export function printWeight(): void {
  const folder = join(rootFolder(), 'dist/inbox');
  const names = readdirSync(folder).filter((name) => /\.(?:html|css|js|svg)$/.test(name));
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  const bytesOf = (some: readonly string[]): number =>
    some.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);
  const first = withImported(
    folder,
    names.filter((name) => name === 'page.html' || (page.includes(name) && !name.endsWith('.svg'))),
  );
  const scripts = names.filter((name) => name.endsWith('.js') && !first.includes(name) && name !== 'worker.js');
  const rows: [string, readonly string[]][] = [
    ['page, style and the scripts that it begins with', first],
    ['scripts that are loaded when something is recorded, drawn or scanned', scripts],
    ['service worker', ['worker.js']],
    ['land of the map', names.filter((name) => name.startsWith('land.'))],
    ['all of these', [...first, ...scripts, 'worker.js', ...names.filter((name) => name.startsWith('land.'))]],
  ];
  for (const [what, some] of rows) console.log(`${(bytesOf(some) / 1_000).toFixed(1).padStart(6)} kB gzip  ${what} (${some.length} files)`);
}

/** With the scripts that are loaded before those that import them run. */
function withImported(folder: string, names: readonly string[]): string[] {
  const found = new Set(names);
  for (const name of found)
    for (const [, imported = ''] of readFileSync(join(folder, name), 'utf8').matchAll(/(?:from|import)"\.\/([\w.-]+\.js)"/g))
      found.add(imported);
  return [...found];
}
