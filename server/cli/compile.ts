// `cascade compile`: prints a file's JavaScript on standard output; `cascade run` begins with it too.
import { type Compiled, compile } from '../../compiler/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import { printDiagnostics } from './diagnostics.ts';
import { readSource, type Terminal } from './terminal.ts';

/** @returns 0, or 1 when the file does not compile */
export async function compileFile(file: string, terminal: Terminal): Promise<number> {
  const unit = await compiled(file, terminal);
  if (!unit) return 1;
  terminal.out(`${unit.module.source}\n`);
  return 0;
}

/** Compiles a file; diagnostics, warnings too, go to standard error. Null when there are errors. */
export async function compiled(file: string, terminal: Terminal): Promise<(Compiled & { ok: true })['unit'] | null> {
  const result = compile(await readSource(file), { builtins: builtinTable() });
  if (result.diagnostics.length > 0) terminal.err(printDiagnostics(file, result.diagnostics, terminal.colors));
  return result.ok ? result.unit : null;
}
