// The law of printer and parser: a tree printed and parsed is the same tree; and no text, however mangled, makes the parser throw.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from '../1-parse/index.ts';
import type { Definition } from '../ast.ts';
import { Diagnostics } from '../diagnostics.ts';
import { print, printTrigger } from './index.ts';
import { randomTree, withoutSpans } from './testing/random-trees.ts';

const SEED = Number(process.env['CASCADE_FUZZ_SEED'] ?? 20240301);

function parsed(text: string): Definition | null {
  const found = new Diagnostics();
  const tree = parse(text, found);
  if (found.list.length > 0) throw new Error(`${found.list.map((one) => `${one.message} at ${one.start}`).join('\n')}\n${text}`);
  return tree;
}

test('a tree printed and parsed is the same tree', () => {
  const law = fc.property(randomTree(), (tree) => {
    const text = print(tree);
    expect(withoutSpans(parsed(text)), text).toEqual(withoutSpans(tree));
  });
  fc.assert(law, { seed: SEED, numRuns: 500 });
});

test('a text is printed one statement a line, blocks indented, long lists broken', () => {
  const text = `/* Watches pumps.
    Twice. */ package com.acme import service x.y as z
    private procedure Watch.all(id string required, max integer default 5): object array hidden with properties = {role: "x"}
    var rows = select name, total = a+b from Pump as p with limit = 5 where p.rate>max and not(p.name=="x") order by name desc
    for each row in rows do if (row.a) { x = (1+2)*3 } else { return } end
    insert Alarm(pump: rows[0]._id, text: "a rather long text that will not fit", level: 3, since: now(), until: 5 minutes)
    return rows`;
  expect(print(parsed(text)!)).toBe(`// Watches pumps.
// Twice.
PACKAGE com.acme
IMPORT SERVICE x.y AS z
PRIVATE PROCEDURE Watch.all(id string REQUIRED, max integer DEFAULT 5): object ARRAY HIDDEN
WITH properties = {role: "x"}
var rows = SELECT name, total = a + b FROM Pump AS p WHERE p.rate > max AND NOT (p.name == "x") ORDER BY name DESC WITH limit = 5
for (row in rows) {
  if (row.a) {
    x = (1 + 2) * 3
  } else {
    return
  }
}
INSERT Alarm(
  pump: rows[0]._id,
  text: "a rather long text that will not fit",
  level: 3,
  since: now(),
  until: 5 minutes
)
return rows
`);
});

test.each([
  ['x = a\n(-b)', 'x = a\n(-b)'],
  ['f(a) ({b: 1}).b', 'f(a)\n({b: 1}.b)'],
  ['return; (a)', 'return;\na'],
  ['SELECT FROM A ORDER BY a; desc = 1', 'SELECT FROM A ORDER BY a;\ndesc = 1'],
  ['x = list; in[0] = 1', 'x = list;\nin[0] = 1'],
  ['x = 1; (in)', 'x = 1\n(in)'],
  ['in[0] = 1', ';\nin[0] = 1'],
])('%j: a line end alone would not part the statements everywhere', (body, expected) => {
  expect(print(parsed(`PROCEDURE p()\n${body}`)!)).toBe(`PROCEDURE p()\n${expected}\n`);
});

test.each([
  ['return f((x)=>(x+1))', 'return f(x => x + 1)'],
  ['return f((x, y) => ({a: x}))', 'return f((x, y) => ({a: x}))'],
  ['return f(x => ({a: x}).a)', 'return f(x => ({a: x}.a))'],
  ['return ((a || b) && c) || (d && e)', 'return (a || b) && c || d && e'],
  ['return (2 ** 3) ** -a', 'return (2 ** 3) ** -a'],
  ['return a ** (b ** c)', 'return a ** b ** c'],
  ['return (a < b) == (c < d)', 'return a < b == c < d'],
  ['return - -a', 'return -(-a)'],
  ['return (a ? b : c) ? d : (e ? f : g)', 'return (a ? b : c) ? d : e ? f : g'],
  ['return (a - b) - (c - d)', 'return a - b - (c - d)'],
])('%j has parentheses where they mean something', (body, expected) => {
  expect(print(parsed(`PROCEDURE p()\n${body}`)!)).toBe(`PROCEDURE p()\n${expected}\n`);
});

test.each([
  ['select from A with limit = 5 where n == 1', 'SELECT FROM A WITH limit = 5 WHERE n == 1'],
  ['select from A with limit = 5 where n == 1 group by n', 'SELECT FROM A WHERE n == 1 GROUP BY n WITH limit = 5'],
  ['select from A with limit = 5 where n == 1 order by n', 'SELECT FROM A WHERE n == 1 ORDER BY n WITH limit = 5'],
])('%j: options stand before the condition, but end a list of keys', (body, expected) => {
  expect(print(parsed(`PROCEDURE p()\n${body}`)!)).toBe(`PROCEDURE p()\n${expected}\n`);
});

test('V6: triggers that differ in blanks, comments and the case of keywords have one text', () => {
  const trigger = (text: string): string => {
    const tree = parsed(`RULE r ${text}`);
    return tree?.type === 'Rule' ? printTrigger(tree.trigger) : '';
  };
  const first = trigger('WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 3 OR UPDATE OCCURS ON Pump AS p');
  expect(trigger('when insert /* c */ occurs on Pump as p\n where p.rate>3 or update occurs on Pump as p')).toBe(first);
  expect(trigger('WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 4 OR UPDATE OCCURS ON Pump AS p')).not.toBe(first);
});
