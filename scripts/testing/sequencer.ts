// The order of the test files: the longest first, so that neither worker waits at the end for the other. Files of the pure project stand
// together, since each worker loads their modules once, between the long files of the service and the short ones.
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
      isPure: project.name === 'pure',
    }));
  }
}

export function longestFirst<T>(files: readonly T[], durations: Durations, describe: (file: T) => { file: string; isPure: boolean }): T[] {
  const seconds = (file: T): number => durations[describe(file).file] ?? 0;
  const room = (file: T): number => (describe(file).isPure ? 1 : seconds(file) >= SHORT_S ? 0 : 2);
  return [...files].sort((a, b) => room(a) - room(b) || seconds(b) - seconds(a) || (describe(a).file < describe(b).file ? -1 : 1));
}
