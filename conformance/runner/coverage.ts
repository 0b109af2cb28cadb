// Which rows and sections of the specification no case names. A reference is written `language.md 5.2 F1-F4 4.6; builtins.md C7`;
// a range may name rows (`F1-F4`) or sections (`5.1-5.10`).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CaseFile } from './case-file.ts';

export interface Coverage {
  readonly file: string;
  readonly sections: { readonly all: string[]; readonly missing: string[] };
  readonly rows: { readonly all: string[]; readonly missing: string[] };
}

export function coverage(specFolder: string, files: readonly CaseFile[]): Coverage[] {
  const references = files.flatMap(({ spec, cases }) => [...spec, ...cases.flatMap((one) => one.spec)]);
  const named = namedBy(references);
  const calls = callsIn(files);
  return readdirSync(specFolder)
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => coverageOf(file, readFileSync(join(specFolder, file), 'utf8'), named.get(file) ?? new Set(), calls));
}

/** By file: the sections (`5.2`) and row ids (`F1`) that the references name. */
export function namedBy(references: readonly string[]): Map<string, Set<string>> {
  const named = new Map<string, Set<string>>();
  for (const reference of references.flatMap((text) => text.split(';'))) {
    const [file, ...rest] = reference.trim().split(/[\s,]+/);
    if (!file) continue;
    const ids = named.get(file) ?? new Set();
    named.set(file, ids);
    for (const item of rest) {
      const [, stem, from, to] = /^([A-Z]|\d+\.)(\d+)[-–](?:\1)?(\d+)$/.exec(item) ?? [];
      if (stem === undefined) ids.add(item);
      else for (let number = Number(from); number <= Number(to); number++) ids.add(`${stem}${number}`);
    }
  }
  return named;
}

/** What is called in the programs of the cases: names with a bracket behind, a method by its own name too. */
export function callsIn(files: readonly CaseFile[]): Set<string> {
  const calls = new Set<string>();
  for (const [, name = ''] of JSON.stringify(files).matchAll(/([A-Za-z_][\w.]*)\s*\(/g)) {
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
    const row = /^\|\s*([A-Z]\d+)\s*\|/.exec(line)?.[1];
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
