// What is surely wrong about values is told of, at its place and in our words; nothing else is, over all programs that the project holds.
import { expect, test } from 'vitest';
import { compile, type CompiledProcedure, format } from '../compiler/index.ts';
import { builtinTable } from '../stdlib/builtins/index.ts';
import { environmentOf, TypeChecker } from './index.ts';
import { casePrograms, documentPrograms, examplePrograms, type KnownProgram } from './testing/programs.ts';
import { amount } from '../scripts/testing/amount.ts';

const builtins = builtinTable();
const procedure = (text: string): CompiledProcedure[] => {
  const result = compile(text, { builtins });
  return result.ok && result.unit.kind === 'procedure' ? [result.unit] : [];
};
const TYPES = [
  {
    name: 'Pump',
    properties: {
      code: { type: 'String', required: true },
      rate: { type: 'Integer' },
      flow: { type: 'Real' },
      price: { type: 'Decimal', scale: 2 },
      tags: { type: 'String', multi: true },
      site: { type: 'Site' },
      at: { type: 'DateTime' },
      owner: { type: 'ResourceReference' },
      extra: { type: 'Object' },
    },
  },
  { name: 'Site', properties: { name: { type: 'String' } } },
];
const PROCEDURES = [
  'PROCEDURE Math2.addTax(net Decimal REQUIRED, rate Integer DEFAULT 19): Decimal',
  'PROCEDURE total(rows Integer ARRAY): Integer',
  'PROCEDURE findPump(code String): Pump  return null',
  'PROCEDURE anything(a, b)',
].flatMap(procedure);
const NOT_ALL = { types: false, procedures: false };
const checker = new TypeChecker(environmentOf(TYPES, PROCEDURES, { types: true, procedures: true }));

const found = (text: string): string[] =>
  checker.check(text).map((one) => `${one.code.slice(14)} ${one.line}:${one.column} ${one.message}${one.hint ? ` (${one.hint})` : ''}`);
const inProcedure = (body: string): string[] => found(`PROCEDURE p(a, b)\n${body}`);
const inRule = (body: string, head = 'WHEN INSERT OCCURS ON Pump AS p'): string[] => found(`RULE r ${head}\n${body}`);

test.each([
  ['log.info(p.rtae)', ["property.unknown 2:12 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  ['log.info([p.rate, p._id, p.ars_version, p.extra.any, p.site.name, p.tags.size])', []],
  ['log.info(p.site.nmae)', ["property.unknown 2:17 a Site has no property 'nmae' (did you mean 'name'?)"]],
  ['log.info(p.rate.value)', ["property.unknown 2:17 an Integer has no property 'value'"]],
  ['p.added = 1\nlog.info(p.added)', []],
  ['p.put("later", 1)\nlog.info(p.later)', []],
  ['var q = p\nlog.info(q.rtae)', ["property.unknown 3:12 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  ['var q = p\nif (p.rate > 1) { q = {} }\nlog.info(q.rtae)', []],
  ['p = {}\nlog.info(p.rtae)', []],
  [
    'SELECT ONE FROM Pump AS q WHERE code == p.code\nlog.info(q.rtae)',
    ["property.unknown 3:12 a Pump has no property 'rtae' (did you mean 'rate'?)"],
  ],
  ['for (q in SELECT FROM Pump) { log.info(q.rtae) }', ["property.unknown 2:42 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  ['var rows = SELECT FROM Pump\nlog.info(rows[0].rtae)', ["property.unknown 3:18 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  ['var n = SELECT n = count() FROM Pump\nlog.info(n[0].n)', []],
  [
    'var s = FILTER (q in SELECT FROM Pump) { return q.rtae }',
    ["property.unknown 2:51 a Pump has no property 'rtae' (did you mean 'rate'?)"],
  ],
  ['SELECT FROM Pump AS q { log.info(q.rtae) }', ["property.unknown 2:36 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  [
    'for (q in SELECT FROM Pump until q.rtae) { log.info(q) }',
    ["property.unknown 2:36 a Pump has no property 'rtae' (did you mean 'rate'?)"],
  ],
  ['PUBLISH {a: p.rtae} TO TOPIC "/a"', ["property.unknown 2:15 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  ['DELETE Pump WHERE code == p.rtae', ["property.unknown 2:29 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  [
    'UPDATE Pump(rate: 1) WHERE NOT (code == p.rtae AND rate > 1)',
    ["property.unknown 2:43 a Pump has no property 'rtae' (did you mean 'rate'?)"],
  ],
  // What comes from other nodes or sources, or in groups, is no instance, and a block gives what it likes.
  ['var r = SELECT FROM Pump PROCESSED BY ALL\nlog.info(r[0].rtae)', []],
  ['var r = SELECT FROM Pump AS q { log.info(q) }\nlog.info(r[0].rtae)', []],
  ['SELECT FROM SOURCE Pump AS q WITH x = 1 { log.info(q.rtae) }', []],
  ['var r = SELECT code FROM Pump GROUP BY code\nlog.info(r[0].total)', []],
])('properties: %s', (body, expected) => {
  expect(inRule(body)).toEqual(expected);
});

test.each([
  [
    'WHEN EVENT OCCURS ON "/types/Pump/insert"',
    'log.info(event.rate)',
    ["property.unknown 2:16 an Event has no property 'rate' (the payload stands in value: value.rate)"],
  ],
  [
    'WHEN EVENT OCCURS ON "/types/Pump/insert"',
    'log.info(event.value.rtae)',
    ["property.unknown 2:22 a Pump has no property 'rtae' (did you mean 'rate'?)"],
  ],
  ['WHEN EVENT OCCURS ON "/topics/a"', 'log.info([event.value.anything, event.uuid])', []],
  [
    'WHEN EVENT OCCURS ON "/topics/a"',
    'log.info(event.rate)',
    ["property.unknown 2:16 an Event has no property 'rate' (the payload stands in value: value.rate)"],
  ],
  [
    'WHEN EVENT OCCURS ON "/types/Pump/insert"',
    'log.info(event.topik)',
    ["property.unknown 2:16 an Event has no property 'topik' (did you mean 'topic'?)"],
  ],
  // Several that were changed at once come as an object with a count; one that is about to be changed never does.
  ['WHEN UPDATE OCCURS ON Pump AS p', 'log.info(p.count - "x")', ["operand 2:18 there is no '-' for an Integer and a String"]],
  ['BEFORE UPDATE ON Pump AS p', 'log.info(p.count - "x")', []],
  ['WHEN UPDATE OCCURS ON Pump AS p', 'log.info([p.count, p.qual, p.ars_bulkOperation])', []],
  ['WHEN OCCURS ON Pump AS p WHERE rtae > 5', '', ["property.unknown 1:39 Pump has no property 'rtae' (did you mean 'rate'?)"]],
  [
    'WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > "many"',
    '',
    ["property.type 1:55 this is compared with an Integer: 'many' is no number"],
  ],
  ['WHEN INSERT OCCURS ON Pupm AS p', '', ["type.unknown 1:30 there is no type 'Pupm' (did you mean 'Pump'?)"]],
  [
    'WHEN EVENT OCCURS ON "/types/Pump/insert" WHERE event.value.rtae == 1',
    '',
    ["property.unknown 1:56 Pump has no property 'rtae' (did you mean 'rate'?)"],
  ],
  ['BEFORE INSERT ON Pump AS p', 'p.rate = p.rtae', ["property.unknown 2:12 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  [
    'WHEN INSERT OCCURS ON Pump AS p BEFORE INSERT OCCURS ON Site AS s WITHIN 5 seconds CONSTRAIN TO p.site.name == s.nmae',
    '',
    ["property.unknown 1:119 Site has no property 'nmae' (did you mean 'name'?)"],
  ],
  [
    'WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > p.flwo * 2',
    '',
    ["property.unknown 1:55 Pump has no property 'flwo' (did you mean 'flow'?)"],
  ],
  [
    'WHEN INSERT OCCURS ON Pump AS p WHERE p.rate > 1 AND NOT (p.rtae == 1)',
    '',
    ["property.unknown 1:66 Pump has no property 'rtae' (did you mean 'rate'?)"],
  ],
  [
    'WHEN INSERT OCCURS ON Pump AS p EXPECT WITHIN 5 seconds',
    'var n = 1\nTIMEOUT\nvar n = "a"\nlog.info([n - 1, p.rtae])',
    [
      "operand 5:13 there is no '-' for a String and an Integer",
      "property.unknown 5:20 a Pump has no property 'rtae' (did you mean 'rate'?)",
    ],
  ],
  ['WHEN INSERT OCCURS ON Pump AS p OR INSERT OCCURS ON Site AS p CONSTRAIN TO p.anything == 1', '', []],
])('events: %s %s', (head, body, expected) => {
  expect(inRule(body, head)).toEqual(expected);
});

const OF_CONTEXT = ['username', 'preferredUsername', 'email', 'isEmailVerified', 'namespace', 'profiles']
  .map((name) => `Context.${name}`)
  .join(', ');
const NO_CALL = 'a lambda cannot be called: built-ins take it as an argument';
const CAST = ' (put the Decimal or Currency on the left, or convert with toDecimal() or toCurrency())';
test.each([
  ['return 5 < toDecimal("1", 2)', [`class.cast 2:10 '<' with an Integer on the left and a Decimal on the right fails${CAST}`]],
  ['return toDecimal("1", 2) > 5', []],
  ['return "a" == toCurrency("USD:1")', [`class.cast 2:12 '==' with a String on the left and a Currency on the right fails${CAST}`]],
  [
    'return 5 < "6"',
    ["class.cast 2:10 '<' with an Integer on the left and a String on the right fails (convert one of them, so that both are of one type)"],
  ],
  ['return "6" < 5', []],
  ['var n = 1\nif (a) { n = "text" }\nreturn n < "x"', []],
  [
    'return [1] < 5',
    ["class.cast 2:12 '<' with a List on the left and an Integer on the right fails (convert one of them, so that both are of one type)"],
  ],
  ['return now() > 5', []],
  ['return now() * 5', ["operand 2:14 there is no '*' for a DateTime and an Integer"]],
  ['return true + 1', ["operand 2:13 there is no '+' for a Boolean and an Integer"]],
  ['return true + "1"', []],
  ['return "a" - 1', ["operand 2:12 there is no '-' for a String and an Integer"]],
  ['return toDecimal("1", 2) % 2', ["operand 2:26 there is no '%' for a Decimal and an Integer"]],
  ['var x = 1.5\nfor (i in range(0, 3)) { x = x + 1 }\nreturn x - "a"', ["operand 4:10 there is no '-' for a Real and a String"]],
  ['return a - b', []],
  // What a branch or a loop gives a variable, it may or may not have behind it.
  ['var n = 1\nif (a) { n = "text" }\nreturn n - 1', []],
  ['var n = 1\nfor (i in a) { n = "text" }\nreturn n - 1', []],
  ['var n = 1\nSELECT FROM Pump AS q { n = "text" }\nreturn n - 1', []],
  ['var n = 1\ntry { f() } catch (e) { n = "text" }\nreturn n - 1', ["procedure.unknown 3:7 there is no procedure 'f'"]],
  ['var n = 1\nif (a) { n = "text" } else { n = "other" }\nreturn n - 1', ["operand 4:10 there is no '-' for a String and an Integer"]],
  ['return -"a"', ["operand 2:9 there is no '-' for a String"]],
  ['return +now()', ["operand 2:9 there is no '+' for a DateTime"]],
  ['return [-5, -1.5, -toDecimal("1"), -a, !"a", -parse("1")]', []],
  ['return 5 in 5', ["class.cast 2:13 'in' looks into an array, and this is an Integer (write [a, b], or an array)"]],
  ['return 5 in range(0, 9)', ["class.cast 2:13 'in' looks into an array, and this is a Sequence (write [a, b], or an array)"]],
  ['return [5 in [5], 5 in a, 5 in toArray(range(0, 9)), 5 in a.list]', []],
  [
    'var s = range(0, 3)\nreturn [s[0], s.size]',
    [
      'operand 3:11 a Sequence has no subscripts (it is read once, from its beginning: toArray(…) makes an array of it)',
      'operand 3:17 a Sequence has no properties (it is read once, from its beginning: toArray(…) makes an array of it)',
    ],
  ],
  ['var s = toArray(range(0, 3))\nreturn [s[0], s.size]', []],
  ['return anything(x => "a" - 1)', ["operand 2:26 there is no '-' for a String and an Integer"]],
])('operators: %s', (body, expected) => {
  expect(inProcedure(body)).toEqual(expected);
});

test.each([
  ['return trim(5)', ["argument.type 2:13 trim takes a String as 'str', and this is an Integer"]],
  ['return trim()', ["argument.missing 2:8 trim needs an argument for 'str'"]],
  ['return trim("a", 2)', ['argument.count 2:18 trim takes one argument']],
  ['return "a".trim(2)', ['argument.count 2:17 trim takes no arguments']],
  ['return substring("a", "b")', ["argument.type 2:23 substring takes an Integer as 'begin', and this is a String"]],
  ['return size(a) + size([1]) + size("x") + size({})', []],
  [
    'return size(5)',
    ['argument.type 2:13 size takes a String or Matcher or List or Object or Binary or Xml or Map here, and this is an Integer'],
  ],
  ['return concat(str: "a", s1: "b") + format(str: "{0}", p0: 1)', []],
  ['return concat(str: "a", s: "b")', ["argument.unknown 2:25 concat has no parameter 's' (did you mean 's1'?)"]],
  ['return trim(string: "a")', ["argument.unknown 2:13 trim has no parameter 'string'"]],
  ['return now().isBefore("2024-01-01")', []],
  ['return isBefore(now(), now())', ["procedure.unknown 2:8 there is no function 'isBefore' (it is a method: write value.isBefore(…))"]],
  ['return concat("a", 1, true)', []],
  ['return toUppercase("a")', ["procedure.unknown 2:8 there is no procedure 'toUppercase' (did you mean 'toUpperCase'?)"]],
  ['return fnidPump("a")', ["procedure.unknown 2:8 there is no procedure 'fnidPump' (did you mean 'findPump'?)"]],
  ['return fnidPumq("a")', ["procedure.unknown 2:8 there is no procedure 'fnidPumq'"]],
  ['return nowhere("a")', ["procedure.unknown 2:8 there is no procedure 'nowhere'"]],
  ['return Math2.addTax()', ["argument.missing 2:8 Math2.addTax needs an argument for 'net'"]],
  ['return Math2.addTax(1, 2, 3)', ['argument.count 2:27 Math2.addTax takes 2 arguments']],
  ['return Math2.addTax("x")', ["argument.type 2:21 'net' of Math2.addTax: 'x' is no number"]],
  ['return Math2.addTax(true)', ["argument.type 2:21 'net' of Math2.addTax: a Boolean cannot become a Decimal"]],
  [
    'return Math2.addTax(nett: 1)',
    [
      "argument.missing 2:8 Math2.addTax needs an argument for 'net'",
      "argument.unknown 2:21 Math2.addTax has no parameter 'nett' (did you mean 'net'?)",
    ],
  ],
  ['return Math2.addTax(net: 1, rate: null)', []],
  ['return total(5)', ["argument.type 2:14 'rows' of total: an Integer cannot become an array of Integer"]],
  ['return total([5])', []],
  ['return findPump("a").rtae', ["property.unknown 2:22 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  ['var r = EXECUTE findPump("a")\nlog.info(r.rtae)', ["property.unknown 3:12 a Pump has no property 'rtae' (did you mean 'rate'?)"]],
  ['var r = EXECUTE findPump("a") PROCESSED BY ALL\nlog.info(r.rtae)', []],
  ['return 5 < Math2.addTax(1)', [`class.cast 2:10 '<' with an Integer on the left and a Decimal on the right fails${CAST}`]],
  [
    'EXECUTE total(1, 2)',
    ["argument.type 2:15 'rows' of total: an Integer cannot become an array of Integer", 'argument.count 2:18 total takes one argument'],
  ],
  ['return anything(1)', []],
  ['return Context.foo()', [`procedure.unknown 2:8 there is no procedure 'Context.foo' (it has ${OF_CONTEXT} and 6 more)`]],
  ['return Context.usrname()', ["procedure.unknown 2:8 there is no procedure 'Context.usrname' (did you mean 'Context.username'?)"]],
  ['return [1].map(x => x)', ["procedure.unknown 2:12 there is no method 'map' (write MAP (x IN array) { return … })"]],
  ['return a.filter(x => x > 1)', ["procedure.unknown 2:8 there is no method 'filter' (write FILTER (x IN array) { return … })"]],
  ['var f = x => x\nreturn f(2)', [`procedure.unknown 3:8 there is no procedure 'f' (${NO_CALL})`]],
  ['var f = 1\nif (a) { f = x => x }\nreturn f(2)', [`procedure.unknown 4:8 there is no procedure 'f' (${NO_CALL})`]],
  ['var total = total([1])\nreturn total', []],
  ['var total = x => x\nreturn total([1])', []],
  ['var has = x => x\nreturn has({}, "a")', []],
])('calls: %s', (body, expected) => {
  expect(inProcedure(body)).toEqual(expected);
});

test.each([
  ['INSERT Pump(code: "a", rtae: 1)', ["property.unknown 2:24 Pump has no property 'rtae' (did you mean 'rate'?)"]],
  ['INSERT Pump(rate: 1)', ["property.required 2:8 a Pump needs 'code'"]],
  ['INSERT Pump(code: "a", rate: "x")', ["property.type 2:30 'rate' of Pump: 'x' is no number"]],
  ['INSERT Pump(code: "a", rate: "5", price: 1.5, tags: ["a"], at: "2024-01-01", extra: {})', []],
  ['INSERT Pump(code: "a", tags: "x")', ["property.type 2:30 'tags' of Pump: a String cannot become an array of String"]],
  ['INSERT Pump(a)', []],
  ['INSERT Pump(code: null)', ["property.required 2:19 'code' of Pump must not be null"]],
  ['INSERT Pupm(code: 1)', ["type.unknown 2:8 there is no type 'Pupm' (did you mean 'Pump'?)"]],
  ['INSERT audits({entity: a, message: "x"})', []],
  ['UPDATE Pump(rate: true) WHERE code == "a"', ["property.type 2:19 'rate' of Pump: a Boolean cannot become an Integer"]],
  [
    'UPDATE Pump(at: 1.5) WHERE cdoe == "a"',
    [
      "property.type 2:17 'at' of Pump: a Real with a fraction cannot become a DateTime",
      "property.unknown 2:28 Pump has no property 'cdoe' (did you mean 'code'?)",
    ],
  ],
  ['UPDATE Pump(at: 1.9e12) WHERE at < 1.8e12', []],
  ['var ms = 1000 * 1.5\nUPDATE Pump(at: ms) WHERE code == "a"', []],
  ['DELETE Pump WHERE site.nmae == a', ["property.unknown 2:19 Site has no property 'nmae' (did you mean 'name'?)"]],
  ['return SELECT code FROM Pump AS p WHERE p.rate > 5 AND extra.x == 1 ORDER BY code', []],
  [
    'return SELECT cdoe FROM Pump ORDER BY price',
    [
      "property.unknown 2:15 Pump has no property 'cdoe' (did you mean 'code'?)",
      "property.type 2:39 a result cannot be ordered by 'price', which is of type Decimal",
    ],
  ],
  ['return SELECT n = count() FROM Pump GROUP BY code ORDER BY n', []],
  ...['==', '!=', '<', '<=', '>', '>='].map((operator): [string, string[]] => [
    `return SELECT FROM Pump WHERE rate ${operator} "many"`,
    [`property.type 2:${37 + operator.length} this is compared with an Integer: 'many' is no number`],
  ]),
  ['return SELECT FROM Pump AS q WHERE q == 1', ["property.unknown 2:36 Pump has no property 'q'"]],
  ['var site = 1\nDELETE Pump WHERE site.name == "x"', []],
  [
    'DELETE Pump WHERE rate in 5 AND at regex "^2"',
    [
      "class.cast 2:27 'in' looks into an array, and this is an Integer (write [a, b], or an array)",
      'property.type 2:33 regex searches a String, and this is a DateTime',
    ],
  ],
  [
    'DELETE Pump WHERE rate in a AND rate in range(0, 5) AND code in ["a"] AND code regex "^2" AND tags regex "x" AND extra.x regex "y"',
    [],
  ],
])('statements: %s', (body, expected) => {
  expect(inProcedure(body)).toEqual(expected);
});

test('without the surroundings nothing is said of types and procedures that are not known', () => {
  const alone = new TypeChecker(environmentOf([], [], NOT_ALL));
  expect(alone.check('PROCEDURE p()\nSELECT FROM Pump AS q { log.info(q.x) }\nINSERT Foo(a: 1)\nreturn some.thing(1)')).toEqual([]);
});

test('what is no type is left out of the surroundings', () => {
  const { types } = environmentOf([null, 5, [], { name: 'A' }, { properties: {} }, { name: 1, properties: {} }, ...TYPES], [], NOT_ALL);
  expect([...types.keys()]).toEqual(['Pump', 'Site']);
});

test('the payload of an event is meant before a name that looks alike', () => {
  const notes = new TypeChecker(environmentOf([{ name: 'Note', properties: { topics: { type: 'String' } } }], [], NOT_ALL));
  const [advice] = notes.check('RULE r WHEN EVENT OCCURS ON "/types/Note/insert"\nlog.info(event.topics)');
  expect(advice?.hint).toContain('value.topics');
});

test('the condition of a version is looked at, too', () => {
  expect(found('RULE r:2 WHERE p.rtae > 1 WHEN INSERT OCCURS ON Pump AS p')).toEqual([
    "property.unknown 1:16 Pump has no property 'rtae' (did you mean 'rate'?)",
  ]);
});

test.each([
  ['parentheses', '(', 'a', ')'],
  ['arrays', '[', 'a', ']'],
  ['objects', '{a: ', 'a', '}'],
  ['calls', 'anything(', 'a', ')'],
  ['prefixes', '!', 'a', ''],
  ['ternaries', 'a ? b : ', 'a', ''],
  ['lambdas', 'x => ', 'a', ''],
  ['maps', 'MAP (m IN ', 'a', ') { return 1 }'],
  ['sums', '1 + ', 'a', ''],
  ['members', '', 'a', '.b'],
])('%s as deep as they may be are checked without harm', (_, open, inside, close) => {
  const text = `PROCEDURE p(a, b)\nreturn ${open.repeat(190)}${inside}${close.repeat(190)}`;
  expect(compile(text, { builtins, advice: true }).diagnostics).toEqual([]);
  expect(checker.check(text)).toEqual([]);
  expect(format(text).ok).toBe(true);
});

test('blocks as deep as they may be are checked without harm', () => {
  const levels = ['if (a) { ', 'for (i IN b) { ', 'try { } catch (e) { ', 'SELECT FROM Pump AS q { '];
  const text = `PROCEDURE p(a, b)\n${Array.from({ length: 180 }, (_, i) => levels[i % 4]).join('')}a = 1${' }'.repeat(180)}`;
  expect(compile(text, { builtins, advice: true }).ok).toBe(true);
  expect(checker.check(text)).toEqual([]);
  expect(format(text).ok).toBe(true);
});

/** Advice that a program does not deserve: a case of the suite that wants an error may well deserve it. */
function wrongly({ text, types, beside, fails, from }: KnownProgram): string[] {
  if (fails) return [];
  const known = checkers.get(beside) ?? new TypeChecker(environmentOf(types, beside.flatMap(procedure), NOT_ALL));
  checkers.set(beside, known);
  const found = known.check(text).filter(({ start, end }) => !DESERVED.has(text.slice(start - 2, end)));
  return found.map((one) => `${from}: ${one.line}:${one.column} ${one.message}\n${text}`);
}
/** What cases read on purpose though it is not there, to show that it is null. */
const DESERVED: ReadonlySet<string> = new Set(['e.temp']);
const checkers = new Map<readonly string[], TypeChecker>();

/** Of the cases one part in every run, chosen by the seed: `npm run fuzz` comes to all of them. */
const PARTS = amount(6, 3);
const PART = Number(process.env['CASCADE_FUZZ_SEED'] ?? 0) % PARTS;

test('programs that are meant to work get no advice on types', () => {
  const cases = casePrograms();
  expect(cases.length).toBeGreaterThan(300);
  const programs = [...cases.filter((_, index) => index % PARTS === PART), ...examplePrograms(), ...documentPrograms()];
  expect(programs.flatMap(wrongly)).toEqual([]);
});
