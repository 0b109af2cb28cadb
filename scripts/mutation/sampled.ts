// A plugin of StrykerJS: a checker (which usually says what does not compile) that lets only the sample pass, so that nothing else is run.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Mutant } from './mutant.ts';
import { choose } from './sample.ts';

type TestedMutant = Mutant & { readonly fileName: string };

function sampled() {
  const { size, seed } = JSON.parse(process.env['CASCADE_MUTATION_SAMPLE'] ?? '') as { size: number; seed: number };
  const sources = new Map<string, string>();
  const read = (file: string): string => {
    const source = sources.get(file) ?? readFileSync(file, 'utf8');
    sources.set(file, source);
    return source;
  };
  let chosen: ReadonlySet<string> | null = null;
  return {
    init: async (): Promise<void> => undefined,
    /** Stryker tells all mutants at once here, and then those of each group. */
    group: async (mutants: readonly TestedMutant[]): Promise<string[][]> => {
      if (chosen) throw new Error('a sample is drawn of all mutants at once, and here are more');
      const candidates = mutants.map((mutant) => ({ ...mutant, file: relative(process.cwd(), mutant.fileName).replaceAll('\\', '/') }));
      chosen = choose(candidates, read, size, seed);
      return [mutants.map(({ id }) => id)];
    },
    check: async (mutants: readonly TestedMutant[]): Promise<Record<string, { status: string; reason?: string }>> =>
      Object.fromEntries(
        mutants.map(({ id }) => [id, chosen?.has(id) ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' }]),
      ),
  };
}

export const strykerPlugins = [{ kind: 'Checker', name: 'sampled', factory: sampled }];
