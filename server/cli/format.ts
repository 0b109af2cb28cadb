// `cascade format`: brings files into their standard form, or lists those that are not in it.
import { writeFile } from 'node:fs/promises';
import { format } from '../../compiler/index.ts';
import { printDiagnostics } from './diagnostics.ts';
import { readSource, reasonOf, type Terminal, UsageError } from './terminal.ts';

/** @returns 0, or 1 when a file has errors or, with `check`, is not in its standard form */
export async function formatFiles(files: readonly string[], options: { check?: boolean }, terminal: Terminal): Promise<number> {
  let code = 0;
  for (const file of files) {
    const source = await readSource(file);
    const result = format(source);
    if (!result.ok) {
      terminal.err(printDiagnostics(file, result.diagnostics, terminal.colors));
      code = 1;
    } else if (result.text !== source) {
      terminal.out(`${file}${options.check ? ' is not in its standard form' : ''}\n`);
      if (options.check) code = 1;
      else await replace(file, result.text);
    }
  }
  return code;
}

async function replace(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${reasonOf(error)}.`);
  }
}
