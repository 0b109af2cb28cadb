// The laws of the standard form: it means the same, has it already, and keeps every comment; and what it looks like.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lex, parse } from '../1-parse/index.ts';
import type { Definition } from '../ast.ts';
import { Diagnostics } from '../diagnostics.ts';
import { print } from '../print/index.ts';
import { randomTree, withoutSpans } from '../print/testing/random-trees.ts';
import { casePrograms, documentPrograms, examplePrograms } from '../../typing/testing/programs.ts';
import { format } from './index.ts';
import { amount } from '../../scripts/testing/amount.ts';

const SEED = Number(process.env['CASCADE_FUZZ_SEED'] ?? 20260412);

function parsed(text: string): Definition | null {
  const found = new Diagnostics();
  const tree = parse(text, found);
  return found.hasErrors ? null : tree;
}
const commentsOf = (text: string): string[] =>
  lex(text, new Diagnostics()).comments.map(({ start, end }) => text.slice(start, end).trimEnd());
function formatted(text: string): string {
  const result = format(text);
  if (!result.ok) throw new Error(`${result.diagnostics.map((one) => one.message).join('\n')}\n${text}`);
  return result.text;
}

function holds(text: string): void {
  const once = formatted(text);
  expect(withoutSpans(parsed(once)), text).toEqual(withoutSpans(parsed(text)));
  expect(commentsOf(once), text).toEqual(commentsOf(text));
  expect(formatted(once), text).toBe(once);
}

/** Comments of every kind between the tokens; those that would change the meaning are left out. */
function commented(text: string, places: readonly (readonly [number, string])[]): string {
  const tree = withoutSpans(parsed(text));
  let result = text;
  for (const [place, comment] of places) {
    const tokens = lex(result, new Diagnostics());
    const at = tokens.starts[place % tokens.count]!;
    const next = result.slice(0, at) + comment + result.slice(at);
    const again = parsed(next);
    if (
      again &&
      JSON.stringify(withoutSpans({ ...again, description: '' }), exact) === JSON.stringify({ ...(tree as object), description: '' }, exact)
    )
      result = next;
  }
  return result;
}
const exact = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);

const COMMENTS = ['/* a */', ' /* b */ ', '// c\n', '\n// d\n', '\n\n/* e\n   e */\n\n', '\n/* f */', '/* g */ // h\n', '\n\n'];

test('random programs with comments anywhere keep meaning and comments, and come out the same again', () => {
  const place = fc.tuple(fc.nat(5_000), fc.constantFrom(...COMMENTS));
  const law = fc.property(randomTree(15), fc.array(place, { maxLength: 6 }), (tree, places) => holds(commented(print(tree), places)));
  fc.assert(law, { seed: SEED, numRuns: amount(80, 200) });
});

test('programs of the conformance cases, the examples and the documents keep meaning and comments', () => {
  const known = [...casePrograms(), ...examplePrograms(), ...documentPrograms()].map(({ text }) => text);
  const programs = known.filter((text) => parsed(text) !== null);
  expect(programs.length).toBeGreaterThan(200);
  for (const program of programs) holds(program);
});

test('statements, blocks, lists and comments each have their place', () => {
  const text = `/* Watches pumps.
    Twice. */ package com.acme import service x.y as z // tail
    // own
    private procedure Watch.all(id string required, max integer default 5): object array hidden with properties = {role: "x"}


    var rows = select name, total = a+b from Pump as p with limit = 5 where p.rate>max and not(p.name=="x") order by name desc; // after

    for each row in rows do if (row.a) { x = (1+2)*-3 /* why */ } else { return } end
    if (a)
    {  // open
       f( a /* one */, 'b', // two
         60 seconds)

       // last
    }
    else if(b) { }
    // to the insert
    insert Alarm(pump: rows[0]._id, text: "a rather long text that will not fit", level: 3, since: now(), until: 5 minutes, more: {a:1, "b":[1,2,3]}, last: 1)
    x = a ? b : c
      + 4
    return rows.map (x=>x).f( { a : 1} ) // end
    // eof`;
  expect(formatted(text)).toBe(`/* Watches pumps.
    Twice. */
PACKAGE com.acme
IMPORT SERVICE x.y AS z // tail
// own
PRIVATE PROCEDURE Watch.all(id string REQUIRED, max integer DEFAULT 5): object ARRAY HIDDEN
WITH properties = {role: "x"}

var rows = SELECT name, total = a + b FROM Pump AS p WITH limit = 5 WHERE p.rate > max AND NOT (p.name == "x") ORDER BY name DESC // after

for each row in rows do
  if (row.a) {
    x = (1 + 2) * -3 /* why */
  } else {
    return
  }
end
if (a) { // open
  f(
    a /* one */,
    'b', // two
    60 seconds
  )

  // last
} else if (b) { }
// to the insert
INSERT Alarm(
  pump: rows[0]._id,
  text: "a rather long text that will not fit",
  level: 3,
  since: now(),
  until: 5 minutes,
  more: {a: 1, "b": [1, 2, 3]},
  last: 1
)
x = a ? b : c
  + 4
return rows.map(x => x).f({a: 1}) // end
// eof
`);
});

test('a semicolon that parts two statements stays', () => {
  expect(formatted('PROCEDURE p()\nx = 1; y = 2;')).toBe('PROCEDURE p()\nx = 1\ny = 2\n');
  expect(formatted('PROCEDURE p()\nreturn; (a)')).toBe('PROCEDURE p()\nreturn;\n(a)\n');
});

test('a line of its own for a semicolon is no empty line, and takes none away', () => {
  for (const between of ['\n;\n', '\n;;\n;\n', ';\n;\n', '\n  ; // c\n'])
    expect(formatted(`PROCEDURE p()\nx = 1${between}y = 2`)).toBe(`PROCEDURE p()\nx = 1\n${between.includes('c') ? '// c\n' : ''}y = 2\n`);
  for (const between of ['\n\n;\n', '\n;\n\n', '\n;\n\n;\n'])
    expect(formatted(`PROCEDURE p()\nx = 1${between}y = 2`)).toBe('PROCEDURE p()\nx = 1\n\ny = 2\n');
  expect(formatted('PROCEDURE p()\nif (x) {\n;\ny = 2\n;\n}\n;\n')).toBe('PROCEDURE p()\nif (x) {\n  y = 2\n}\n');
});

test('TIMEOUT has a line of its own, whatever stands before it', () => {
  const head = 'RULE r\nWHEN INSERT OCCURS ON Pump AS p EXPECT WITHIN 5 seconds';
  const expected = `${head}\nlog.info(p)\nTIMEOUT\nlog.info("late")\n`;
  for (const between of ['\n', ';\n', '; ; ']) expect(formatted(`${head}\nlog.info(p)${between}timeout log.info("late")`)).toBe(expected);
});

test('words that go on behind a block are names and texts elsewhere', () => {
  const list = 'PROCEDURE p()\nreturn [\n  "if",\n  "else",\n  "finally"\n]\n';
  expect(formatted('PROCEDURE p()\nreturn ["if",\n"else", "finally"]')).toBe(list);
  const object = 'PROCEDURE p()\nreturn {\n  if: 1,\n  else: 2,\n  catch: 3\n}\n';
  expect(formatted('PROCEDURE p()\nreturn {if: 1,\nelse: 2, catch: 3}')).toBe(object);
});

test('a text with errors has no standard form', () => {
  const result = format('PROCEDURE p()\nx = )');
  expect(!result.ok && result.diagnostics.map(({ line, column }) => [line, column])).toEqual([[2, 5]]);
});

/** Of a processor, whoever else it works for: what is not linear would take minutes. */
const MOST_MS = 15_000;

test('deep and long texts are formatted in bounded time', () => {
  const begun = process.cpuUsage();
  holds(`PROCEDURE p()\nx = ${'['.repeat(190)}1, 2${']'.repeat(190)}`);
  holds(`PROCEDURE p()\nx = [${'12345, '.repeat(20_000)}1]`);
  holds(`PROCEDURE p()\n${'if (a) { '.repeat(190)}${'} '.repeat(190)}`);
  expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(MOST_MS);
});
