// `npm run docs`: writes the reference pages that are made from the code, docs/errors.md and docs/builtins.md.
import { writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readExamples } from './examples.ts';
import { referencePages } from './reference-pages.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url)))); // of the built script, in dist/scripts
for (const [name, text] of referencePages(readExamples(root))) {
  const file = join(root, 'docs', name);
  writeFileSync(file, text);
  console.log(`written ${relative(process.cwd(), file)}`);
}
