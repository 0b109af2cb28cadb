// The pages that are made of the code. A mutation run tries them, too: what a declaration says to readers is nowhere else.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CODES } from '../compiler/diagnostics.ts';
import { apiErrorCodes } from '../model/errors/api-errors.ts';
import { allBuiltins, builtinTable } from '../stdlib/builtins/index.ts';
import { CATALOGUE } from '../stdlib/errors.ts';
import { readExamples } from './examples.ts';
import { referencePages } from './reference-pages.ts';

const root = join(import.meta.dirname, '..');
const committed = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8');
const pages = referencePages(readExamples(root));

test.each([...pages.keys()])('docs/%s is what the code says: `npm run docs` brings it up to date', (name) => {
  expect(committed(name)).toBe(pages.get(name));
});

describe('docs/errors.md', () => {
  const rows = [...committed('errors.md').matchAll(/^\| `([\w.]+)` \|/gm)].map(([, code]) => code as string);
  const ofCompiler = new Set<string>(CODES);
  const ofService = [...new Set<string>([...apiErrorCodes(), ...Object.keys(CATALOGUE)])];

  test('every code of the catalogues has a row', () => {
    expect([...CODES, ...ofService].filter((code) => !rows.includes(code))).toEqual([]);
  });

  test('a code has a second row only where compiler and service both raise it', () => {
    const twice = rows.filter((code, i) => rows.indexOf(code) !== i);
    expect(twice.filter((code) => !ofCompiler.has(code) || !ofService.includes(code))).toEqual([]);
    expect(rows.length).toBe(CODES.length + ofService.length);
  });
});

describe('docs/builtins.md', () => {
  const text = committed('builtins.md');

  test('every declaration has its row', () => {
    const rows = [...text.matchAll(/^\| `([\w.]+)\(/gm)].map(([, name]) => name as string).sort();
    const declared = [...allBuiltins()].flatMap(({ overloads }) => overloads.map(({ name }) => name)).sort();
    expect(rows).toEqual(declared);
  });

  test('every name that the compiler knows stands in it', () => {
    expect(
      [...builtinTable().keys()].filter((name) => !text.includes(`${name.replace(/^io\.service\.(?=ResourceConfig|Test)/, '')}(`)),
    ).toEqual([]);
  });
});
