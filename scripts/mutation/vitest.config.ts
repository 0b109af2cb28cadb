// How StrykerJS runs the tests of a room: a process for each mutant (what modules compute at their start is mutated, too), unit tests first.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ROOMS } from './rooms.ts';

const room = ROOMS.find(({ name }) => name === process.env['CASCADE_MUTATION_ROOM']);
if (!room) throw new Error('CASCADE_MUTATION_ROOM names no room');
const CASES = 'scripts/mutation/cases.mutation.ts';

class CasesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => Number(moduleId.endsWith(CASES));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: [...room.tests, ...(room.cases ? [CASES] : [])],
    exclude: ['**/node_modules/**', 'dist/**', ...room.without],
    setupFiles: ['scripts/testing/seed.ts'],
    pool: 'forks',
    isolate: true,
    testTimeout: 300_000,
    sequence: { sequencer: CasesLast },
  },
});
