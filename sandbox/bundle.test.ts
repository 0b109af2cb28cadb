import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bundleFile } from './entries.ts';

// One other character, be it in a regular expression (which the build leaves as it is), and the engine keeps the text of each isolate twice as long.
test('the script that isolates are made from has ASCII characters only', () => {
  const text = readFileSync(bundleFile(), 'utf8');
  const other = /.{0,40}[^\0-\x7f].{0,40}/u.exec(text);
  expect(other?.[0]).toBeUndefined();
});
