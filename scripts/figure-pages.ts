// README.md and docs/performance.md with the tables of the run that is kept in bench/figures.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performanceTable, readmeTable, readRun, withTable } from '../bench/report/index.ts';

/** The texts, by their files. @throws Error where the run, or a figure of it, or the place for it is missing */
export async function figurePages(root: string): Promise<(readonly [name: string, text: string])[]> {
  const run = await readRun(join(root, 'bench/figures.json'));
  const withIts = (name: string, table: string): readonly [string, string] => [
    name,
    withTable(readFileSync(join(root, name), 'utf8'), table),
  ];
  return [withIts('README.md', readmeTable(run)), withIts('docs/performance.md', performanceTable(run))];
}
