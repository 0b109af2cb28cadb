// language.md 2.1 to 2.3: every production, with what it accepts and what it refuses.
import { expect, test } from 'vitest';
import { print } from '../print/index.ts';
import { withoutSpans } from '../print/testing/random-trees.ts';
import { accepted, mistakes, mistakesInBody, only, outline, shape } from './testing/reading.ts';

/** Is the text accepted, and canonical as it is printed? */
const canonical = (text: string): string => print(accepted(text)).trim().replace(/\s+/g, ' ');
const canonicalBody = (body: string): string => canonical(`PROCEDURE p()\n${body}`).replace('PROCEDURE p() ', '');

// ---------------------------------------------------------------- 2.1
test.each([
  ['Package', 'package com.acme procedure p()', 'PACKAGE com.acme PROCEDURE p()'],
  [
    'Import',
    'package a.b import service x.y as z import procedure s.p import type T import topic "/a/b" import source S as T import eventstream e.s procedure p()',
    'PACKAGE a.b IMPORT SERVICE x.y AS z IMPORT PROCEDURE s.p IMPORT TYPE T IMPORT TOPIC "/a/b" IMPORT SOURCE S AS T IMPORT EVENTSTREAM e.s PROCEDURE p()',
  ],
  ['RuleDef', 'ruleset r before insert on Pump', 'RULE r BEFORE INSERT ON Pump'],
  ['RuleDef', 'RULE r WHERE Pump.rate > 3 BEFORE INSERT ON Pump x = 1', 'RULE r WHERE Pump.rate > 3 BEFORE INSERT ON Pump x = 1'],
  ['RuleDef', `RULE r ACTIVATIONCONSTRAINT '{"a":1}' WHEN OCCURS ON Pump`, 'RULE r ACTIVATIONCONSTRAINT "{\\"a\\":1}" WHEN OCCURS ON Pump'],
  ['RuleDef', 'RULE r ACTIVATIONCONSTRAINT {a: 1} WHEN OCCURS ON Pump', 'RULE r ACTIVATIONCONSTRAINT {a: 1} WHEN OCCURS ON Pump'],
  [
    'RuleDef',
    'RULE r WHEN OCCURS ON Pump EXPECT EVERY 5 minutes f() TIMEOUT g()',
    'RULE r WHEN OCCURS ON Pump EXPECT EVERY 5 minutes f() TIMEOUT g()',
  ],
  ['Version', 'RULE r:1.00-beta_2 BEFORE DELETE ON Pump', 'RULE r:1.00-beta_2 BEFORE DELETE ON Pump'],
  ['Version', 'RULE r:V9 WHERE {} BEFORE DELETE ON Pump', 'RULE r:V9 WHERE {} BEFORE DELETE ON Pump'],
  ['Version', 'RULE r:1e5// c\nBEFORE DELETE ON Pump', 'RULE r:1e5 BEFORE DELETE ON Pump'],
  ['ProcDef', 'private procedure s.p() hidden return 1', 'PRIVATE PROCEDURE s.p() HIDDEN return 1'],
  ['ProcDef', 'PRIVATE GLOBAL PROCEDURE s.p()', 'PRIVATE GLOBAL PROCEDURE s.p()'],
  ['ProcDef', 'MULTI PARTITION PRIVATE PROCEDURE s.p()', 'PRIVATE MULTI PARTITION PROCEDURE s.p()'],
  ['ProcDef', 'STATELESS PROCEDURE s.p()', 'STATELESS PROCEDURE s.p()'],
  ['Params', 'PROCEDURE p(a, b ARRAY, c MULTI)', 'PROCEDURE p(a, b ARRAY, c ARRAY)'],
  [
    'Param',
    'PROCEDURE p(a String ARRAY REQUIRED DESCRIPTION "x", b Decimal(2) DEFAULT 5 * 2, c com.acme.T DEFAULT {a: 1} required)',
    'PROCEDURE p(a String ARRAY REQUIRED DESCRIPTION "x", b Decimal(2) DEFAULT 5 * 2, c com.acme.T REQUIRED DEFAULT {a: 1})',
  ],
  ['TypeRef', 'PROCEDURE p(a String(40), b Currency(2)): Decimal(3)', 'PROCEDURE p(a String(40), b Currency(2)): Decimal(3)'],
  ['ReturnType', 'PROCEDURE p(): Pump ARRAY return []', 'PROCEDURE p(): Pump ARRAY return []'],
  ['ReturnType', 'PROCEDURE p() : com.acme.Pump sequence hidden', 'PROCEDURE p(): com.acme.Pump SEQUENCE HIDDEN'],
  [
    'Option',
    'PROCEDURE p() WITH properties = {a: 1}, "ars_public" = true, profiles = ["user"] x = 1',
    'PROCEDURE p() WITH properties = {a: 1}, ars_public = true, profiles = ["user"] x = 1',
  ],
  ['Body', 'PROCEDURE p()', 'PROCEDURE p()'],
])('2.1 %s: %s', (_, text, expected) => {
  expect(canonical(text)).toBe(expected);
});

test.each([
  ['RuleText', '', 'lang.syntax 1:1'],
  ['RuleText', 'x = 1', 'lang.syntax 1:1'],
  ['RuleText', 'PROCEDURE p() return 1\nPROCEDURE q(a String) return }', 'lang.syntax 2:1'],
  ['RuleText', 'IMPORT SERVICE x PACKAGE a.b PROCEDURE p()', 'lang.syntax 1:18'],
  ['ImportKind', 'PACKAGE a.b IMPORT RULE x PROCEDURE p()', 'lang.syntax 1:20'],
  ['RuleDef', 'RULE WHEN OCCURS ON Pump', 'lang.syntax 1:6'],
  ['RuleDef', 'RULE r x = 1', 'lang.syntax 1:8'],
  ['RuleDef', 'RULE r ACTIVATIONCONSTRAINT 5 WHEN OCCURS ON Pump', 'lang.syntax 1:29'],
  ['RuleDef', 'RULE r BEFORE INSERT ON Pump x = 1 TIMEOUT y = 1', 'rule.timeout 1:36'],
  ['Version', 'RULE r: 1 BEFORE DELETE ON Pump', 'rule.version.invalid 1:9'],
  ['Version', 'RULE r :1 BEFORE DELETE ON Pump', 'rule.version.invalid 1:9'],
  ['Version', 'RULE r:a@b BEFORE DELETE ON Pump', 'rule.version.invalid 1:8'],
  ['Version', 'RULE r:+ BEFORE DELETE ON Pump', 'rule.version.invalid 1:8'],
  ['ProcDef', 'GLOBAL STATELESS PROCEDURE s.p()', 'lang.syntax 1:8'],
  ['ProcDef', 'PRIVATE PRIVATE PROCEDURE s.p()', 'lang.syntax 1:9'],
  ['ProcDef', 'MULTI PROCEDURE s.p()', 'lang.syntax 1:7'],
  ['ProcDef', 'PROCEDURE p return 1', 'lang.syntax 1:13'],
  ['ProcDef', 'PROCEDURE p() TIMEOUT x = 1', 'lang.syntax 1:15'],
  ['Params', 'PROCEDURE p(a b c, d)', 'lang.syntax 1:17'],
  ['Params', 'PROCEDURE p(a,)', 'lang.syntax 1:15'],
  ['Params', 'PROCEDURE p(a = 5)', 'lang.syntax 1:15'],
  ['Params', 'PROCEDURE p(a: String)', 'lang.syntax 1:14'],
  ['ParamMod', 'PROCEDURE p(a DEFAULT 1 DEFAULT 2)', 'lang.syntax 1:25'],
  ['ParamMod', 'PROCEDURE p(a DESCRIPTION b)', 'lang.syntax 1:27'],
  ['TypeRef', 'PROCEDURE p(a Decimal("2"))', 'lang.syntax 1:23'],
  ['TypeRef', 'PROCEDURE p(a @T)', 'lang.syntax 1:15'],
  ['Option', 'PROCEDURE p() WITH properties: 1', 'lang.syntax 1:30'],
])('2.1 %s: %s is refused', (_, text, ...expected) => {
  expect(mistakes(text)).toEqual(expected);
});

// ---------------------------------------------------------------- 2.2
test.each([
  ['Single', 'EVENT OCCURS ON "/types/Pump/insert" AS e WHERE e.value.n > 3'],
  ['Single', 'INSERT OCCURS ON Pump'],
  ['Single', 'UPDATE OCCURS ON com.acme.Pump AS p WHERE p.total > 10'],
  ['Single', 'DELETE OCCURS ON Pump'],
  ['Single', 'REQUEST OCCURS ON Pump'],
  ['Single', 'OCCURS ON Pump WHERE total > 10'],
  ['Single', 'PUBLISH OCCURS ON "/a/b" AS m WHERE m.value.n > 1'],
  ['Single', 'MESSAGE ARRIVES FROM mail AS m WHERE m.text == "x"'],
  ['Trigger', 'INSERT OCCURS ON Pump CONSTRAIN TO Pump.rate > 3'],
  ['Trigger', 'INSERT OCCURS ON Pump EXPECT WITHIN 5 minutes'],
  ['Trigger', 'EVENT OCCURS ON "/topics/a" AS e WHERE e.value.a > 1 OR e.value.b > 2 OR EVENT OCCURS ON "/topics/b" AS e'],
  ['Trigger', 'INSERT OCCURS ON A AS x OR UPDATE OCCURS ON A AS x OR OCCURS ON B AS x CONSTRAIN TO x.a == 1 EXPECT EVERY 1 hour'],
  ['Correlation', 'INSERT OCCURS ON A BEFORE INSERT OCCURS ON B WITHIN 5 seconds'],
  ['Correlation', 'INSERT OCCURS ON A AFTER INSERT OCCURS ON B WITHIN 5 seconds CONSTRAIN TO A.x == B.x'],
  ['Correlation', 'INSERT OCCURS ON A WHERE A.x > 1 AND A.y > 1 AND INSERT OCCURS ON B WITHIN 5 seconds'],
  ['Correlation', 'OCCURS ON A BEFORE OCCURS ON B WITHIN 5 seconds CONSTRAIN TO A.x == B.x AND OCCURS ON C WITHIN 1 minute'],
  ['TrigTerm', 'OCCURS ON A AND (OCCURS ON B BEFORE OCCURS ON C WITHIN 1 second CONSTRAIN TO B.x == C.x) WITHIN 5 seconds'],
  ['Interval', 'OCCURS ON A AND OCCURS ON B WITHIN 1 hour + 30 minutes'],
])('2.2 %s: WHEN %s', (_, trigger) => {
  expect(canonical(`rule r when ${trigger}`)).toBe(`RULE r WHEN ${trigger}`);
});

test('2.2 Correlation: to the left, and parentheses on the right are one event', () => {
  const left = accepted('RULE r WHEN (OCCURS ON A BEFORE OCCURS ON B WITHIN 1 second) AFTER OCCURS ON C WITHIN 2 seconds');
  const flat = accepted('RULE r WHEN OCCURS ON A BEFORE OCCURS ON B WITHIN 1 second AFTER OCCURS ON C WITHIN 2 seconds');
  expect(withoutSpans(left)).toEqual(withoutSpans(flat));
});

test.each([
  ['BeforeClause', 'BEFORE INSERT ON Pump'],
  ['BeforeClause', 'BEFORE UPDATE ON com.acme.Pump AS p WHERE p.rate > 3'],
  ['BeforeClause', 'BEFORE DELETE ON Pump'],
])('2.2 %s: %s', (_, clause) => {
  expect(canonical(`RULE r ${clause}`)).toBe(`RULE r ${clause}`);
  expect(canonical(`RULE r ${clause.replace(' ON ', ' OCCURS ON ')}`)).toBe(`RULE r ${clause}`);
});

test('2.2: the body begins where the trigger ends', () => {
  const body = (text: string): string[] => accepted(text).body.map((one) => one.type);
  expect(body('RULE r WHEN INSERT OCCURS ON Order\norder.x = 1')).toEqual(['Assign']);
  expect(body('RULE r WHEN INSERT OCCURS ON Order AS o WHERE o.x > 1\nafter = 2 and.x = 3')).toEqual(['Assign', 'Assign']);
  expect(body('RULE r WHEN INSERT OCCURS ON Order SELECT FROM Pump')).toEqual(['Select']);
});

test.each([
  ['WHEN Pump OCCURS', '1:13'],
  ['WHEN EVENT OCCURS ON /types', '1:29'],
  ['WHEN INSERT ON Pump', '1:13'],
  ['WHEN INSERT OCCURS ON "/types/Pump"', '1:30'],
  ['WHEN PUBLISH OCCURS ON topic', '1:31'],
  ['WHEN MESSAGE ARRIVES ON mail', '1:29'],
  ['WHEN OCCURS ON A BEFORE OCCURS ON B f()', '1:44'],
  ['WHEN OCCURS ON A AND OCCURS ON B WITHIN 1 second OR OCCURS ON C', '1:57'],
  ['WHEN (OCCURS ON A)', '1:25'],
  ['WHEN OCCURS ON A AND OCCURS ON B WITHIN 1 second EXPECT EVERY 5 minutes', '1:70'],
  ['BEFORE REQUEST ON Pump', '1:15'],
  ['BEFORE INSERT ON "Pump"', '1:25'],
])('2.2: %s is refused', (clause, place) => {
  expect(mistakes(`RULE r ${clause}`)).toEqual([`lang.syntax ${place}`]);
});
test('2.2: @v names no trigger', () => {
  expect(mistakes('RULE r WHEN INSERT OCCURS ON @v')).toEqual(['lang.reference.position 1:30']);
});

// ---------------------------------------------------------------- 2.3
test.each([
  ['VarDecl', 'var x', 'var x'],
  ['VarDecl', 'var x = SELECT ONE FROM Pump', 'var x = SELECT ONE FROM Pump'],
  ['Assign', 'x = 1 x += 2 x -= 3 x *= 4 x /= 5 x %= 6', 'x = 1 x += 2 x -= 3 x *= 4 x /= 5 x %= 6'],
  ['Target', 'a.b.c = 1 a[0] = 2 a[i].b["c"] = 3', 'a.b.c = 1 a[0] = 2 a[i].b["c"] = 3'],
  ['Value', 'x = EXECUTE p(1)', 'x = EXECUTE p(1)'],
  ['If', 'if (a) { x = 1 } else if (b) { x = 2 }\nelse { x = 3 }', 'if (a) { x = 1 } else if (b) { x = 2 } else { x = 3 }'],
  ['If', 'if (SELECT FROM Pump WHERE a == 1) { }', 'if (SELECT FROM Pump WHERE a == 1) { }'],
  ['For', 'for (x in list until x > 3) { f(x) }', 'for (x in list UNTIL x > 3) { f(x) }'],
  ['For', 'for x in list until x > 3 { f(x) }', 'for (x in list UNTIL x > 3) { f(x) }'],
  ['For', 'for each x in list { }', 'for (x in list) { }'],
  ['For', 'for each (x in list) { }', 'for (x in list) { }'],
  [
    'For',
    'for each in list { } for in in in { } for each each in each { }',
    'for (each in list) { } for (in in in) { } for (each in each) { }',
  ],
  ['For', 'for i in range (1, 5) { }', 'for (i in range(1, 5)) { }'],
  ['LoopBlock', 'for each x in list do f(x) g(x) end h()', 'for (x in list) { f(x) g(x) } h()'],
  ['LoopBlock', 'for x in list do end = 1 end.a = 2 end', 'for (x in list) { end = 1; end.a = 2 }'],
  ['For', 'for x in SELECT FROM Pump WHERE a > 1 until x.b { f(x) }', 'for (x in SELECT FROM Pump WHERE a > 1 UNTIL x.b) { f(x) }'],
  ['For', 'for (x in SELECT FROM Pump WITH limit = 3 until x.b) { f(x) }', 'for (x in SELECT FROM Pump WITH limit = 3 UNTIL x.b) { f(x) }'],
  ['For', 'for x in {a: 1} { }', 'for (x in {a: 1}) { }'],
  ['Filter', 'filter (x in list until y) { x > 3 }', 'FILTER (x IN list UNTIL y) { x > 3 }'],
  ['Map', 'map (x in list) { return x * x }', 'MAP (x IN list) { return x * x }'],
  ['While', 'while (x < 3) { x++ }', 'while (x < 3) { x++ }'],
  ['Try', 'try { f() } catch (e) { }', 'try { f() } catch (e) { }'],
  ['Try', 'try { } catch (e) { } finally { g() }', 'try { } catch (e) { } finally { g() }'],
  ['Return', 'return x', 'return x'],
  ['Return', 'return SELECT FROM Pump', 'return SELECT FROM Pump'],
  ['Select', 'SELECT SEQUENCE FROM Pump', 'SELECT SEQUENCE FROM Pump'],
  ['Select', 'SELECT ARRAY FROM Pump', 'SELECT ARRAY FROM Pump'],
  ['Select', 'SELECT ONE FROM Pump', 'SELECT ONE FROM Pump'],
  ['Select', 'SELECT EXACTLY ONE FROM Pump', 'SELECT EXACTLY ONE FROM Pump'],
  [
    'SelectBody',
    'SELECT a, b.c, d = a + 1 FROM Pump AS p WITH limit = 5 WHERE p.a > 1 GROUP BY a, b.c ORDER BY a ASC, b.c DESC',
    'SELECT a, b.c, d = a + 1 FROM Pump AS p WHERE p.a > 1 GROUP BY a, b.c ORDER BY a, b.c DESC WITH limit = 5',
  ],
  ['SelectBody', 'SELECT FROM Pump ORDER BY a WITH limit = 5, skip = 2', 'SELECT FROM Pump ORDER BY a WITH limit = 5, skip = 2'],
  ['SelectBody', 'SELECT * FROM Pump', 'SELECT FROM Pump'],
  ['SelectBody', 'SELECT Pump AS all WHERE {}', 'SELECT FROM Pump AS all WHERE {}'],
  ['SelectBody', 'SELECT @v AS x', 'SELECT FROM @v AS x'],
  ['SelectBody', 'SELECT FROM SOURCE sky WITH path = "/w", "query" = q', 'SELECT FROM SOURCE sky WITH path = "/w", query = q'],
  ['SelectBody', 'SELECT ONE FROM SOURCE @v', 'SELECT ONE FROM SOURCE @v'],
  ['SelectBody', 'SELECT FROM SOURCE "sky"', 'SELECT FROM SOURCE "sky"'],
  ['SelectBody', 'SELECT from FROM Trip', 'SELECT from FROM Trip'],
  ['SelectBody', 'SELECT FROM source WHERE a == 1', 'SELECT FROM source WHERE a == 1'],
  ['Bindings', 'SELECT one, array = 1 FROM Pump', 'SELECT one, array = 1 FROM Pump'],
  ['Binding', 'SELECT n = count(*), m = 1 + count(p) FROM Pump', 'SELECT n = count(*), m = 1 + count(p) FROM Pump'],
  ['Binding', 'SELECT count(*), sum(a) FROM Pump', 'SELECT count = count(*), sum = sum(a) FROM Pump'],
  ['ProcBlock', 'SELECT FROM Pump UNTIL x > 3 { f(Pump) }', 'SELECT FROM Pump UNTIL x > 3 { f(Pump) }'],
  ['Ref', 'SELECT FROM com.acme.Pump', 'SELECT FROM com.acme.Pump'],
  ['Insert', 'INSERT INTO Pump(a: 1, b = 2, "c": 3)', 'INSERT Pump(a: 1, b: 2, c: 3)'],
  ['Insert', 'INSERT SERIES INTO Pump(window: 1, key: 2) WITH x = 1', 'INSERT SERIES Pump(window: 1, key: 2) WITH x = 1'],
  ['Insert', 'INSERT Pump({a: 1}) INSERT Pump(obj) INSERT @v(obj)', 'INSERT Pump({a: 1}) INSERT Pump(obj) INSERT @v(obj)'],
  ['Insert', 'INSERT into(a: 1) INSERT series(a: 1)', 'INSERT into(a: 1) INSERT series(a: 1)'],
  ['Pair', 'INSERT Pump(a: SELECT ONE FROM A, b: 2)', 'INSERT Pump(a: SELECT ONE FROM A, b: 2)'],
  ['Upsert', 'UPSERT INTO Pump(a: 1)', 'UPSERT Pump(a: 1)'],
  ['Update', 'UPDATE Pump(a: 1) WITH x = 1 WHERE _id == y', 'UPDATE Pump(a: 1) WITH x = 1 WHERE _id == y'],
  ['OnError', 'UPDATE Pump(a: 1) WHERE {} ON ERROR (e) { f(e) }', 'UPDATE Pump(a: 1) WHERE {} ON ERROR (e) { f(e) }'],
  ['Delete', 'DELETE FROM Pump WITH x = 1 WHERE {}', 'DELETE Pump WITH x = 1 WHERE {}'],
  ['Delete', 'DELETE from WHERE {}', 'DELETE from WHERE {}'],
  ['Publish', 'PUBLISH {a: 1} TO TOPIC "/a/b" SCHEDULE {interval: 5}', 'PUBLISH {a: 1} TO TOPIC "/a/b" SCHEDULE {interval: 5}'],
  ['Publish', 'PUBLISH x TO TOPIC @v', 'PUBLISH x TO TOPIC @v'],
  ['Publish', 'PUBLISH x TO SERVICE EVENT "svc/event"', 'PUBLISH x TO SERVICE EVENT "svc/event"'],
  ['Publish', 'PUBLISH {body: x} TO SOURCE mail USING {to: y}', 'PUBLISH {body: x} TO SOURCE mail USING {to: y}'],
  ['Publish', 'PUBLISH request TO TOPIC "/a"', 'PUBLISH request TO TOPIC "/a"'],
  ['PublishRequest', 'PUBLISH REQUEST ON Pump WITH {id: "a"}', 'PUBLISH REQUEST ON Pump WITH {id: "a"}'],
  ['Execute', 'EXECUTE p(1, x)', 'EXECUTE p(1, x)'],
  ['Execute', 'EXECUTE ASYNC PROCEDURE s.p(a: 1) WITH partitionKey = k', 'EXECUTE ASYNC s.p(a: 1) WITH partitionKey = k'],
  ['Execute', 'EXECUTE * (x) WHERE serviceName == "S"', 'EXECUTE * (x) WHERE serviceName == "S"'],
  ['Execute', 'EXECUTE p() AS r UNTIL r > 3 { f(r) }', 'EXECUTE p() AS r UNTIL r > 3 { f(r) }'],
  ['Execute', 'EXECUTE async(1)', 'EXECUTE async(1)'],
  ['Args', 'f() f(1, SELECT FROM Pump) f(a: 1, b: 2)', 'f() f(1, SELECT FROM Pump) f(a: 1, b: 2)'],
  ['NamedArg', 'f(p = a, if: b)', 'f(p: a, if: b)'],
  ['Create', 'CREATE RULE (t) WITH active = false', 'CREATE RULE (t) WITH active = false'],
  [
    'Create',
    'CREATE PROCEDURE (t) CREATE TYPE (t) ALTER TOPIC (t) ALTER SOURCE (t) CREATE NODE (t)',
    'CREATE PROCEDURE (t) CREATE TYPE (t) ALTER TOPIC (t) ALTER SOURCE (t) CREATE NODE (t)',
  ],
  ['Drop', 'DROP RULE "r:1" DROP TYPE com.acme.T DROP NODE @v', 'DROP RULE "r:1" DROP TYPE com.acme.T DROP NODE @v'],
  ['Drop', 'DROP PROCEDURE p DROP TOPIC "/a" DROP SOURCE s', 'DROP PROCEDURE p DROP TOPIC "/a" DROP SOURCE s'],
  [
    'Recommendations',
    'FILTER (c IN set) RECOMMENDATIONS TO v UNTIL length(v) >= 3 DO MATCH { if (c > 4) { RECOMMEND c WITH relevance = c / 10, reason = "big" } } END',
    'FILTER (c IN set) RECOMMENDATIONS TO v UNTIL length(v) >= 3 DO MATCH { if (c > 4) { RECOMMEND c WITH relevance = c / 10, reason = "big" } }',
  ],
  [
    'Recommend',
    'FILTER (c IN set) RECOMMENDATIONS TO v DO MATCH { RECOMMEND (c) }',
    'FILTER (c IN set) RECOMMENDATIONS TO v DO MATCH { RECOMMEND c }',
  ],
  [
    'ProcessedBy',
    'SELECT * FROM Pump WHERE rate > 3 AS p PROCESSED BY ars_properties.region == "north" CONTEXT TO c WITHIN 2 seconds UNTIL x { f() } ON REMOTE ERROR (e) { g() }',
    'SELECT FROM Pump WHERE rate > 3 AS p PROCESSED BY ars_properties.region == "north" CONTEXT TO c WITHIN 2 seconds UNTIL x { f() } ON ERROR (e) { g() }',
  ],
  ['ProcessedBy', 'var r = EXECUTE p() PROCESSED BY q STATUS TO s', 'var r = EXECUTE p() PROCESSED BY q STATUS TO s'],
  ['ProcessedBy', 'INSERT Pump(a: 1) AS r PROCESSED BY ALL { f(r) }', 'INSERT Pump(a: 1) AS r PROCESSED BY ALL { f(r) }'],
  ['ProcessedBy', 'DELETE Pump WHERE {} PROCESSED BY @v', 'DELETE Pump WHERE {} PROCESSED BY @v'],
  ['ProcessedBy', 'UPSERT Pump(a: 1) PROCESSED BY ONE name == "x"', 'UPSERT Pump(a: 1) PROCESSED BY ONE name == "x"'],
  [
    'ProcessedBy',
    'UPDATE Pump(a: 1) WHERE {} PROCESSED BY EXACTLY ONE {name: "x"}',
    'UPDATE Pump(a: 1) WHERE {} PROCESSED BY EXACTLY ONE {name: "x"}',
  ],
  ['ProcessedBy', 'PUBLISH x TO TOPIC "/a" PROCESSED BY AT LEAST ONE q', 'PUBLISH x TO TOPIC "/a" PROCESSED BY AT LEAST ONE q'],
  [
    'ProcessedBy',
    'CREATE RULE (t) PROCESSED BY all == 1 DROP RULE r PROCESSED BY one.x == 1',
    'CREATE RULE (t) PROCESSED BY all == 1 DROP RULE r PROCESSED BY one.x == 1',
  ],
])('2.3 %s: %s', (_, body, expected) => {
  expect(canonicalBody(body)).toBe(expected);
});

test.each([
  ['return\nx = 5', 'Return Assign'],
  ['return\nSELECT FROM Pump', 'Return Select'],
  ['return SELECT FROM Pump', 'Return'],
  ['return\nwhile (x) { }', 'Return While'],
  ['return\nx + 1', 'Return'],
  ['return; x', 'Return ExpressionStatement'],
  ['if (a) { return } x = 1', 'If Assign'],
  ['for x in c do return\nend y = 1', 'For Assign'],
])('R3: %j', (body, expected) => {
  expect(outline(body)).toBe(expected);
});
test('R3: on the line of RETURN no other statement may stand', () => {
  expect(mistakesInBody('return var x = 1')).toEqual(['lang.syntax 2:8']);
});

test('2.3 OrderKey: a list of arguments goes on after ORDER BY', () => {
  expect(only('ExpressionStatement', 'f(SELECT FROM A ORDER BY a, b)').expression).toMatchObject({
    arguments: { positional: [{ orderBy: [{}, {}] }] },
  });
  expect(shape('f(x: SELECT FROM A ORDER BY a, y: 1)')).toBe('call f(x: Select, y: 1)');
});

test.each([
  ['VarDecl', 'var 5 = 1', 'lang.syntax 2:5'],
  ['VarDecl', 'var a, b', 'lang.syntax 2:6'],
  ['VarDecl', 'var {a} = b', 'lang.syntax 2:5'],
  ['VarDecl', 'var a: Integer = 1', 'lang.syntax 2:6'],
  ['Assign', 'f() = 1', 'lang.syntax 2:5'],
  ['Assign', '(a) = 1', 'lang.syntax 2:5'],
  ['Assign', 'a = b = 1', 'lang.syntax 2:7'],
  ['Assign', 'a **= 2', 'lang.syntax 2:3'],
  ['Assign', 'x = \ny = 1', 'lang.syntax 2:4'],
  ['If', 'if (a) x = 1', 'lang.syntax 2:8'],
  ['If', 'if a == 1 { x = 1 }', 'lang.syntax 2:4'],
  ['If', 'if (a = 1) { }', 'lang.syntax 2:7'],
  ['If', 'else { }', 'lang.syntax 2:1'],
  ['For', 'for (x of list) { }', 'lang.syntax 2:8'],
  ['For', 'for (var x in list) { }', 'lang.syntax 2:6'],
  ['For', 'for (var i = 0; i < 3; i++) { f(i) }', 'lang.syntax 2:5'],
  ['For', 'for (x list) { }', 'lang.syntax 2:8'],
  ['For', 'for (5 x = 1) { }', 'lang.syntax 2:6'],
  ['LoopBlock', 'for x in list do f()', 'lang.syntax 2:21'],
  ['Filter', 'filter(list, x => x)', 'lang.syntax 2:12'],
  ['While', 'while (x) y', 'lang.syntax 2:11'],
  ['Try', 'try { }\nx = 1', 'lang.syntax 2:8'],
  ['Try', 'try { } catch { }', 'lang.syntax 2:15'],
  ['Select', 'SELECT a, b', 'lang.syntax 2:12'],
  ['Select', 'SELECT *', 'lang.syntax 2:9'],
  ['Select', 'SELECT FROM "Pump"', 'lang.syntax 2:13'],
  ['Select', 'SELECT f(a) FROM Pump', 'lang.syntax 2:9'],
  ['Select', 'SELECT count(*) + 1 FROM Pump', 'lang.syntax 2:21'],
  ['Select', 'SELECT a AS b FROM Pump', 'lang.syntax 2:10'],
  ['Select', 'SELECT FROM Pump ORDER BY a WHERE b == 1', 'lang.syntax 2:29'],
  ['Select', 'SELECT FROM Pump ORDER BY a + 1 WITH limit = 1', 'lang.syntax 2:33'],
  ['Select', 'x = count(*)', 'lang.syntax 2:11'],
  ['ProcBlock', 'SELECT FROM Pump UNTIL a', 'lang.syntax 2:25'],
  ['Insert', 'INSERT Pump', 'lang.syntax 2:12'],
  ['Insert', 'INSERT Pump()', 'lang.syntax 2:13'],
  ['Insert', 'INSERT Pump(a: 1, b)', 'lang.syntax 2:19'],
  ['Insert', 'INSERT Pump(SELECT FROM A)', 'lang.syntax 2:13'],
  ['Insert', 'INSERT INTO t (a, b) VALUES (1, 2)', 'lang.insert.values.form 2:22'],
  ['Insert', 'INSERT INTO t VALUES (1, 2), (3, 4)\nx = 1', 'lang.insert.values.form 2:15'],
  ['Update', 'UPDATE Pump(a: 1)', 'lang.where.required 2:1'],
  ['Update', 'UPDATE Pump SET a = 1, b = 2 WHERE c == 1', 'lang.syntax 2:13'],
  ['Delete', 'DELETE Pump\nx = 1', 'lang.where.required 2:1'],
  ['Publish', 'PUBLISH x', 'lang.syntax 2:10'],
  ['Publish', 'PUBLISH x TO "/a"', 'lang.syntax 2:14'],
  ['PublishRequest', 'PUBLISH REQUEST ON Pump', 'lang.syntax 2:24'],
  ['Execute', 'EXECUTE p', 'lang.syntax 2:10'],
  ['Execute', 'EXECUTE * (1)', 'lang.syntax 2:14'],
  ['Execute', 'EXECUTE p() WHERE a == 1', 'lang.syntax 2:13'],
  ['Args', 'f(1, 2,)', 'lang.syntax 2:8'],
  ['Args', 'f(1, b: 2)', 'lang.call.mixed.arguments 2:1'],
  ['Args', 'EXECUTE p(a = 1, 2)', 'lang.call.mixed.arguments 2:1'],
  ['Create', 'CREATE TABLE (t)', 'lang.syntax 2:8'],
  ['Create', 'CREATE TYPE t', 'lang.syntax 2:13'],
  ['Drop', 'DROP RULE r:1', 'lang.syntax 2:12'],
  ['Recommendations', 'FILTER (c IN s) RECOMMENDATIONS TO v MATCH { }', 'lang.syntax 2:38'],
  ['Recommendations', 'x = FILTER (c IN s) RECOMMENDATIONS TO v DO MATCH { }', 'lang.syntax 2:5'],
  ['Options', 'SELECT FROM Pump WITH limit: 5', 'lang.syntax 2:28'],
  ['Options', 'SELECT FROM Pump WITH limit 5', 'lang.syntax 2:29'],
  ['Block', '{ x = 1 }', 'lang.syntax 2:5'],
])('2.3 %s: %j is refused', (_, body, expected) => {
  expect(mistakesInBody(body)).toEqual([expected]);
});

test.each([
  ['x = @v', '2:5'],
  ['f(@v)', '2:3'],
  ['@v = 1', '2:1'],
  ['SELECT @a FROM Pump', '2:11'],
  ['SELECT FROM Pump ORDER BY @a', '2:27'],
  ['EXECUTE @v(1)', '2:9'],
  ['SELECT FROM Pump WHERE @a == 1', '2:24'],
  ['var @v = 1', '2:5'],
])('S9: %s uses @v where no Ref may stand', (body, place) => {
  const found = mistakesInBody(body);
  expect(found[0]).toMatch(body.startsWith('SELECT @a') ? /^lang\./ : `lang.reference.position ${place}`);
  expect(found).toHaveLength(1);
});

test.each([
  'switch (x) { case 1: f() }',
  'for x in list { break }',
  'for x in list { continue }',
  'for (;;) { }',
  'throw x',
  'let x = 1',
  'const x = 1',
  'x = new Pump(1)',
  'x = typeof y',
  'x = y instanceof Pump',
  'x = a === b',
  'x = a !== b',
  'x = a?.b',
  'x = a ?? b',
  'x = a[1:2]',
  'x = a & b',
  'x = a | b',
  'x = a ^ b',
  'x = ~a',
  'x = a << 2',
  'x = a >> 2',
  'x = [...a]',
  'SELECT FROM A JOIN B WHERE {}',
  'SELECT FROM A GROUP BY a HAVING b',
  'SELECT FROM A WHERE a LIKE "x%"',
  'SELECT FROM A WHERE a BETWEEN 1 AND 2',
  'SELECT FROM A WHERE a IS NULL',
  'SELECT FROM A WHERE a IS NOT NULL',
  'SELECT FROM A WHERE EXISTS (SELECT FROM B)',
  'SELECT FROM A WHERE a NOT IN b',
  'SELECT FROM A LIMIT 5',
  'SELECT FROM A f(x) ORDER BY n',
  'var {a, b} = c',
  'foreach (x in list) { f() }',
  'if (a) { } elseif (b) { }',
])('2.3: %s is not in the language, and is one mistake', (body) => {
  expect(mistakesInBody(`${body}\nafter = 1`).map((one) => one.split(' ')[0])).toEqual(['lang.syntax']);
});
