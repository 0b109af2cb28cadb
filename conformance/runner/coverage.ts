// Which rows and sections of the specification no case names. A reference is written `language.md 5.2 F1-F4 4.6; builtins.md C7`;
// a range may name rows (`F1-F4`), sections (`5.1-5.10`) or rows of a table without ids by their number (`12.2/1-4`). What cannot be seen
// through the API alone, such as a crash, is shown by a test, which says so in a line `// spec: …` above it; those count apart.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CaseFile } from '../../case-runner/runner/index.ts';

interface Named {
  readonly all: string[];
  readonly missing: string[];
}
export interface Coverage {
  readonly file: string;
  readonly sections: Named;
  readonly rows: Named;
}
/** With the sections and rows that no case but a test names. */
export type CoverageWithTests = Coverage & { readonly byTest: readonly string[] };

/** Sections whose tables have rows without ids, which count by their number (`12.2/3`). */
const NUMBERED: Readonly<Record<string, ReadonlySet<string>>> = {
  'integrations.md': new Set(
    '1.1 1.2 1.4 1.5 1.6 1.7 1.11 2.1 2.2 2.6 2.7 3.1 3.3 4.1 5 6.1 6.2 7.1 7.2 7.3 8.1 8.2 8.3 8.6 12.2'.split(' '),
  ),
};

/** @param tests references of tests: testReferences() */
export function coverage(specFolder: string, files: readonly CaseFile[], tests: readonly string[]): CoverageWithTests[] {
  const references = files.flatMap(({ spec, cases }) => [...spec, ...cases.flatMap((one) => one.spec)]);
  const byCase = namedBy(references);
  const byTest = namedBy(tests);
  const calls = callsIn(files);
  return readdirSync(specFolder)
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => {
      const text = readFileSync(join(specFolder, file), 'utf8');
      const cases = byCase.get(file) ?? new Set();
      const { sections, rows } = coverageOf(file, text, cases, calls);
      const both = coverageOf(file, text, new Set([...cases, ...(byTest.get(file) ?? [])]), calls);
      const missing = new Set([...both.sections.missing, ...both.rows.missing]);
      const shown = [...sections.missing, ...rows.missing].filter((id) => !missing.has(id));
      return { ...both, byTest: shown };
    });
}

/** What the tests below a folder say that they show, in lines `// spec: …`. */
export function testReferences(root: string): string[] {
  return readdirSync(root, { withFileTypes: true }).flatMap((entry) => {
    const path = join(root, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : testReferences(path);
    if (!/\.(?:test|brokers)\.ts$/.test(entry.name)) return [];
    return [...readFileSync(path, 'utf8').matchAll(/^ *\/\/ spec: (.+)$/gm)].map(([, references = '']) => references);
  });
}
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'data', '.git']);

/** By file: the sections (`5.2`) and row ids (`F1`) that the references name. */
export function namedBy(references: readonly string[]): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  for (const reference of references.flatMap((text) => text.split(';'))) {
    const [file, ...rest] = reference.trim().split(/[\s,]+/);
    if (!file) continue;
    const ids = named.get(file) ?? new Set();
    named.set(file, ids);
    for (const item of rest) {
      const [, stem, from, to] = /^([A-Z]|\d+\.|[\d.]+\/)(\d+)[-–](?:\1)?(\d+)$/.exec(item) ?? [];
      if (stem === undefined) ids.add(item);
      else for (let number = Number(from); number <= Number(to); number++) ids.add(`${stem}${number}`);
    }
  }
  return named;
}

/** What is called in the programs of the cases: names with a bracket behind, a method by its own name too. */
export function callsIn(files: readonly CaseFile[]): Set<string> {
  const calls = new Set<string>();
  for (const [, name = ''] of JSON.stringify(files).matchAll(/(?<!\w)([A-Za-z_][\w.]*)\s*\(/g)) {
    const parts = name.split('.');
    for (let i = 0; i < parts.length; i++) calls.add(parts.slice(i).join('.'));
  }
  return calls;
}

/** The built-ins that a table row is about, by what its first cell calls: `a(x)`, `b(y)`; `Service.c(…)`; `<d>.e()`. */
function builtinsOf(line: string): string[] {
  const cell = /^\|((?:[^|`]|`[^`]*`)*)\|/.exec(line)?.[1] ?? '';
  return [...cell.matchAll(/`(?:<\w+>)?\.?([A-Za-z_][\w.]*)\(/g)].map(([, name = '']) => name);
}

/** A section counts as named when it, or a row in it, is. Row ids are those in the first column of tables; a built-in's
 * row is `section:name`, named by a case of its section that calls it. */
export function coverageOf(file: string, text: string, named: ReadonlySet<string>, calls: ReadonlySet<string> = new Set()): Coverage {
  const sections: string[] = [];
  const rows: string[] = [];
  const touched = new Set<string>();
  let section = '';
  let numbered = -2;
  /** Rows of the section so far: a second table goes on behind the first. */
  let before = 0;
  const called = new Set<string>();
  const isTouched = (): boolean => named.has(section) || section.startsWith('0');
  for (const line of text.split('\n')) {
    const heading = /^#{1,4} (\d+(?:\.\d+)*)\.? /.exec(line)?.[1];
    if (heading !== undefined) {
      section = heading;
      sections.push(heading);
    }
    for (const builtin of file === 'builtins.md' ? builtinsOf(line) : []) {
      const id = `${section}:${builtin}`;
      if (rows.includes(id)) continue;
      rows.push(id);
      if (calls.has(builtin) && isTouched()) called.add(id);
    }
    if (heading !== undefined || !line.startsWith('|')) {
      before = heading === undefined ? before + Math.max(numbered, 0) : 0;
      numbered = -2; // its head and the line below come first
    } else if (NUMBERED[file]?.has(section)) numbered++;
    const row = /^\|\s*([A-Z]\d+[a-z]?)\s*\|/.exec(line)?.[1] ?? (numbered > 0 ? `${section}/${before + numbered}` : undefined);
    if (row === undefined) continue;
    rows.push(row);
    if (named.has(row)) touched.add(section);
  }
  const isNamed = (id: string) =>
    named.has(id) || touched.has(id) || sections.some((inner) => inner.startsWith(`${id}.`) && (named.has(inner) || touched.has(inner)));
  return {
    file,
    sections: { all: sections, missing: sections.filter((id) => !isNamed(id)) },
    rows: { all: rows, missing: rows.filter((id) => !named.has(id) && !called.has(id)) },
  };
}
