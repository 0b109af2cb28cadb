// Which mutants are tried: those with the lowest hashes of each folder. The hash is that of the mutant's name with the seed, so that the same
// seed tries the same mutants again, however the code around them has changed.
import { createHash } from 'node:crypto';
import { folderOf } from './rooms.ts';
import { type Mutant, identify, nameOf, original } from './mutant.ts';

export interface Candidate extends Mutant {
  /** Relative to the repository. */
  readonly file: string;
}

/** @returns the ids of the chosen; `size` of each folder, or all it has */
export function choose(mutants: readonly Candidate[], read: (file: string) => string, size: number, seed: number): Set<string> {
  const byFolder = new Map<string, { id: string; hash: string }[]>();
  for (const mutant of mutants) {
    const source = read(mutant.file);
    if (isProse(mutant, source)) continue;
    const folder = folderOf(mutant.file);
    const name = nameOf(identify(mutant.file, source, mutant, 0));
    const list = byFolder.get(folder) ?? [];
    list.push({ id: mutant.id, hash: createHash('sha256').update(`${seed} ${name} ${mutant.location.start.column}`).digest('hex') });
    byFolder.set(folder, list);
  }
  const chosen = [...byFolder.values()].flatMap((list) => list.sort((a, b) => (a.hash < b.hash ? -1 : 1)).slice(0, size));
  return new Set(chosen.map(({ id }) => id));
}

/** A text of several words is for people: codes and parameters are what cases hold, and docs/errors.md the texts. */
function isProse(mutant: Mutant, source: string): boolean {
  return mutant.mutatorName === 'StringLiteral' && /\S\s+\S/.test(original(source, mutant, 0));
}
