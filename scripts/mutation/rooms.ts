// The pure rooms whose mutants are tried, and the tests that are to notice them. What is left out would decide by the clock, or takes seconds
// for each mutant that survives, and shows little that others do not.
export interface Room {
  readonly name: string;
  /** Globs of the unit tests. */
  readonly tests: readonly string[];
  readonly without: readonly string[];
  /** Whether the conformance cases about programs are tried, too. */
  readonly cases: boolean;
}

export const ROOMS: readonly Room[] = [
  {
    name: 'compiler',
    // What emitted code does is held by tests of the isolate.
    tests: ['compiler/**/*.test.ts', 'stdlib/isolate/{calls,statements,trace}.test.ts'],
    without: ['compiler/fuzz.test.ts', 'compiler/1-parse/hostile.test.ts'],
    cases: true,
  },
  {
    name: 'stdlib',
    // What a declaration says to readers alone, codes and descriptions, is on the reference page.
    tests: ['stdlib/**/*.test.ts', 'scripts/reference-pages.test.ts'],
    without: ['stdlib/isolate/growth.test.ts', 'stdlib/values/long-texts.test.ts'],
    cases: true,
  },
  { name: 'typing', tests: ['typing/**/*.test.ts'], without: [], cases: false },
  // Without what needs a database; tests that compare with one where there is one are here, for what they say without it.
  {
    name: 'model',
    tests: ['model/**/*.test.ts'],
    without: ['model/types/store.test.ts'],
    cases: true,
  },
];

/** `compiler/1-parse` of `compiler/1-parse/names.ts`, and of what is in folders below it; `compiler` of `compiler/advice.ts`. */
export function folderOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 2).join('/');
}

/** What Stryker is to change for these folders: a room, a folder of one, or a file. */
export function patternsOf(room: string, wanted: readonly string[]): string[] {
  const own = wanted.filter((path) => path === room || path.startsWith(`${room}/`));
  if (own.length === 0) return [];
  const files = own.map((path) => (path.endsWith('.ts') ? path : `${path}/**/*.ts`));
  return [...files, '!**/*.test.ts', '!**/*.d.ts', '!**/testing/**', '!**/*testing.ts', '!**/index.ts'];
}
