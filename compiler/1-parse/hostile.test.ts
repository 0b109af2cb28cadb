// Text is hostile: no depth, size or nonsense makes the parser throw, hang or take more than linear time (language.md 10).
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { Diagnostics } from '../diagnostics.ts';
import { toDiagnostics } from '../lines.ts';
import { print } from '../print/index.ts';
import { randomTree } from '../print/testing/random-trees.ts';
import { parse } from './index.ts';
import { mistakes, mistakesInBody, read } from './testing/reading.ts';
import { amount } from '../../scripts/testing/amount.ts';

const SEED = Number(process.env['CASCADE_FUZZ_SEED'] ?? 20240302);
/** A busy machine is slow; what is not linear would take minutes. */
const MOST_MS = 15_000;
vi.setConfig({ testTimeout: 2 * MOST_MS });
const MEBI = 1 << 20;
const MOST_LEVELS = amount(40_000, 100_000);
/** Long enough that what is not linear would be seen. */
const LONG = amount(MEBI >> 3, MEBI >> 2);

/** Within the time of a processor, whoever else it works for meanwhile. */
function timed<T>(run: () => T): T {
  const start = process.cpuUsage();
  const result = run();
  expect(process.cpuUsage(start).user / 1_000).toBeLessThan(MOST_MS);
  return result;
}

test.each([
  ['parentheses', 'x = ', '(', 'a', ')'],
  ['arrays', 'x = ', '[', 'a', ']'],
  ['objects', 'x = ', '{a: ', '1', '}'],
  ['calls', 'x = ', 'f(', '1', ')'],
  ['subscripts', 'x = ', 'a[', '1', ']'],
  ['method calls', 'x = ', 'a[0].f(', '1', ')'],
  ['prefixes', 'x = ', '!', 'a', ''],
  ['signs', 'x = ', '- ', 'a', ''],
  ['NOT', 'x = ', 'NOT ', 'a', ''],
  ['powers', 'x = ', '2 ** ', '2', ''],
  ['ternaries', 'x = ', 'a ? b : ', 'c', ''],
  ['middle ternaries', 'x = ', 'a ? ', 'b', ' : c'],
  ['lambdas', 'x = ', 'a => ', 'b', ''],
  ['lambda blocks', 'x = ', 'f(a => { x = ', '1', ' })'],
  ['blocks', '', 'if (a) { ', 'x = 1', ' }'],
  ['loops', '', 'for x in c do ', 'x = 1', ' end'],
  ['tries', '', 'try { ', 'x = 1', ' } catch (e) { }'],
  ['catches', '', 'try { } catch (e) { ', 'x = 1', ' }'],
  ['selects in arguments', 'x = ', 'f(SELECT FROM A WHERE a == ', '1', ')'],
  ['selects in pairs', '', 'INSERT A(a: ', '1', ')'],
  ['processing blocks', '', 'SELECT FROM A { ', 'x = 1', ' }'],
  ['conditions', 'DELETE A WHERE ', '(', 'a == 1', ')'],
  ['NOT conditions', 'DELETE A WHERE ', 'NOT (', 'a == 1', ')'],
  ['filters', 'x = ', 'FILTER (a IN ', 'c', ') { }'],
  ['maps', 'x = ', 'MAP (a IN ', 'c', ') { }'],
  ['while blocks', '', 'while (a) { ', 'x = 1', ' }'],
  ['else blocks', '', 'if (a) { } else { ', 'x = 1', ' }'],
  ['finally blocks', '', 'try { } catch (e) { } finally { ', 'x = 1', ' }'],
  ['error handlers', '', 'UPDATE A(a: 1) WHERE {} ON ERROR (e) { ', 'x = 1', ' }'],
  ['execute blocks', '', 'EXECUTE f() AS r { ', 'x = 1', ' }'],
  ['blocks on nodes', '', 'DELETE A WHERE {} PROCESSED BY ALL { ', 'x = 1', ' }'],
  ['handlers on nodes', '', 'DELETE A WHERE {} PROCESSED BY ALL ON ERROR (e) { ', 'x = 1', ' }'],
  ['recommendations', '', 'FILTER (c IN s) RECOMMENDATIONS TO v DO MATCH { ', 'x = 1', ' }'],
  ['values of upserts', '', 'UPSERT A(a: ', '1', ')'],
  ['named arguments', 'x = ', 'f(a: ', '1', ')'],
  ['executes in arguments', 'x = ', 'f(EXECUTE g(', '1', '))'],
  ['schedules', '', 'PUBLISH (', '1', ') TO TOPIC "/a"'],
  ['misplaced selects', 'x = ', '1 + SELECT FROM A WITH a = ', '1', ''],
])('%s nested as deeply as the text allows are one mistake', (_, before, open, inside, close) => {
  const count = Math.min(MOST_LEVELS, Math.floor((MEBI - 100) / (open.length + close.length)));
  const bomb = `${before}${open.repeat(count)}${inside}${close.repeat(count)}`;
  const found = timed(() => mistakesInBody(bomb));
  const others = found.filter((one) => !one.startsWith('lang.syntax'));
  expect(others).toEqual([]);
  if (open.startsWith('1 +')) return; // each of them is a mistake of its own
  expect(found).toHaveLength(1);
});

test.each(['(', '[', '{', 'f(', '{a:', 'if (', 'if (a) {', 'f(SELECT ', 'x => {', 'for x in ', '((a, '])(
  '%s opened for ever ends',
  (open) => {
    const found = timed(() => mistakesInBody(open.repeat(Math.floor(LONG / open.length))));
    expect(found.length).toBeGreaterThan(0);
  },
);

test.each([
  '}',
  ')',
  ']',
  '#\n',
  '$',
  '"',
  "'",
  '`',
  '/*',
  '@',
  '=',
  '\\',
  '\u00e9',
  '. ',
  '5x ',
  '))((',
  '([)]',
  '{)',
  '== ',
  '=>',
  '\u0000',
])('%j over and over ends', (piece) => {
  const count = Math.floor(LONG / Buffer.byteLength(piece)) | 1;
  const found = timed(() => mistakesInBody(piece.repeat(count)));
  expect(found.length).toBeGreaterThan(0);
});

test.each([
  ['+', 'x = a', ' + a'],
  ['&&', 'x = a', ' && a'],
  ['members', 'x = a', '.b'],
  ['calls', 'x = a()', '.b()'],
  ['subscripts', 'x = a', '[0]'],
  ['AND', 'DELETE A WHERE a == 1', ' AND a == 1'],
  ['ELSE IF', 'if (a) { }', ' else if (a) { }'],
])('%s in a chain of 300 is fine, in one of 50,000 one mistake', (_, first, more) => {
  expect(mistakesInBody(first + more.repeat(300))).toEqual([]);
  expect(timed(() => mistakesInBody(first + more.repeat(50_000)))).toHaveLength(1);
});

test.each([
  ['correlations in parentheses', 'RULE r WHEN ', 'INSERT OCCURS ON A AS a BEFORE (', 'UPDATE OCCURS ON B AS b', ' WITHIN 1 second)'],
  ['conditions of triggers', 'RULE r WHEN OCCURS ON A WHERE ', '(', 'a == 1', ')'],
  ['conditions of rules', 'RULE r WHERE ', 'NOT (', 'a == 1', ')'],
  ['defaults', 'PROCEDURE p(a DEFAULT ', '[', '1', '])'],
  ['activation constraints', 'RULE r ACTIVATIONCONSTRAINT ', '{a: ', '1', '}'],
])('in a head, %s nested as deeply as the text allows are told of', (_, before, open, inside, close) => {
  const count = Math.min(MOST_LEVELS, Math.floor((MEBI - 200) / (open.length + close.length)));
  const found = timed(() => mistakes(`${before}${open.repeat(count)}${inside}${close.repeat(count)}`));
  expect(found.length).toBeGreaterThan(0);
  expect(found.length).toBeLessThan(5);
});

test.each([
  ['OR', 'RULE r WHEN INSERT OCCURS ON A', ' OR UPDATE OCCURS ON A'],
  ['BEFORE', 'RULE r WHEN INSERT OCCURS ON A AS a', ' BEFORE UPDATE OCCURS ON B AS b WITHIN 1 second'],
  ['parameters', 'PROCEDURE p(a', ', b'],
  ['imports', 'PACKAGE a.b', ' IMPORT TYPE a.b.C'],
])('a head with 20,000 %s is read in bounded time', (_, first, more) => {
  timed(() => mistakes(first + more.repeat(20_000)));
});

test('200 levels are fine, 201 are not', () => {
  expect(mistakesInBody(`x = ${'('.repeat(200)}a${')'.repeat(200)}`)).toEqual([]);
  expect(mistakesInBody(`x = ${'('.repeat(201)}a${')'.repeat(201)}`)).toEqual(['lang.syntax 2:205']);
  expect(mistakesInBody(`${'if (a) { '.repeat(200)}${'} '.repeat(200)}`)).toEqual([]);
  expect(mistakesInBody(`${'if (a) { '.repeat(201)}${'} '.repeat(201)}`)).toHaveLength(1);
});

test('statements one after another make no tall tree', () => {
  expect(mistakesInBody('if (a) { x = 1 } else if (b) { x.a.b += 2 + 3 }\nf(x)\n'.repeat(1_000))).toEqual([]);
});

test('a chain around a chain is as tall as both', () => {
  const inner = `(a${' + a'.repeat(150)})`;
  const outer = `(${inner}${' + a'.repeat(150)})`;
  expect(mistakesInBody(`x = ${outer}`)).toEqual([]);
  expect(mistakesInBody(`x = ${outer}${' + a'.repeat(150)}`)).toHaveLength(1);
});

test('a text of a mebibyte is read, a larger one refused unread', () => {
  const text = `PROCEDURE p()\n${'x = a.b(1, "two", [3]) + 4 // five\n'.repeat(29_000)}`;
  expect(text.length).toBeLessThan(MEBI);
  expect(timed(() => read(text)).tree?.body).toHaveLength(29_000);
  expect(mistakes(`${text}//${'x'.repeat(MEBI)}`)).toEqual(['lang.source.size 1:1']);
  expect(timed(() => mistakes('('.repeat(10 * MEBI)))).toEqual(['lang.source.size 1:1']);
  expect(mistakes(`PROCEDURE p() x = "${'€'.repeat(349_600)}"`)).toEqual(['lang.source.size 1:1']);
  expect(mistakes(`PROCEDURE p() x = "${'€'.repeat(349_500)}"`)).toEqual([]);
});

test('long comments before the header are read in linear time', () => {
  for (const comment of [
    `/*${'*'.repeat(MEBI - 100)} */`,
    '// a\n'.repeat(200_000),
    `/*${' \n'.repeat(500_000)}*/`,
    '/**/'.repeat(250_000),
  ])
    expect(timed(() => read(`${comment}\nPROCEDURE p()`)).tree).not.toBeNull();
});

test('no more diagnostics are kept than a person reads', () => {
  const found = new Diagnostics();
  parse(`PROCEDURE p()\n${'x = )\n'.repeat(5_000)}`, found);
  expect(found.list).toHaveLength(200);
  expect(found.hasErrors).toBe(true);
});

const PIECES = [
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '=',
  '==',
  '.',
  '"',
  "'",
  '//',
  '/*',
  '*/',
  '@',
  '#',
  ';',
  '\n',
  ' ',
  '+',
  '++',
  '!',
  '=>',
  '?',
  '5',
  '1.5',
];
const WORDS = [
  'if',
  'else',
  'for',
  'in',
  'SELECT',
  'FROM',
  'WHERE',
  'AS',
  'WITH',
  'PROCESSED BY',
  'UPDATE',
  'return',
  'try',
  'catch',
  'NOT',
  'AND',
  'var',
  'x',
  'DO',
  'END',
];

test('no mutated text makes the parser throw, and every diagnostic has a place in it', () => {
  const mutation = fc.tuple(fc.nat(1_000_000), fc.nat(12), fc.constantFrom(...PIECES, ...WORDS.map((word) => ` ${word} `)));
  const law = fc.property(randomTree(25), fc.array(mutation, { minLength: 1, maxLength: 4 }), (tree, mutations) => {
    const text = mutations.reduce((sofar, [at, cut, piece]) => {
      const place = at % (sofar.length + 1);
      return sofar.slice(0, place) + piece + sofar.slice(place + cut);
    }, print(tree));
    const found = new Diagnostics();
    const got = parse(text, found);
    if (got === null) expect(found.hasErrors, text).toBe(true);
    for (const one of toDiagnostics(text, found)) {
      expect(one.start, text).toBeLessThanOrEqual(one.end);
      expect(one.end, text).toBeLessThanOrEqual(text.length + 1);
      expect(one.frame).toContain('^');
    }
    if (got && !found.hasErrors) print(got);
  });
  fc.assert(law, { seed: SEED, numRuns: 500 });
});

test('no sequence of pieces makes the parser throw', () => {
  const law = fc.property(
    fc.array(fc.constantFrom(...PIECES, ...WORDS), { maxLength: 60 }),
    fc.constantFrom('PROCEDURE p() ', 'RULE r WHEN ', ''),
    (pieces, header) => {
      const text = header + pieces.join(' ');
      const parsing = (): unknown => parse(text, new Diagnostics());
      expect(parsing, text).not.toThrow();
    },
  );
  fc.assert(law, { seed: SEED, numRuns: 2_000 });
});
