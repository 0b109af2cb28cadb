// Several independent mistakes give that many diagnostics, each at its place: mistakes of many kinds are put into programs without any.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { builtinTable } from '../stdlib/builtins/index.ts';
import { casePrograms, examplePrograms } from '../typing/testing/programs.ts';
import { parse } from './1-parse/index.ts';
import type { Definition, Statement } from './ast.ts';
import { Diagnostics } from './diagnostics.ts';
import { compile } from './index.ts';
import { Lines } from './lines.ts';
import { amount } from '../scripts/testing/amount.ts';

const SEED = Number(process.env['CASCADE_FUZZ_SEED'] ?? 20260520);
const builtins = builtinTable();

/** A line with one mistake, and where in it the mistake begins. */
const MISTAKES: readonly (readonly [code: string, line: string, column: number])[] = [
  ['lang.syntax', 'log.info(1 2)', 12],
  ['lang.syntax', 'log.info([1,,2])', 13],
  ['lang.syntax', 'log.info({a 1})', 13],
  ['lang.syntax', 'log.info((1 + ))', 15],
  ['lang.syntax', 'log.info(1 === 1)', 12],
  ['lang.syntax', 'if (1 2) { log.info(1) }', 7],
  ['lang.syntax', 'var seeded = = 1', 14],
  ['lang.syntax', 'throw 1', 1],
  ['lang.syntax', 'break', 1],
  ['lang.syntax', 'log.info(5minutes)', 10],
  ['lang.variable.undeclared', 'log.info(unseeded1)', 10],
  ['lang.variable.undeclared', 'unseeded2 = 1', 1],
  ['lang.variable.undeclared', 'unseeded3.x = 1', 1],
  ['lang.variable.undeclared', 'if (unseeded4) { log.info(1) }', 5],
  ['lang.variable.undeclared', 'log.info(unseeded5 + 1)', 10],
  ['lang.variable.redeclared', 'log = 1', 1],
  ['lang.name.reserved', 'var map = 1', 5],
  ['lang.literal.range', 'log.info(9223372036854775808)', 10],
  ['lang.where.required', 'DELETE Seeded', 1],
  ['lang.insert.values.form', 'INSERT INTO Seeded (a) VALUES (1)', 24],
  ['lang.call.mixed.arguments', 'log.info(1, args: 2)', 1],
  ['lang.reference.position', 'log.info(@log)', 10],
  ['lang.select.source', 'var seededRows = SELECT FROM SOURCE seeded WHERE a == 1', 18],
  ['lang.execute.async', 'var seededValue = EXECUTE ASYNC seeded()', 19],
];

/** Programs without mistakes whose statements stand on lines of their own. Behind a bare RETURN a word may be its value. */
const programs = [...casePrograms(), ...examplePrograms()]
  .filter(({ text, fails }) => !fails && text.split('\n').length > 2 && !text.includes('\r') && !/^\s*return\s*$/m.test(text))
  // A word that introduces names, at the end of a line, could introduce the one that a mistake puts behind it.
  .filter(({ text }) => !/\b(?:var|as|to|each|for|from|source|select|one|array|sequence)[ \t]*$/im.test(text))
  .filter(({ text }) => compile(text, { builtins }).ok);

/** The offsets of lines that begin with a statement. */
function places(text: string): number[] {
  const tree = parse(text, new Diagnostics()) as Definition;
  const found: number[] = [];
  const visit = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      const line = text.lastIndexOf('\n', statement.start - 1) + 1;
      if (line > 0 && text.slice(line, statement.start).trim() === '') found.push(line);
      if (statement.type === 'If') visit(statement.then.body);
      if (statement.type === 'For') visit(statement.body.body);
    }
  };
  visit(tree.body);
  return [...new Set(found)];
}

test('one to five mistakes in a program are as many diagnostics, at their places', () => {
  const seeds = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...MISTAKES)), { minLength: 1, maxLength: 5 });
  const usable = programs.filter(({ text }) => places(text).length > 0);
  expect(usable.length).toBeGreaterThan(20);
  const law = fc.property(fc.constantFrom(...usable), seeds, ({ text }, mistakes) => {
    const lines = new Lines(text);
    const at = places(text);
    const rows = text.split('\n');
    const put = mistakes.map(([place, mistake], index) => {
      const row = lines.position(at[place % at.length]!).line - 1;
      return { row, index, mistake, indent: /^\s*/.exec(rows[row] ?? '')?.[0] ?? '' };
    });
    put.sort((a, b) => a.row - b.row || a.index - b.index);
    const expected: string[] = [];
    for (const [shift, { row, mistake, indent }] of put.entries()) {
      const [code, line, column] = mistake;
      rows.splice(row + shift, 0, indent + line);
      expected.push(`${code} ${row + shift + 1}:${column + indent.length}`);
    }
    const seeded = rows.join('\n');
    const found = compile(seeded, { builtins }).diagnostics.filter(({ severity }) => severity === 'error');
    expect(
      found.map(({ code, line, column }) => `${code.replace('cascade.', '')} ${line}:${column}`),
      seeded,
    ).toEqual(expected);
  });
  fc.assert(law, { seed: SEED, numRuns: amount(150, 400) });
});

test.each([
  ['var x = (1 +)\nreturn x', ['lang.syntax 2:13']],
  ['for (row in ) { log.info(row) }', ['lang.syntax 2:13']],
  ['SELECT FROM Pump AS p LIMIT 3\nreturn p', ['lang.syntax 2:23']],
  ['var f = (a, b => a + b\nreturn f', ['lang.syntax 2:11']],
  ['try { f() }\ncatch e { log.info(e) }', ['lang.syntax 3:7']],
  ['try { f() } catch (err { log.info(err) }', ['lang.syntax 2:24']],
  ['catch (err) { log.info(err) }', ['lang.syntax 2:1']],
  ['try { f() } catch (err, b) {\nlog.info(err)\n}', ['lang.syntax 2:23']],
  ['DELETE Pump WHERE {} ON ERROR (err) {\nlog.info(err)\n}', ['lang.syntax 2:22', 'lang.syntax 4:1']],
  ['UPDATE Pump(n: 1) WHERE {} ON ERROR (err { log.info(err) }', ['lang.syntax 2:42']],
  ['var f = (first, second => first + second\nreturn second', ['lang.syntax 2:15']],
  // A statement with a mistake is not looked through for others, be they before or behind it; the statements of its blocks are.
  ['log.info(unknown, [1,,2])', ['lang.syntax 2:22']],
  ['log.info([1,,2], unknown)', ['lang.syntax 2:13']],
  ['if ([1,,2]) { log.info(unknown) }', ['lang.syntax 2:8', 'lang.variable.undeclared 2:24']],
  ['if (unknown) { log.info([1,,2]) }', ['lang.variable.undeclared 2:5', 'lang.syntax 2:28']],
  ['var x = (1 +)\nreturn y', ['lang.syntax 2:13', 'lang.variable.undeclared 3:8']],
  ['var x = (1 +)\nreturn p', ['lang.syntax 2:13', 'lang.variable.undeclared 3:8']],
])('%j: what could not be read has no followers', (body, expected) => {
  const found = compile(`PROCEDURE p()\n${body}`, { builtins }).diagnostics;
  expect(found.map(({ code, line, column }) => `${code.replace('cascade.', '')} ${line}:${column}`)).toEqual(expected);
});

test.each([
  ['PROCEDURE p(a, , b)\nreturn b', ['lang.syntax 1:16']],
  ['PROCEDURE p(a b c d)\nreturn d', ['lang.syntax 1:17']],
  ['PROCEDURE p(a, , b)\nunknown = 1', ['lang.syntax 1:16', 'lang.variable.undeclared 2:1']],
  ['RULE r WHEN INSERT OCCURS ON Pump AS p\ny = 1\nvar x = (1 +)', ['lang.variable.undeclared 2:1', 'lang.syntax 3:13']],
  ['RULE r WHEN INSERT OCCURS ON Pump AS p\ny = 1\nvar x = [1,,2]', ['lang.variable.undeclared 2:1', 'lang.syntax 3:12']],
])('%j: what the head names is known, and nothing else', (text, expected) => {
  const found = compile(text, { builtins }).diagnostics;
  expect(found.map(({ code, line, column }) => `${code.replace('cascade.', '')} ${line}:${column}`)).toEqual(expected);
});
