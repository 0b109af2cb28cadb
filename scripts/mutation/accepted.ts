// The list of survivors that are no gap: changes that mean the same, or that nobody can see.
import { parse } from 'yaml';
import type { Identity } from './mutant.ts';

export interface Accepted extends Identity {
  readonly reason: string;
}

/** @throws Error of an entry that lacks something */
export function readAccepted(text: string): Accepted[] {
  const list = (parse(text) ?? []) as Partial<Accepted>[];
  return list.map(({ file, line, change, reason }, i) => {
    if (!file || !line || !change || !reason) throw new Error(`accepted.yaml: entry ${i + 1} has not all of file, line, change and reason`);
    return { file, line, change, reason };
  });
}
