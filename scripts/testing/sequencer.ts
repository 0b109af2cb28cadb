// The order of the test files: the longest first, so that no worker waits at the end for the others. Files of a project whose modules stay
// loaded (vitest.config.ts) stand together, since a worker is left for a new one where another project follows: first those that have a process
// each, which are the longest, then the pure ones, then those of the service, which end with many short ones.
// Durations, in seconds, are those of durations.json; CASCADE_TEST_DURATIONS=1 makes the report bring the table up to date (report.ts).
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

export type Durations = Readonly<Record<string, number>>;
/** Of files that are not in the table: it names only those that take longer. */
export const SHORT_S = 10;

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const durations = JSON.parse(readFileSync(new URL('durations.json', import.meta.url), 'utf8')) as Durations;
    return longestFirst(files, durations, ({ moduleId, project }) => ({
      file: relative(project.config.root, moduleId),
      project: project.name,
    }));
  }
}

/** The projects of vitest.config.ts in their order. */
const PROJECTS = ['own-process', 'pure', 'front-on-node', 'service'];

export function longestFirst<T>(files: readonly T[], durations: Durations, describe: (file: T) => { file: string; project: string }): T[] {
  const seconds = (file: T): number => durations[describe(file).file] ?? 0;
  const place = (file: T): number => PROJECTS.indexOf(describe(file).project);
  return [...files].sort((a, b) => place(a) - place(b) || seconds(b) - seconds(a) || (describe(a).file < describe(b).file ? -1 : 1));
}
