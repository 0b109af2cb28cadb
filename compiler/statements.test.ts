// Every kind of statement is known wherever statements are told apart. A new kind of ast.ts is an error of types here first.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { builtinTable } from '../stdlib/builtins/index.ts';
import { parse } from './1-parse/index.ts';
import type { Statement } from './ast.ts';
import { Diagnostics } from './diagnostics.ts';
import { compile, format } from './index.ts';
import { print } from './print/index.ts';
import { randomTree } from './print/testing/random-trees.ts';

type Kind = Statement['type'];

/** Of each kind one, in the standard form, the last of its body; `p` is a parameter. */
const EXAMPLES: Readonly<Record<Kind, string>> = {
  Var: 'var x = p',
  Assign: 'p = 1',
  If: 'if (p) {\n  return 1\n}',
  For: 'for (x in p) {\n  log.info(x)\n}',
  While: 'while (p) {\n  log.info(p)\n}',
  Try: 'try {\n  return 1\n} catch (e) {\n  return e\n}',
  Return: 'return p',
  Publish: 'PUBLISH p TO TOPIC "/a"',
  PublishRequest: 'PUBLISH REQUEST ON T WITH p',
  Create: 'CREATE RULE (p)',
  Drop: 'DROP RULE r',
  Recommendations: 'FILTER (x IN p) RECOMMENDATIONS TO r DO MATCH {\n  RECOMMEND x\n}',
  Recommend: 'FILTER (x IN p) RECOMMENDATIONS TO r DO MATCH {\n  RECOMMEND x\n}',
  Select: 'SELECT FROM T AS t WHERE n == p',
  Insert: 'INSERT T(n: p)',
  Upsert: 'UPSERT T(n: p)',
  Update: 'UPDATE T(n: p) WHERE n == 1',
  Delete: 'DELETE T WHERE n == p',
  Execute: 'EXECUTE f(p)',
  Filter: 'FILTER (x IN p) {\n  x\n}',
  Map: 'MAP (x IN p) {\n  x\n}',
  ExpressionStatement: 'log.info(p)',
};
const kinds = Object.entries(EXAMPLES) as [Kind, string][];
const kindsIn = (node: unknown): string[] =>
  node === null || typeof node !== 'object'
    ? []
    : [...('type' in node ? [String(node.type)] : []), ...Object.values(node).flatMap(kindsIn)];

test.each(kinds)('%s is parsed, printed, formatted alike, and compiles to what is verified', (kind, example) => {
  const text = `PROCEDURE S.a(p)\n${example}\n`;
  const tree = parse(text, new Diagnostics());
  expect(kindsIn(tree)).toContain(kind);
  expect(print(tree!)).toBe(text);
  expect(format(text)).toMatchObject({ ok: true, text });
  expect(compile(text, { builtins: builtinTable(), advice: true }).diagnostics.filter(({ code }) => !code.includes('check'))).toEqual([]);
});

test('random trees have all of them', () => {
  const seen = new Set(fc.sample(randomTree(), { numRuns: 500, seed: 1 }).flatMap(kindsIn));
  expect(kinds.map(([kind]) => kind).filter((kind) => !seen.has(kind))).toEqual([]);
});
