// language.md 1: every row of the lexical grammar.
import { expect, test } from 'vitest';
import { accepted, messages, mistakes, mistakesInBody, only, outline, shape, statements } from './testing/reading.ts';
import { RESERVED } from './keywords.ts';

const value = (text: string): unknown => {
  const found = only('Var', `var x = ${text}`).value;
  return found && 'value' in found ? found.value : found;
};

test('L1: a byte order mark at the beginning is ignored and counts as no column', () => {
  expect(accepted('\ufeffPROCEDURE p() return 1').type).toBe('Procedure');
  expect(mistakes('\ufeffPROCEDURE p() return )')).toEqual(['lang.syntax 1:22']);
});

test.each([
  ['LF', 'PROCEDURE p()\nreturn 1\nx = )'],
  ['CR', 'PROCEDURE p()\rreturn 1\rx = )'],
  ['CRLF', 'PROCEDURE p()\r\nreturn 1\r\nx = )'],
])('L1: %s ends a line', (_, text) => {
  expect(mistakes(text)).toEqual(['lang.syntax 3:5']);
});

test.each([' ', '\t', '\f', '\n', '\u00a0', '\r'])('L2: %j separates tokens', (blank) => {
  expect(outline(`var${blank}x${blank}=${blank}1`)).toBe('Var');
});

test.each(['\v', '\u2003', '\u200b', '\0', '\ufeff'])('L2: %j is no white space', (character) => {
  expect(mistakesInBody(`x = ${character} 1`)).toEqual(['lang.syntax 2:5']);
});

test('L3: // comments to the end of the line', () => {
  expect(outline('x = 1 // y = 2\nz = 3')).toBe('Assign Assign');
});

test('L3: # begins no comment', () => {
  expect(mistakesInBody("x = 1 # don't\ny = 2")).toEqual(['lang.syntax 2:7']);
  expect(only('Var', 'var x = "# // /* */" // c').value).toMatchObject({ value: '# // /* */' });
});

test('L4: a block comment ends at the first */ and may stand between any two tokens', () => {
  expect(outline('x /* a /* b */ = /**/ 1 /* over\nlines */ + 2')).toBe('Assign');
  expect(mistakesInBody('x = 1 /* never closed\ny = 2')).toEqual(['lang.syntax 2:7']);
});

test.each([
  ['// One line.\n', 'One line.'],
  ['/* One line. */ ', 'One line.'],
  ['/**\n * Sends mail.\n *\n *   at once\n */\n', 'Sends mail.\n\n  at once'],
  ['\n//\n// a\n//  b\n//\n', 'a\n b'],
  ['/*\n    deep\n      deeper\n*/', 'deep\n  deeper'],
  ['// a\n\n/* b */\n// c\n', 'a\nb\nc'],
  ['', ''],
  ['/***/ //\n', ''],
])('L5: the comments %j before the header are the description %j', (comments, description) => {
  expect(accepted(`${comments}PROCEDURE p() /* not this */ return 1`).description).toBe(description);
});

test.each(['a', '_', '_a9', 'A1_b', 'aB'])('L6: %s is a name', (name) => {
  expect(only('Var', `var ${name} = 1`).name.name).toBe(name);
});

test.each([
  ['größe = 1', 2, 1],
  ['x = naïve', 2, 5],
  ['`x` = 1', 2, 1],
  ['x = $y', 2, 5],
  ['x = a$b', 2, 6],
])('L6: %s is told of once, at its place', (body, line, column) => {
  expect(mistakesInBody(body)).toEqual([`lang.syntax ${line}:${column}`]);
});

test('L6: names keep their letter case', () => {
  expect(statements('Abc = 1 abc = 2').map((one) => one.type === 'Assign' && one.target)).toMatchObject([{ name: 'Abc' }, { name: 'abc' }]);
});

test.each([
  ['RULE ars_x BEFORE INSERT ON Pump', '1:6'],
  ['PROCEDURE ars_p()', '1:11'],
  ['PROCEDURE ars_svc.p()', '1:11'],
  ['PROCEDURE svc.ars_p()', '1:15'],
])('L7: %s takes a name of the system', (text, place) => {
  expect(mistakes(text)).toEqual([`resource.name.reserved ${place}`]);
});

test('L7: names of the system may be referenced', () => {
  expect(outline('UPDATE Pump(ars_version: x.ars_version) WHERE ars_properties.a == 1')).toBe('Update');
});

test.each(['SELECT ONE FROM Pump', 'select one from Pump', 'Select oNe From Pump'])('L8: %s: keywords have any letter case', (body) => {
  expect(only('Select', body).cardinality).toBe('one');
});
test('L8: vAr is var', () => expect(outline('vAr x = TRUE')).toBe('Var'));

const L9 =
  'alter before component create delete drop else event_stream execute filter for function if insert java map not procedure publish ' +
  'return rule ruleset select system timeout update upsert var when';
test('L9: the reserved words are the ones of the list', () => expect([...RESERVED].sort()).toEqual(L9.split(' ').sort()));

test.each(L9.split(' '))('L9: %s names no variable, parameter, alias or resource', (word) => {
  expect(mistakesInBody(`var ${word} = 1`)).toEqual(['lang.name.reserved 2:5']);
  expect(mistakes(`PROCEDURE p(${word})`)).toEqual(['lang.name.reserved 1:13']);
  expect(mistakesInBody(`SELECT FROM Pump AS ${word}`)).toEqual(['lang.name.reserved 2:21']);
  expect(mistakesInBody(`for (${word} in list) { }`)).toEqual(['lang.name.reserved 2:6']);
  expect(mistakes(`PROCEDURE ${word}()`)).toEqual(['lang.name.reserved 1:11']);
  expect(mistakes(`RULE ${word} BEFORE INSERT ON Pump`)).toEqual(['lang.name.reserved 1:6']);
});

test.each(['alter', 'delete', 'Map', 'TIMEOUT', 'when', 'function', 'return', 'if'])('L9: an assignment to %s is told of once', (word) => {
  expect(mistakesInBody(`${word} = 1\ny = 2`)).toEqual(['lang.name.reserved 2:1']);
});

test.each(
  (
    'as and or in from where with by to on one exactly sequence array until catch finally each do end then match event topic source service ' +
    'within constrain expect every after private global stateless multi partition required default description hidden package import async ' +
    'request recommend recommendations limit skip asc desc type name continue exception list while regex lt eq node status context minutes ' +
    'occurs message ruler selected all least at remote error using schedule processed into series values break let new is like'
  ).split(' '),
)('L10: %s is an ordinary name where a name fits', (word) => {
  const body = `var ${word} = 1\n${word} = ${word} + 1\n${word}.a = f(${word}, [${word}])\nif (${word}) { ${word}++ }\nreturn ${word}`;
  expect(outline(body)).toBe('Var Assign Assign If Return');
  expect(accepted(`PROCEDURE p(${word} String)`).type).toBe('Procedure');
});

test.each(['true', 'null', 'FALSE'])('L10: %s is a literal and no name', (word) => {
  expect(mistakesInBody(`var ${word} = 1`)).toEqual(['lang.syntax 2:5']);
});

test.each([...L9.split(' '), 'true', 'null', 'in'])('L11: after a point and as a key, %s is a plain name', (word) => {
  const body = `x = a.${word}.b x = {${word}: 1} INSERT T(${word}: 1) f(${word}: 1) f(${word} = 1) SELECT FROM T WITH ${word} = 1`;
  expect(outline(body)).toBe('Assign Assign Insert ExpressionStatement ExpressionStatement Select');
});

test('L11: system begins a qualified name, and is no variable', () => {
  expect(outline('SELECT FROM system.nodes system.Svc.p(1) DELETE system.scheduledevents WHERE {}')).toBe(
    'Select ExpressionStatement Delete',
  );
  expect(mistakesInBody('x = system')).toEqual(['lang.name.reserved 2:5']);
  expect(mistakesInBody('x = system.nodes')).toEqual(['lang.name.reserved 2:5']);
  expect(mistakesInBody('x = system.nodes[0]')).toEqual(['lang.name.reserved 2:5']);
});

test.each(['alter', 'create', 'drop', 'if', 'return', 'try', 'var', 'for'])('L12: %s stands in no expression', (word) => {
  expect(mistakesInBody(`x = 1 + ${word} y\nz = 2`)).toEqual(['lang.syntax 2:9']);
});

test.each([
  'filter (x in a) { x }',
  'map (x in a) { x }',
  'select from Pump',
  'insert Pump(a: 1)',
  'upsert Pump(a: 1)',
  'update Pump(a: 1) where {}',
  'delete Pump where {}',
  'execute p()',
])('L12: %s stands after =, as an argument, after return and as a collection', (text) => {
  expect(outline(`x = ${text}`)).toBe('Assign');
  expect(outline(`f(${text})`)).toBe('ExpressionStatement');
  expect(outline(`return ${text}`)).toBe('Return');
  expect(outline(`for (y in ${text}) { }`)).toBe('For');
  expect(mistakesInBody(`x = 1 + ${text}`)).toEqual(['lang.syntax 2:9']);
});

test.each([
  ['0', 0n],
  ['42', 42n],
  ['007', 7n],
  ['9223372036854775807', 9223372036854775807n],
  ['00000000000000000000000000000000001', 1n],
  ['-9223372036854775808', -9223372036854775808n],
  ['- 9223372036854775808', -9223372036854775808n],
])('1.1 Integer: %s', (text, expected) => {
  expect(value(text)).toBe(expected);
});
test('1.1 Integer: 18446744073709551616 and 2^63 are out of range', () => {
  expect(mistakesInBody('x = 18446744073709551616')).toEqual(['lang.literal.range 2:5']);
  expect(mistakesInBody('x = 9223372036854775808')).toEqual(['lang.literal.range 2:5']);
  expect(mistakesInBody('x = 1 - 9223372036854775808')).toEqual(['lang.literal.range 2:9']);
  expect(mistakesInBody(`x = ${'9'.repeat(100_000)}`)).toEqual(['lang.literal.range 2:5']);
});
test.each(['0x1F', '1_000', '10L', '5minutes', '1e', '1.5x'])('1.1 Integer: %s is no number', (text) => {
  expect(mistakesInBody(`x = ${text}`)).toEqual(['lang.syntax 2:5']);
});

test.each([
  ['1.5', 1.5],
  ['0.10', 0.1],
  ['1e5', 1e5],
  ['2E-3', 2e-3],
  ['1.5e+2', 150],
  ['5.0', 5],
])('1.1 Real: %s', (text, expected) => {
  expect(only('Var', `var x = ${text}`).value).toMatchObject({ type: 'Real', value: expected });
});
test('1.1 Real: a digit is needed on both sides of the point', () => {
  expect(shape('5.toString()')).toBe('method 5.toString()');
  expect(mistakesInBody('x = .5')).toEqual(['lang.syntax 2:5']);
  expect(mistakesInBody('x = 5.')).toEqual(['lang.syntax 2:7']);
  expect(mistakesInBody('x = 1.2.3')).toEqual(['lang.syntax 2:9']);
  expect(mistakesInBody('x = 1e999')).toEqual(['lang.literal.range 2:5']);
});

test.each([
  ['"a\n  b"', 'a\n  b'],
  ['\'say "hi"\'', 'say "hi"'],
  ['"it\'s"', "it's"],
  ['"\\b\\f\\n\\r\\t\\s\\\\\\"\\\'"', '\b\f\n\r\t \\"\''],
  ['"\\u0041\\u00e9"', 'Aé'],
  ['"\\d+\\.\\d"', '\\d+\\.\\d'],
  ['"${x}"', '${x}'],
  ['""', ''],
  ['"a\\\\"', 'a\\'],
])('1.1 String: %s', (text, expected) => {
  expect(value(text)).toBe(expected);
});
test('1.1 String: \\u needs four hexadecimal digits, and a String an end', () => {
  expect(mistakesInBody('x = "a\\u12G4"')).toEqual(['lang.syntax 2:7']);
  expect(mistakesInBody('x = "abc\ny = 2')).toEqual(['lang.syntax 2:5']);
});

test.each(['true', 'TRUE', 'True'])('1.1 Boolean: %s', (text) => expect(value(text)).toBe(true));
test('1.1 null in any letter case', () => expect(shape('[null, NULL, Null, False]')).toBe('[null, null, null, false]'));

test.each([
  ['23 milliseconds', '23ms'],
  ['1 millisecond', '1ms'],
  ['5 SECONDS', '5000ms'],
  ['2 Minutes', '120000ms'],
  ['1 hour', '3600000ms'],
  ['1 day', '86400000ms'],
  ['2 weeks', '1209600000ms'],
  ['-5 minutes', '(-300000ms)'],
  ['1 hour + 30 minutes', '(3600000ms + 1800000ms)'],
  ['5 /* blank */ days', '432000000ms'],
])('1.1 Interval: %s', (text, expected) => {
  expect(shape(text)).toBe(expected);
});
test('1.1 Interval: only after a literal, on the same line, without months, within 64 bits', () => {
  expect(mistakesInBody('x = f(n seconds)')).toEqual(['lang.syntax 2:9']);
  expect(outline('x = 5\nminutes = 3')).toBe('Assign Assign');
  expect(mistakesInBody('x = n seconds')).toEqual(['lang.syntax 2:7']);
  expect(mistakesInBody('x = f(n).a days + 1')).toEqual(['lang.syntax 2:12']);
  expect(mistakesInBody('x = 1.5 hours')).toEqual(['lang.syntax 2:9']);
  expect(mistakesInBody('x = 5 months')).toEqual(['lang.syntax 2:7']);
  expect(mistakesInBody('x = 1 hour 30 minutes')).toEqual(['lang.syntax 2:12']);
  expect(outline('x = n minutes = 3')).toBe('Assign Assign');
  expect(mistakesInBody('x = f(1 hour 30 minutes)')).toEqual(['lang.syntax 2:14']);
  expect(mistakesInBody('x = 9223372036854775807 weeks')).toEqual(['lang.literal.range 2:5']);
  expect(messages('PROCEDURE p()\nx = 9223372036854775807 weeks')[0]).toContain('9223372036854775807 times 604800000 milliseconds');
});

test('1.1 Array: elements, and one trailing comma', () => {
  expect(shape('[1, [2], ]')).toBe('[1, [2]]');
  expect(shape('[]')).toBe('[]');
  expect(mistakesInBody('x = [1,,2]')).toEqual(['lang.syntax 2:8']);
  expect(mistakesInBody('x = [,]')).toEqual(['lang.syntax 2:6']);
});
test('1.1 Object: names, keywords and Strings as keys, in order, one trailing comma', () => {
  expect(shape('{b: 1, "a.b": 2, if: 3, \'$gt\': {}, b: 4,}')).toBe('{b: 1, a.b: 2, if: 3, $gt: {}, b: 4}');
  expect(mistakesInBody('x = {[a]: 1}')).toEqual(['lang.syntax 2:6']);
  expect(mistakesInBody('x = {1: 1}')).toEqual(['lang.syntax 2:6']);
  expect(messages('PROCEDURE p() x = {a, b: 1}')).toEqual(["the key 'a' has no value (write a: a)"]);
});

test.each([
  ['x = 1 y = 2', 'Assign Assign'],
  ['x =\n1\n+\n2', 'Assign'],
  ['x = 1; y = 2;;', 'Assign Assign'],
])('L15: %j needs no terminator', (body, expected) => {
  expect(outline(body)).toBe(expected);
});

test.each([
  ['#', 'a comment begins with //'],
  ['$', 'names have letters, digits and _ only'],
])('a character of other languages is told with what stands here: %s', (character, hint) => {
  expect(messages(`PROCEDURE p()\nx = ${character}a`)[0]).toContain(`(${hint})`);
});

test('L16: a statement ends where the grammar can take no further token', () => {
  expect(outline('x y = 1')).toBe('ExpressionStatement Assign');
  expect(outline('a b')).toBe('ExpressionStatement ExpressionStatement');
  expect(outline('f(1)(2)')).toBe('ExpressionStatement ExpressionStatement');
  expect(outline('var x "a" [1]')).toBe('Var ExpressionStatement');
});

test.each([
  ['x\n(y)', 'ExpressionStatement ExpressionStatement'],
  ['x = y\n[1].f()', 'Assign ExpressionStatement'],
  ['x = f(y\n(z))', 'Assign'],
  ['x = [y\n[0]]', 'Assign'],
  ['x = {a: y\n(z)}', 'Assign'],
  ['f(q => { y\n(z) })', 'ExpressionStatement'],
  ['x = y\n+ z\n- 1\n&& b\nand c\n? 1\n: 2', 'Assign'],
  ['x = y\n.a\n.b(1)', 'Assign'],
  ['x = y /*\n*/ (z)', 'Assign ExpressionStatement'],
])('L17: %j: a bracket first on its line goes on only inside brackets, an operator always', (body, expected) => {
  expect(outline(body)).toBe(expected);
});
test('L17: in a block inside brackets the rule holds again', () => {
  expect(shape('f(q => { y\n(z) })')).toBe('call f((q => {ExpressionStatement ExpressionStatement}))');
});

test('L18: ++ stands on the line of its operand', () => {
  expect(outline('count ++ a.b[0]--')).toBe('ExpressionStatement ExpressionStatement');
  expect(mistakesInBody('x\n++')).toEqual(['lang.syntax 3:1']);
  expect(mistakesInBody('y = ++x')).toEqual(['lang.syntax 2:5']);
});

test.each([
  'SELECT FROM Pump\n{ f() }',
  'SELECT FROM Pump WHERE {}\n{ f() }',
  'EXECUTE p() AS r\n{ f(r) }',
  'DELETE Pump WHERE q PROCESSED BY ALL\n{ f() }',
])('L19: %j: a brace after a complete head opens its block', (body) => {
  expect(statements(body)).toHaveLength(1);
});

test('L20: a comma goes on with WITH only before name = or "text" =', () => {
  expect(only('Select', 'SELECT FROM Pump WITH limit = 1, "skip" = 2,\nconfigure = true').options.map((one) => one.key)).toEqual([
    'limit',
    'skip',
    'configure',
  ]);
  expect(shape('f(SELECT FROM Pump WITH limit = 1, x, "y")')).toBe('call f(Select, x, "y")');
  expect(shape('f(SELECT FROM Pump WITH limit = 1, x == 1)')).toBe('call f(Select, (x == 1))');
});
