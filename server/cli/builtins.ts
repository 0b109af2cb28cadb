// `cascade builtins`: lists what programs can call, for people and for editors.
import { completions } from '../../stdlib/builtins/index.ts';
import type { Terminal } from './terminal.ts';

/** @param prefix of the names; all when it is empty @returns 0, or 1 when no name has the prefix */
export function listBuiltins(prefix: string, { json = false }: { json?: boolean }, terminal: Terminal): number {
  const found = completions(prefix);
  if (json) terminal.out(`${JSON.stringify(found, null, 2)}\n`);
  else for (const { call, about } of found) terminal.out(`${call}\n    ${about}\n`);
  return found.length > 0 ? 0 : 1;
}
