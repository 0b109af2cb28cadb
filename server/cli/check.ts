// `cascade check`: the diagnostics of files, for people or as JSON.
import { checkSyntax, compile, type Diagnostic } from '../../compiler/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import { printDiagnostics } from './diagnostics.ts';
import { readSource, type Terminal } from './terminal.ts';

/** @returns 0 when no file has errors (warnings are none), else 1 */
export async function check(
  files: readonly string[],
  options: { json?: boolean; syntaxOnly?: boolean },
  terminal: Terminal,
): Promise<number> {
  const checked = [];
  for (const file of files) {
    const diagnostics = diagnose(await readSource(file), options.syntaxOnly === true);
    checked.push({ file, ok: diagnostics.every(({ severity }) => severity !== 'error'), diagnostics });
  }
  if (options.json) terminal.out(`${JSON.stringify({ files: checked.map(toJson) })}\n`);
  else
    terminal.out(checked.map(({ file, diagnostics }) => printDiagnostics(file, diagnostics, terminal.colors)).join('') + summary(checked));
  return checked.every(({ ok }) => ok) ? 0 : 1;
}

interface Checked {
  file: string;
  ok: boolean;
  diagnostics: readonly Diagnostic[];
}

function diagnose(source: string, syntaxOnly: boolean): readonly Diagnostic[] {
  return syntaxOnly ? checkSyntax(source) : compile(source, { builtins: builtinTable(), advice: true }).diagnostics;
}

const toJson = ({ file, ok, diagnostics }: Checked) => ({
  file,
  ok,
  diagnostics: diagnostics.map(({ code, message, severity, line, column }) => ({ code, message, severity, line, column })),
});

function summary(checked: readonly Checked[]): string {
  const all = checked.flatMap(({ diagnostics }) => diagnostics);
  const errors = all.filter(({ severity }) => severity === 'error').length;
  return `${count(checked.length, 'file')}, ${count(errors, 'error')}, ${count(all.length - errors, 'warning')}\n`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
