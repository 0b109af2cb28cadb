// `cascade check`: shows the diagnostics of files, for people or as JSON: errors and advice, on types too.
import { checkSyntax, compile, type Diagnostic } from '../../compiler/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import { printDiagnostics } from './diagnostics.ts';
import { NO_PROJECT, proceduresOf, projectAround, readProject, stateOf } from './project.ts';
import { readSource, type Terminal } from './terminal.ts';

export interface CheckOptions {
  readonly json?: boolean;
  readonly syntaxOnly?: boolean;
  /** A project, a folder of types, or a file with types. */
  readonly types?: string;
}
interface Checked {
  file: string;
  ok: boolean;
  diagnostics: readonly Diagnostic[];
}

/** @returns 0 when no file has errors (warnings are none), else 1 */
export async function check(files: readonly string[], options: CheckOptions, terminal: Terminal): Promise<number> {
  const sources = await Promise.all(files.map(readSource));
  const diagnose = options.syntaxOnly ? () => checkSyntax : await checkers(files, sources, options.types);
  const checked = files.map((file, index): Checked => {
    const diagnostics = diagnose(file)(sources[index] ?? '');
    return { file, ok: diagnostics.every(({ severity }) => severity !== 'error'), diagnostics };
  });
  if (options.json) terminal.out(`${JSON.stringify({ files: checked.map(toJson) })}\n`);
  else
    terminal.out(checked.map(({ file, diagnostics }) => printDiagnostics(file, diagnostics, terminal.colors)).join('') + summary(checked));
  return checked.every(({ ok }) => ok) ? 0 : 1;
}

type Check = (source: string) => readonly Diagnostic[];

/** One checker for each project, whose files know each other; files without a project do not. */
async function checkers(files: readonly string[], sources: readonly string[], types: string | undefined): Promise<(file: string) => Check> {
  const projects = new Map<string, string | null>();
  for (const file of files) projects.set(file, types ?? (await projectAround(file)));
  const made = new Map<string | null, Check>();
  for (const path of new Set(projects.values())) made.set(path, await checker(path, sources));
  return (file) => made.get(projects.get(file) ?? null) ?? checkSyntax;
}

async function checker(path: string | null, besides: readonly string[]): Promise<Check> {
  const { environmentOf, TypeChecker } = await import('../../typing/index.ts'); // loaded when needed: TypeScript takes its time
  const project = path === null ? NO_PROJECT : await readProject(path);
  const compiling = { builtins: builtinTable(), stateOf: stateOf(project) };
  const procedures = proceduresOf([...project.texts, ...besides], compiling);
  const typeChecker = new TypeChecker(environmentOf(project.types, procedures, project.complete), compiling.stateOf);
  return (source) => {
    const { ok, diagnostics } = compile(source, { ...compiling, advice: true });
    if (!ok) return diagnostics;
    return [...diagnostics, ...typeChecker.check(source)].sort((a, b) => a.start - b.start);
  };
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
