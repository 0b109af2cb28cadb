import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { CODES } from '../compiler/diagnostics.ts';
import { compile } from '../compiler/index.ts';
import { apiErrorCodes } from '../model/errors/api-errors.ts';
import { parseJson, toJson } from '../model/values/index.ts';
import { allBuiltins, builtinTable } from '../stdlib/builtins/index.ts';
import { TestLane } from '../stdlib/isolate/testing/lane.ts';
import { CATALOGUE } from '../stdlib/errors.ts';
import { dependencyDiagram } from './dependencies.ts';
import { figurePages } from './figure-pages.ts';
import { readExamples } from './examples.ts';
import { referencePages } from './reference-pages.ts';

const committed = (name: string): string => readFileSync(join(import.meta.dirname, '../docs', name), 'utf8');
const root = join(import.meta.dirname, '..');
const pages = new Map([...referencePages(readExamples(root)), ['dependencies.mmd', dependencyDiagram(root)]]);

test.each([...pages.keys()])('docs/%s is what the code says: `npm run docs` brings it up to date', (name) => {
  expect(committed(name)).toBe(pages.get(name));
});

test.each(await figurePages(root))('the figures of %s are of the run that is kept: `npm run docs` brings them up to date', (name, text) => {
  expect(readFileSync(join(root, name), 'utf8')).toBe(text);
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

describe('docs/language.md and docs/examples.md', () => {
  const builtins = builtinTable();
  const blocks = (kind: string): string[] =>
    [...committed('language.md').matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\``, 'gms'))].map(([, text]) => text as string);
  const recipes = [...committed('examples.md').matchAll(/^```cascade\n(.*?)^```/gms)].map(([, text]) => text as string);
  const programs = [...blocks('cascade'), ...recipes].map((text) =>
    /^(PACKAGE|RULE|(PRIVATE )?PROCEDURE)\b/m.test(text) ? text : `PROCEDURE example()\n${text}`,
  );
  const expressions = blocks('values').flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ +→ {2}/)),
  );

  test('every program compiles without a warning', () => {
    const wrong = programs.flatMap((text) =>
      compile(text, { builtins }).diagnostics.map(({ line, message }) => `${text.split('\n')[line - 1]}: ${message}`),
    );
    expect(programs.length).toBeGreaterThan(25);
    expect(wrong).toEqual([]);
  });

  test.each(expressions)('%s is %s', (expression, value) => {
    const text = `PROCEDURE example()\nreturn ${expression}`;
    const { diagnostics } = compile(text, { builtins });
    const lane = new TestLane({ compile: (source) => compile(source, { builtins }), evaluate: runInThisContext });
    const outcome = diagnostics.length > 0 ? null : lane.eval(`return ${expression}`);
    const found = diagnostics[0]?.code ?? outcome?.failure?.code ?? toJson(outcome?.value ?? null);
    expect(found).toBe(String(value).startsWith('cascade.') ? value : toJson(parseJson(String(value))));
  });
});
