// `npm run docs`: writes what is made from the code: docs/errors.md, docs/builtins.md and docs/dependencies.mmd; and the tables of figures in README.md and
// docs/performance.md from the run of benchmarks that is kept.
import { writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dependencyDiagram } from './dependencies.ts';
import { figurePages } from './figure-pages.ts';
import { readExamples } from './examples.ts';
import { referencePages } from './reference-pages.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url)))); // of the built script, in dist/scripts
for (const [name, text] of [...referencePages(readExamples(root)), ['dependencies.mmd', dependencyDiagram(root)] as const]) {
  const file = join(root, 'docs', name);
  writeFileSync(file, text);
  console.log(`written ${relative(process.cwd(), file)}`);
}
for (const [name, text] of await figurePages(root)) {
  writeFileSync(join(root, name), text);
  console.log(`written ${name}`);
}
