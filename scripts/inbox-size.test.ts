// The page of the inbox stays small: all that a phone loads for it, packed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const MOST_BYTES = 80 * 1_024;
const FOLDER = 'dist/inbox';

test('page, style and all scripts take at most 80 kB gzip, parts for media included', () => {
  const files = readdirSync(FOLDER).filter((name) => /\.(?:html|css|js)$/.test(name));
  expect(files).toContain('page.html');
  expect(files.some((name) => name.startsWith('app.'))).toBe(true);
  const bytes = files.map((name) => gzipSync(readFileSync(join(FOLDER, name))).length);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(MOST_BYTES);
});
