// Coverage of the specification by row (rows.yaml): what cases and tests say that they show exists, and no row loses its case.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { namedBy, testReferences } from './runner/coverage.ts';
import { readCases } from './runner/index.ts';

interface Ids {
  readonly sections: readonly string[];
  readonly shown: readonly string[];
  readonly todo: readonly string[];
}

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const rows = new Map(Object.entries(parse(readFileSync(at('rows.yaml'), 'utf8')) as Record<string, Ids>));
const files = readCases(at('cases'));
/** By cases, rows of tables and tests; the heads of files apart. */
const named = namedBy([...files.flatMap(({ cases }) => cases.flatMap(({ spec }) => spec)), ...testReferences(at('..'))]);
const heads = namedBy(files.flatMap(({ spec }) => spec));

test('what cases and tests say that they show is a section or a row of the specification', () => {
  const unknown = [...named, ...heads].flatMap(([file, ids]) => {
    const known = new Set(Object.values(rows.get(file) ?? {}).flat());
    return [...ids].filter((id) => !known.has(id)).map((id) => `${file} ${id}`);
  });
  expect(unknown).toEqual([]);
});

test('every row that had a case has one, and a row that gets its first leaves the list of those to do', () => {
  const lost = [...rows].flatMap(([file, { shown }]) => shown.filter((id) => !named.get(file)?.has(id)).map((id) => `${file} ${id}`));
  const gained = [...rows].flatMap(([file, { todo }]) => todo.filter((id) => named.get(file)?.has(id)).map((id) => `${file} ${id}`));
  expect({ lost, gained }).toEqual({ lost: [], gained: [] });
});

test('a row is listed once', () => {
  for (const [file, { shown, todo }] of rows) expect(new Set([...shown, ...todo]).size, file).toBe(shown.length + todo.length);
});
