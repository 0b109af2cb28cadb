// What is surely a mistake is told of, at its place; what may be meant is not.
import { expect, test } from 'vitest';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import { compile } from '../index.ts';

const builtins = builtinTable();
/** The advice on a text: codes without `cascade.check.`, with line and column. Anything else fails the test. */
function advice(text: string): string[] {
  const { diagnostics } = compile(text, { builtins, advice: true });
  const others = diagnostics.filter(({ code, severity }) => severity === 'error' || !code.startsWith('cascade.check.'));
  if (others.length > 0 && others.some(({ code }) => code !== 'cascade.lang.return.position')) throw new Error(JSON.stringify(others));
  return diagnostics.filter(({ code }) => code.startsWith('cascade.check.')).map((d) => `${d.code.slice(14)} ${d.line}:${d.column}`);
}
const inProcedure = (body: string): string[] => advice(`PROCEDURE p(a, b)\n${body}`);
const inRule = (body: string, head = 'WHEN INSERT OCCURS ON Pump AS p'): string[] => advice(`RULE r ${head}\n${body}`);

test.each([
  ['a variable that nobody reads', 'var x = 1\nreturn a', ['variable.unused 2:5']],
  ['one that is only assigned', 'var x = 1\nx = 2\nx += 1\nx++\nreturn a', ['variable.unused 2:5']],
  ['each once', 'var x\nvar x = 2\nvar y\nreturn a', ['variable.unused 2:5', 'variable.unused 4:5']],
  ['the last statement, whose value is the result', 'var x = 1', []],
  ['the last statement of the last branch', 'if (a) { var x = 1 } else { var y = 2 }', []],
  ['one that a lambda reads', 'var x = 1\nreturn sort([1], (q, w) => x)', []],
  ['one whose property is set', 'var x = {}\nx.n = 1\nreturn a', []],
  ['one whose property is counted', 'var x = {n: 1}\nx.n++\nreturn a', []],
  ['one that names a type', 'var x = "Pump"\nreturn SELECT FROM @x', []],
  ['one with the name of a property in a condition', 'var id = 1\nreturn SELECT FROM Pump WHERE id == a', ['variable.unused 2:5']],
  ['one on the right of a condition', 'var id = 1\nreturn SELECT FROM Pump WHERE id == id', []],
  ['one that a where-object names', 'var q = {}\nreturn SELECT FROM Pump WHERE q', []],
  ['one that shares its name with a loop variable', 'var x = 1\nfor (x in a) { log.info(x) }\nreturn b', ['variable.unused 2:5']],
  ['a parameter and a loop variable', 'for (i in range(0, 3)) { log.info("x") }\nreturn null', []],
  ['a count whose old value is used', 'var n = 0\nreturn n++', []],
])('unread: %s', (_, body, expected) => {
  expect(inProcedure(body)).toEqual(expected);
});

test.each([
  ['a value that is replaced', 'var x = 0\nx = f(a)\nx = f(b)\nreturn x', ['assignment.unread 3:1']],
  ['a value at the end of a rule-like branch', 'var x = 0\nlog.info(x)\nx = 5\nreturn a', ['assignment.unread 4:1']],
  ['a first value', 'var x = 0\nif (a) { x = 1 } else { x = 2 }\nreturn x', []],
  ['a value that one branch reads', 'var x = 0\nx = f(a)\nif (b) { x = 1 }\nreturn x', []],
  ['a value of both branches replaced', 'var x = 0\nx = f(a)\nif (b) { x = 1 } else { x = 2 }\nreturn x', ['assignment.unread 3:1']],
  ['a value for the next turn of a loop', 'var x = 0\nfor (i in a) { log.info(x)\nx = i }\nreturn b', []],
  ['a value for the condition of a loop', 'var x = true\nwhile (x) { x = f(a) }\nreturn b', []],
  ['a value that a handler reads', 'var x = 0\ntry { x = 1\nf(a)\nx = 2 } catch (e) { log.info(x) }\nreturn b', []],
  ['a value that FINALLY reads', 'var x = 0\ntry { x = 1 } catch (e) { x = 2 } finally { log.info(x) }\nreturn b', []],
  ['a value that a lazy MAP reads', 'var x = 1\nvar m = MAP (q in a) { return q * x }\nx = 2\nreturn m', []],
  ['a parameter', 'a = 1\nreturn b', ['assignment.unread 2:1']],
  ['the value of the procedure', 'var x = 1\nlog.info(x)\nx = 2', []],
  ['an assignment to a property', 'a.x = 1\nreturn b', []],
  ['a SELECT that takes the same variable', 'var q = 1\nSELECT FROM Pump AS q WHERE n == q\nreturn q', []],
])('assigned for nothing: %s', (_, body, expected) => {
  expect(inProcedure(body)).toEqual(expected);
});

test.each([
  ['if (true) { return 1 }', ['condition.constant 2:5']],
  ['if (false || !1) { return 1 }', ['condition.constant 2:5']],
  ['if (a == a) { return 1 }', ['condition.constant 2:5']],
  ['if (a.b != a.b) { return 1 }', ['condition.constant 2:5']],
  ['if (a && "") { return 1 }', ['condition.constant 2:5']],
  ['if (a || 1 > 2) { return 1 }', []],
  ['if (a == b) { return 1 }', []],
  ['if (f() == f()) { return 1 }', []],
  ['if (a[b] == a[b]) { return 1 }', []],
  ['return 1 == 1 ? a : b', ['condition.constant 2:8']],
  ['while (0) { f() }\nreturn a', ['condition.constant 2:8']],
  ['while (true) { f() }', []],
  ['return 2 < 3', []],
  ['if (x => x) { return 1 }', ['condition.constant 2:5']],
  ['if (a.b == a.c) { return 1 }', []],
  ['if (a < 3) { return 1 }', []],
  ['if (3 < a) { return 1 }', []],
  ['if ("a" == 1) { return 1 }', []],
  ['if (1 + a == 2) { return 1 }', []],
])('a condition that is decided: %s', (body, expected) => {
  expect(inProcedure(body)).toEqual(expected);
});

const TRUE = [
  ...['1', '-1', '0.5', '"x"', '"0"', 'true', '[0]', '{a: 0}', '5 seconds', '!0', '!""', 'x => x'],
  ...['1 == 1', '1 != 2', '1 < 2', '1 <= 1', '2 > 1', '2 >= 2', '"a" == "a"', '"a" != "b"', 'a == a', 'a || 1', '1 && 2'],
];
const FALSE = [
  ...['0', '0.0', '""', 'false', 'null', '[]', '{}', '!1', '!"x"', '0 seconds'],
  ...['1 == 2', '1 != 1', '2 < 1', '1 < 1', '2 <= 1', '1 > 2', '1 > 1', '1 >= 2', '"a" == "b"', '"a" != "a"', 'a != a', '0 || ""'],
];
/** Only true decides `b || …`, and only false `b && …`. */
test.each([...TRUE.map((one) => [one, true] as const), ...FALSE.map((one) => [one, false] as const)])('%s is always %s', (one, outcome) => {
  expect([`if (b || (${one})) { f() }`, `if (b && (${one})) { f() }`].map((body) => inProcedure(body).length)).toEqual(
    outcome ? [1, 0] : [0, 1],
  );
});

test.each([
  ['exception("c", "m", [])\nreturn 1', ['statement.unreachable 3:1']],
  ['if (a) { rethrow(b)\nlog.info("x") }\nreturn 1', ['statement.unreachable 3:1']],
  ['if (a) { exception("c", "m", []) } else { exception("d", "m", []) }\nreturn 1', ['statement.unreachable 3:1']],
  ['if (a) { exception("c", "m", []) }\nreturn 1', []],
  ['try { exception("c", "m", []) } catch (e) { log.info(e) }\nreturn 1', []],
  ['try { f() } catch (e) { rethrow(e) }\nreturn 1', []],
  ['while (true) { f() }\nreturn 1', ['statement.unreachable 3:1']],
  ['if (a) { return 1 }\nreturn 2', []],
  ['return exception("c", "m", [])\nlog.info("x")', ['statement.unreachable 3:1']],
  ['a = exception("c", "m", [])\nreturn a', ['statement.unreachable 3:1']],
  ['if (a) { f() } else if (b) { rethrow(a) } else { rethrow(b) }\nreturn 1', []],
  ['if (a) { rethrow(a) } else if (b) { rethrow(a) } else { rethrow(b) }\nreturn 1', ['statement.unreachable 3:1']],
  ['try { f() } catch (e) { f() } finally { rethrow(a) }\nreturn 1', ['statement.unreachable 3:1']],
  ['try { rethrow(a) } catch (e) { rethrow(e) }\nreturn 1', ['statement.unreachable 3:1']],
  ['while (a) { rethrow(a) }\nreturn 1', []],
  ['f(x => { exception("c", "m", [])\nlog.info(x) })\nreturn 2', ['statement.unreachable 3:1']],
])('never reached: %s', (body, expected) => {
  expect(inProcedure(body)).toEqual(expected);
});

test('a rule has no value, so what its last statement assigns is read by nobody', () => {
  expect(inRule('var x = p.n')).toEqual(['variable.unused 2:5']);
  expect(inRule('p = null')).toEqual(['assignment.unread 2:1']);
  expect(inRule('p = null', 'BEFORE INSERT ON Pump AS p')).toEqual([]);
  expect(inRule('log.info(p)\nTIMEOUT\nvar x = 1', 'WHEN INSERT OCCURS ON Pump AS p EXPECT WITHIN 5 seconds')).toEqual([
    'variable.unused 4:5',
  ]);
});

test('what the state of a service is given is read by others', () => {
  const stateOf = () => ({ global: ['count'], partitioned: null });
  const found = compile('PROCEDURE S.p()\ncount = 1\nreturn null', { builtins, advice: true, stateOf });
  expect(found.diagnostics).toEqual([]);
});

test('advice is given to those who ask, and is no warning of the unit', () => {
  const text = 'PROCEDURE p(a)\nvar x = 1\nreturn a';
  expect(compile(text, { builtins }).diagnostics).toEqual([]);
  const asked = compile(text, { builtins, advice: true });
  expect(asked.ok && asked.unit.warnings).toEqual([]);
});

test('PROCESSED BY with an array as its value is a warning that stays', () => {
  const warnings = (body: string): string[] => {
    const found = compile(`PROCEDURE p()\n${body}`, { builtins });
    return found.ok ? found.unit.warnings.map(({ code, line, column }) => `${code} ${line}:${column}`) : ['error'];
  };
  const [code] = ['cascade.lang.processedby.deprecated'];
  expect(warnings('var r = SELECT FROM Pump PROCESSED BY ALL')).toEqual([`${code} 2:26`]);
  expect(warnings('DELETE Pump WHERE {} PROCESSED BY ALL STATUS TO s')).toEqual([`${code} 2:22`]);
  expect(warnings('SELECT FROM Pump AS p PROCESSED BY ALL { log.info(p) }')).toEqual([]);
  expect(warnings('var r = SELECT FROM Pump PROCESSED BY EXACTLY ONE ALL')).toEqual([]);
  expect(warnings('DELETE Pump WHERE {} PROCESSED BY ALL')).toEqual([]);
});

test('loops nested 100 deep are walked in no time', () => {
  const body = `var x = 0\n${'for (i in a) { x = f(x)\n'.repeat(100)}${'} '.repeat(100)}\nreturn x`;
  expect(inProcedure(body)).toEqual([]);
});
