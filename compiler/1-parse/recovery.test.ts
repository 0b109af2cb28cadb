// Several independent mistakes give that many diagnostics, and one mistake gives one.
import { expect, test } from 'vitest';
import { messages, mistakes, mistakesInBody, read } from './testing/reading.ts';

test.each<[string, string, string[]]>([
  ['in two statements', 'x = (1 +)\ny = [1,,2]', ['2:9', '3:8']],
  ['in nested blocks', 'if (a) {\n  x = )\n  for y in c { z = ; }\n}\nw = 1 +', ['3:7', '4:20', '6:8']],
  ['in a head and its block', 'if (a b) {\n  x = = 1\n}', ['2:7', '3:7']],
  ['in the arguments of one call', 'f(1 2)(3)\nx = {a 1}', ['2:5', '3:8']],
  ['an open bracket', 'x = f(1, 2\ny = 3\nz = )', ['2:11', '4:5']],
  ['an open bracket in a block', 'if (a) {\n  x = f(1\n}\ny = )', ['3:10', '5:5']],
  ['a block that is never closed', 'if (a) {\n  x = 1\ny = 2', ['4:6']],
  ['a brace too many', 'if (a) { x = 1 } }\ny = )', ['2:18', '3:5']],
  ['in a lambda', 'f(q => { x = )\n y = 1 }, 2)\nz = )', ['2:14', '4:5']],
  ['a clause out of place', 'SELECT FROM Pump\n  ORDER BY a\n  WHERE b == 1\nx = )', ['4:3', '5:5']],
  ['an error in the middle of a long SELECT', 'SELECT a b,\n  c\nFROM Pump\nWHERE a == 1\nx = )', ['2:11', '6:5']],
  ['an object over several lines', 'x = {\n  a: 1 2,\n  b: 3\n}\ny = )', ['3:8', '6:5']],
  ['a missing value', 'x =\ny = 1\nif (y) { z = }', ['2:4', '4:14']],
  ['a missing operand', 'x = a +\ny = 1', ['2:8']],
  ['a missing brace', 'if (a)\n  x = 1\ny = )', ['3:3', '4:5']],
  ['a missing parenthesis of a head', 'if (f(a) { x = 1 }\ny = )', ['2:10', '3:5']],
  ['a missing comma in an array', 'x = [1 2]\ny = 1', ['2:8']],
  ['a missing CATCH', 'try { f() }\nx = )', ['2:12', '3:5']],
  ['a String that is never closed', 'x = 1 1 1\nf(a b)\ny = "abc\nz = )', ['3:5', '4:5']],
])('%s', (_, body, places) => {
  expect(mistakesInBody(body)).toEqual(places.map((place) => `lang.syntax ${place}`));
});

test.each<[string, string, string[]]>([
  ['a reserved word that names a variable', 'var select = 5\nvar z = select + 1\nselect = z\nreturn select', ['lang.name.reserved 2:5']],
  ['a reserved word that does so, beside its own use', 'var map = 5\nreturn MAP (x in [map]) { return x }', ['lang.name.reserved 2:5']],
  ['DO … WHILE', 'do { var n = 1 } while (n < 3)\nreturn n', ['lang.syntax 2:1']],
  ['a bit operator', 'var y = 1\nreturn y >> 2', ['lang.syntax 3:10']],
])('%s is told once', (_, body, reported) => {
  expect(mistakesInBody(body)).toEqual(reported);
});

test('a mistake in the header does not hide the ones of the body', () => {
  expect(mistakes('RULE r WHEN Pump\nx = )\nif (y) { z = }')).toEqual(['lang.syntax 1:13', 'lang.syntax 2:5', 'lang.syntax 3:14']);
  expect(mistakes('RULE r WHEN Pump\n  x = )\n  if (y) { z = }')).toEqual(['lang.syntax 1:13', 'lang.syntax 2:7', 'lang.syntax 3:16']);
  expect(mistakes('PROCEDURE p(\n  a String,\n  b c d,\n  e Integer)\nreturn )')).toEqual(['lang.syntax 3:7', 'lang.syntax 5:8']);
  expect(mistakes('PROCEDURE p(a b c) return )')).toEqual(['lang.syntax 1:17', 'lang.syntax 1:27']);
});

test('there is a tree when the header could be read, and none when not', () => {
  expect(read('PROCEDURE p() x = 1 y = )').tree).toMatchObject({ type: 'Procedure', body: [{ type: 'Assign' }] });
  expect(read('PROCEDURE p(a b c)').tree).toMatchObject({ type: 'Procedure' });
  expect(read('RULE r x = 1').tree).toBeNull();
  expect(read('').tree).toBeNull();
});

test.each([
  ['x = a === b', "'===' is not in the language (write ==)"],
  ['if (a = 1) { }', "'=' assigns (for a comparison write ==)"],
  ['SELECT FROM Pump WHERE rate = 1', "'=' assigns (for a comparison write ==)"],
  ['while a < 3 { a++ }', "expected '(', found 'a' (a condition stands in parentheses)"],
  ['if (a) {', "expected '}', found the end of the text ('{' of line 2 is not closed)"],
  ['x = a[1:2]', 'there are no slices (write slice(array, from, to))'],
  ['x = 5minutes', "a number cannot be followed directly by 'minutes' (write a blank before the unit: 5 minutes)"],
  ['x = a < b < c', 'comparisons cannot be chained (write a < b && b < c)'],
  ['break', "'break' is not in the language (there is no break: end a loop by UNTIL)"],
  ['throw x', "'throw' is not in the language (write exception(code, message, params))"],
  ['x = 1 + SELECT FROM Pump', 'SELECT cannot stand inside an expression (give its value to a variable first, or take it as an argument)'],
  ['SELECT FROM Pump LIMIT 5', 'a SELECT has no LIMIT (write WITH limit = n)'],
  ['SELECT * FROM Pump q WHERE q.rate > 5', 'the result is named by AS (write AS q)'],
  ['SELECT FROM Pump q ORDER BY rate', 'the result is named by AS (write AS q)'],
  ['SELECT DISTINCT name FROM Pump', 'a SELECT has no DISTINCT (write SELECT a, b FROM Type GROUP BY a, b)'],
  ['SELECT COUNT(*) FROM Pump', 'a computed property needs a name (write x = count(…))'],
  ['SELECT count(*) AS n FROM Pump', 'a computed property is named by = (write n = count(…))'],
  ['var a = 1, b = 2', 'one VAR declares one variable (write var a = … var …)'],
  ['INSERT t (a) VALUES (1)', 'INSERT with a VALUES list is not supported (write INSERT INTO Type(a: 1, b: 2), or INSERT Type(object))'],
  ['DELETE Pump', 'DELETE needs a WHERE (write WHERE {} to mean all instances)'],
  ['x = {a = 1}', "a key and its value are joined by ':' (write {key: value})"],
  ['x = "a" "b', 'this String is never closed'],
])('%s is told of in words: %s', (body, message) => {
  expect(messages(`PROCEDURE p()\n${body}`)).toEqual([message]);
});
