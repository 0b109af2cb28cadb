import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { compile } from '../compiler/index.ts';
import { parseJson, toJson } from '../model/values/index.ts';
import { builtinTable } from '../stdlib/builtins/index.ts';
import { TestLane } from '../stdlib/isolate/testing/lane.ts';
import { dependencyDiagram } from './dependencies.ts';
import { figurePages } from './figure-pages.ts';

const committed = (name: string): string => readFileSync(join(import.meta.dirname, '../docs', name), 'utf8');
const root = join(import.meta.dirname, '..');
test('docs/dependencies.mmd is what the code says: `npm run docs` brings it up to date', () => {
  expect(committed('dependencies.mmd')).toBe(dependencyDiagram(root));
});

test.each(await figurePages(root))('the figures of %s are of the run that is kept: `npm run docs` brings them up to date', (name, text) => {
  expect(readFileSync(join(root, name), 'utf8')).toBe(text);
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
