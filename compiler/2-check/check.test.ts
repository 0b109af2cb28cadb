// What the checker refuses, warns of and finds out. A helper makes a case one line: the codes with their places.
import { expect, test } from 'vitest';
import { compile } from '../index.ts';
import type { BuiltinInfo, Compiled, CompiledProcedure, CompiledRule } from '../types.ts';

const info = (name: string, forms: string, params: string[] = [], effect: BuiltinInfo['effect'] = 'pure'): [string, BuiltinInfo] => [
  name,
  { name, forms, params: params.map((param) => ({ name: param })), effect },
];
const builtins = new Map([
  info('trim', 'FM', ['str']),
  info('length', 'FM', ['str']),
  info('now', 'F'),
  info('count', 'F', ['path']),
  info('sum', 'F', ['path']),
  info('log.info', 'S', ['message', 'args']),
  info('Math.PI', 'S'),
  info('Context.username', 'S', [], 'suspends'),
]);
const compiled = (text: string): Compiled => compile(text, { builtins });
const found = (text: string): string[] => compiled(text).diagnostics.map((d) => `${d.code.slice('cascade.'.length)} ${d.line}:${d.column}`);
const unit = <U extends CompiledRule | CompiledProcedure>(text: string): U => {
  const result = compiled(text);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.unit as U;
};
const rule = (text: string): CompiledRule => unit<CompiledRule>(text);
const inProcedure = (body: string, params = 'a, b'): string[] => found(`PROCEDURE f(${params})\n${body}`);

test('the nearest name is searched for some hundred wrong ones, not for thousands', () => {
  const lines = Array.from({ length: 4_000 }, (_, i) => `var value${i} = walue${i}`);
  const { diagnostics } = compiled(`PROCEDURE f()\n${lines.join('\n')}`);
  expect(diagnostics.filter(({ message }) => message.includes('did you mean')).length).toBeLessThanOrEqual(100);
});

test('names are declared before they are used', () => {
  expect(inProcedure('var x = 1  return x')).toEqual([]);
  expect(inProcedure('return x')).toEqual(['lang.variable.undeclared 2:8']);
  expect(inProcedure('x = 1')).toEqual(['lang.variable.undeclared 2:1']);
  expect(inProcedure('var x = x')).toEqual(['lang.variable.undeclared 2:9']);
  expect(inProcedure('if (a) { var x = 1 }  return x')).toEqual([]);
  expect(inProcedure('x.y = 1')).toEqual(['lang.variable.undeclared 2:1']);
  expect(inProcedure('X', 'x, y')).toEqual(['lang.variable.undeclared 2:1']);
});

test('a mistyped name is answered with the nearest one', () => {
  const hint = (name: string): string | undefined => compiled(`PROCEDURE f(pump)\nreturn ${name}`).diagnostics[0]?.hint;
  for (const near of ['pmup', 'pumpp', 'pum', 'punp', 'PUMP']) expect(hint(near), near).toBe("did you mean 'pump'?");
  for (const far of ['pool', 'xyz', 'pmupp', 'pumpers']) expect(hint(far), far).toBeUndefined();
});

test('variables of blocks end with them', () => {
  for (const body of [
    'for (x in a) { x }  x',
    'try { } catch (x) { x }  x',
    'var m = MAP (x in a) { x }  x',
    'SELECT FROM T AS x { x }  x',
    'UPDATE T(n: 1) WHERE {} ON ERROR (x) { x }  x',
    'EXECUTE g() AS x { x }  x',
  ])
    expect(
      inProcedure(body).map((line) => line.split(' ')[0]),
      body,
    ).toEqual(['lang.variable.undeclared']);
  expect(inProcedure('for (a in b) { }')).toEqual(['lang.variable.redeclared 2:6']);
});

test('parameters are not declared again, event variables may be', () => {
  expect(inProcedure('var a = 1')).toEqual(['lang.variable.redeclared 2:5']);
  expect(inProcedure('a = 1')).toEqual([]);
  expect(found('RULE r WHEN INSERT OCCURS ON Pump\nvar Pump = 1')).toEqual([]);
  expect(inProcedure('log = 1')).toEqual(['lang.variable.redeclared 2:1']);
  expect(inProcedure('SELECT FROM logs AS log')).toEqual(['lang.variable.redeclared 2:21']);
  expect(inProcedure('SELECT FROM com.acme.log')).toEqual(['lang.variable.redeclared 2:22']);
  expect(inProcedure('FILTER (c IN a) RECOMMENDATIONS TO log DO MATCH { }')).toEqual(['lang.variable.redeclared 2:36']);
  expect(inProcedure('SELECT FROM T PROCESSED BY ALL STATUS TO log')).toContain('lang.variable.redeclared 2:42');
  expect(inProcedure('SELECT FROM logs AS log  return log', 'log')).toEqual([]);
});

test('SELECT as a statement declares its variable, as an expression it does not', () => {
  expect(inProcedure('SELECT FROM com.acme.Pump  return Pump')).toEqual([]);
  expect(inProcedure('SELECT FROM Pump AS p  return p')).toEqual([]);
  expect(inProcedure('var x = SELECT FROM Pump  return Pump')).toEqual(['lang.variable.undeclared 2:34']);
  expect(inProcedure('SELECT FROM @a')).toEqual(['lang.select.alias 2:13']);
  expect(inProcedure('var x = SELECT FROM @a')).toEqual([]);
  expect(inProcedure('SELECT FROM SOURCE s WHERE x == 1')).toEqual(['lang.select.source 2:1']);
  expect(inProcedure('SELECT FROM SOURCE "com.acme.Pump"  return Pump')).toEqual([]);
  expect(inProcedure('SELECT FROM SOURCE "no name"  return 1')).toEqual(['lang.select.alias 2:20']);
});

test('the left side of a condition is a property, the right side an expression', () => {
  expect(inProcedure('DELETE T WHERE a == a AND free == b')).toEqual([]);
  expect(inProcedure('DELETE T WHERE n == free')).toEqual(['lang.variable.undeclared 2:21']);
  expect(inProcedure('DELETE T WHERE 5 < n')).toEqual(['lang.syntax 2:16']);
  expect(inProcedure('DELETE T WHERE active')).toEqual([]);
  expect(inProcedure('SELECT FROM T WHERE a == free AND NOT (n == a OR m < loose)')).toEqual([
    'lang.variable.undeclared 2:26',
    'lang.variable.undeclared 2:54',
  ]);
});

test('statements stand where they may', () => {
  expect(inProcedure('var x = EXECUTE ASYNC g()')).toEqual(['lang.execute.async 2:9']);
  expect(inProcedure('EXECUTE ASYNC g()')).toEqual([]);
  expect(inProcedure('RECOMMEND a')).toEqual(['lang.syntax 2:1']);
  expect(inProcedure('g(a, x: b)')).toEqual(['lang.call.mixed.arguments 2:1']);
});

test('RETURN outside tail position is a warning', () => {
  const text = 'PROCEDURE f(a)\nif (a) { return 1 }\nreturn 2';
  expect(found(text)).toEqual(['lang.return.position 2:10']);
  expect(unit<CompiledProcedure>(text).warnings).toHaveLength(1);
  expect(inProcedure('if (a) { return 1 } else { return 2 }')).toEqual([]);
  expect(inProcedure('try { return 1 } catch (e) { return 2 }')).toEqual([]);
  expect(inProcedure('for (x in a) { return 1 }')).toEqual(['lang.return.position 2:16']);
  expect(inProcedure('MAP (x in a) { return x }')).toEqual([]);
});

test('the head of a procedure is checked', () => {
  expect(found('PROCEDURE f(a Integer, b)')).toEqual(['lang.parameter.mixed 1:24']);
  expect(found('PROCEDURE f(a, a)')).toEqual(['lang.variable.redeclared 1:16']);
  expect(found('PROCEDURE f(a REQUIRED DEFAULT 5)')).toEqual(['lang.parameter.required.default 1:13']);
  expect(found('PROCEDURE f(a DEFAULT now())')).toEqual(['lang.syntax 1:23']);
  expect(found('PRIVATE PROCEDURE f()')).toEqual(['service.state.modifier 1:19']);
  expect(found('PRIVATE PROCEDURE S.f()')).toEqual([]);
  expect(found('PROCEDURE f() WITH property = {}')).toEqual(['lang.option.unknown 1:20']);
});

test('P8 the options of a procedure take what they are for', () => {
  const taken = (option: string): unknown => found(`PROCEDURE f() WITH ${option}`).map((line) => line.split(' ')[0]);
  const right = ['properties = {}', 'profiles = ["a", "b"]', 'ars_public = true', 'ars_group = "a"', 'ars_relationships = []'];
  for (const option of [...right, 'properties = null']) expect(taken(option), option).toEqual([]);
  const wrong = ['properties = "x"', 'properties = [1]', 'profiles = "a"', 'profiles = ["a", 1]', 'ars_public = 1', 'ars_group = {}'];
  for (const option of [...wrong, 'ars_relationships = {}']) expect(taken(option), option).toEqual(['lang.syntax']);
});

test('DEFAULT holds what can be worked out: signs, arithmetic, texts', () => {
  const text = (value: string): unknown => unit<CompiledProcedure>(`PROCEDURE f(a DEFAULT ${value})`).parameters[0]?.default;
  for (const [written, kept] of [
    ['-1.5', '-1.5'],
    ['+1.5', '1.5'],
    ['-2.0', '"\\u0001r-2"'],
    ['+(-7)', '-7'],
    ['6 / 2', '3'],
    ['2 + 3 * 4 - 1', '13'],
    ['9223372036854775806 + 1', '"\\u0001i9223372036854775807"'],
    ['7 / 2', '3.5'],
    ['1.5 + 1', '2.5'],
    ['1.5 * 2', '"\\u0001r3"'],
    ['-7 % 3', '-1'],
    ['2 ** 10', '1024'],
    ['"a" + "b"', '"ab"'],
    ['[1, {b: null}]', '[1,{"b":null}]'],
  ] as const)
    expect(text(written), written).toBe(kept);
  for (const value of [
    ...['1 / 0', '1 % 0', '1.0 / 0', '1e308 * 10', '9223372036854775807 + 1', '9223372036854775807 / 2', '2 ** 63', '2 ** -1'],
    ...['-"a"', '+true', '"a" + 1', '[now()]'],
  ])
    expect(found(`PROCEDURE f(a DEFAULT ${value})`), value).toEqual(['lang.syntax 1:23']);
});

test('the head of a procedure is given as data', () => {
  const { parameters, returns, options, serviceName, name } = unit<CompiledProcedure>(
    'PROCEDURE Tank.level(id String(40) REQUIRED, u string DEFAULT "cm", d Decimal(2) ARRAY): real WITH properties = {role: "x"}',
  );
  expect({ name, serviceName, returns, options }).toEqual({
    name: 'Tank.level',
    serviceName: 'Tank',
    returns: { type: 'Real', written: 'real', cardinality: null },
    options: { properties: '{"role":"x"}' },
  });
  expect(parameters).toEqual([
    { name: 'id', type: 'String', array: false, required: true, hasDefault: false, description: null, maxLength: 40 },
    { name: 'u', type: 'String', written: 'string', array: false, required: false, hasDefault: true, default: '"cm"', description: null },
    { name: 'd', type: 'Decimal', array: true, required: false, hasDefault: false, description: null, scale: 2 },
  ]);
});

test('triggers give paths, variables and conditions', () => {
  const triggers = (trigger: string): unknown =>
    rule(`RULE r WHEN ${trigger}\n`).triggers.map(({ paths, variable, binds }) => [paths, variable, binds]);
  expect(triggers('INSERT OCCURS ON Pump')).toEqual([[['/types/Pump/insert'], 'Pump', 'value']]);
  expect(triggers('OCCURS ON Pump AS p')).toEqual([[['/types/Pump/insert', '/types/Pump/update', '/types/Pump/delete'], 'p', 'value']]);
  expect(triggers('REQUEST OCCURS ON Pump')).toEqual([[['/types/Pump/request'], 'Pump', 'value']]);
  for (const path of ['/topics/a/b', '/topics//a/b', '/topics/a/b/publish'])
    expect(triggers(`EVENT OCCURS ON "${path}"`), path).toEqual([[['/topics/a/b/publish'], 'event', 'event']]);
  for (const path of ['/sources/S', '/sources/S/', '/sources/S/receive'])
    expect(triggers(`EVENT OCCURS ON "${path}"`), path).toEqual([[['/sources/S/publish'], 'event', 'event']]);
  expect(triggers('PUBLISH OCCURS ON "/a/b"')).toEqual([[['/topics/a/b/publish'], 'event', 'event']]);
  expect(triggers('MESSAGE ARRIVES FROM s AS m')).toEqual([[['/sources/s/publish'], 'm', 'value']]);
  expect(rule('RULE r BEFORE INSERT ON Pump').triggers[0]?.paths).toEqual(['/types/Pump/insert']);
});

test('an event path that no event carries is refused', () => {
  for (const path of [
    '/types/Pump',
    '/types/Pump/select',
    'topics/a',
    '/topics/',
    '/topics/a b',
    '/topics/types/a',
    '/nothing/x',
    '/topics/a/',
  ])
    expect(found(`RULE r WHEN EVENT OCCURS ON "${path}"`), path).toEqual(['event.path.invalid 1:29']);
});

test('a condition on events becomes data', () => {
  const condition = (where: string, trigger = 'INSERT OCCURS ON Pump AS p'): unknown =>
    rule(`RULE r WHEN ${trigger} WHERE ${where}\n`).triggers[0]?.condition;
  const path = (...p: string[]) => ({ k: 'path', root: 'p', p });
  expect(condition('p.rate > 1 + 1')).toEqual({ op: 'compare', operator: '>', left: path('rate'), right: { k: 'const', v: 2 } });
  expect(condition('rate == 5.0')).toEqual({ op: 'compare', operator: '==', left: path('rate'), right: { k: 'const', v: '\u0001r5' } });
  expect(condition('NOT (p.on) OR p.n in [p.m]')).toEqual({
    op: 'or',
    terms: [
      { op: 'not', term: { op: 'compare', operator: '==', left: path('on'), right: { k: 'const', v: true } } },
      { op: 'compare', operator: 'in', left: path('n'), right: { k: 'array', items: [path('m')] } },
    ],
  });
  expect(condition('trim(p.name) == "x"')).toMatchObject({ left: { k: 'call', name: 'trim', args: [path('name')] } });
  expect(condition('p.name.trim() == "x"')).toMatchObject({ left: { k: 'call', name: 'trim', args: [path('name')] } });
  expect(condition('{rate: 5}')).toMatchObject({ op: 'where' });
  expect(condition('p.list[0].n == p.m')).toMatchObject({
    left: { k: 'index', a: { k: 'index', a: path('list'), i: { k: 'const', v: 0 } }, i: { k: 'const', v: 'n' } },
  });
  expect(found('RULE r WHEN EVENT OCCURS ON "/topics/a" WHERE value.n > 3')).toEqual(['lang.variable.undeclared 1:47']);
  expect(found('RULE r WHEN INSERT OCCURS ON Pump WHERE n > m')).toEqual(['lang.variable.undeclared 1:45']);
});

test('W2 the events of an OR have one variable: a bare property is of it, where all are instances', () => {
  const two = 'INSERT OCCURS ON Pump AS p OR UPDATE OCCURS ON Pump AS p';
  const rate = { left: { k: 'path', root: 'p', p: ['rate'] } };
  expect(rule(`RULE r WHERE rate > 3 WHEN ${two} CONSTRAIN TO rate < 9`)).toMatchObject({ where: rate, constraint: rate });
  expect(rule(`RULE r WHERE level > check(p) WHEN ${two}`).module.source).toContain('function* asked0($, v_p)');
  const mixed = 'INSERT OCCURS ON Pump AS p OR EVENT OCCURS ON "/topics/a" AS p';
  expect(found(`RULE r WHERE rate > 3 WHEN ${mixed}`)).toEqual(['lang.variable.undeclared 1:14']);
  expect(found(`RULE r WHEN ${mixed} CONSTRAIN TO rate > 3`)).toEqual(['lang.variable.undeclared 1:89']);
});

test('W4 what only a program can give is asked of a function of the module, wherever a condition stands', () => {
  const asked = { k: 'asked', n: 0 };
  const at = 'INSERT OCCURS ON Pump AS p WHERE check(p) == 1';
  const one = rule('RULE r WHEN INSERT OCCURS ON Pump AS p WHERE check(p) == 1 AND p.rate > 3 AND level > 2');
  expect(one.triggers[0]?.condition).toMatchObject({ op: 'and', terms: [{ left: asked }, { operator: '>' }, { operator: '>' }] });
  expect(one.module.source).toContain('function* asked0($, v_p)');
  expect(rule('RULE r:1 WHERE check(p) WHEN INSERT OCCURS ON Pump AS p').where).toMatchObject({ op: 'where', value: asked });
  expect(rule(`RULE r WHEN ${at} OR UPDATE OCCURS ON Pump AS p CONSTRAIN TO p.n > check(1)`)).toMatchObject({
    triggers: [{ condition: { left: asked } }, { condition: null }],
    constraint: { right: { n: 1 } },
  });
  expect(
    rule(`RULE r WHEN ${at} BEFORE UPDATE OCCURS ON Pump AS q WITHIN 5 CONSTRAIN TO p.n == check(q.n)`).correlation?.constraint,
  ).toMatchObject({ right: { n: 1 } });
  expect(rule(`RULE r WHEN ${at} EXPECT WITHIN 5 seconds`).triggers[0]?.condition).toMatchObject({ left: asked });
});

test('what is asked sees the variables of its condition, and a null step gives null', () => {
  expect(found('RULE r WHEN INSERT OCCURS ON A AS a WHERE a.n == f(b) BEFORE INSERT OCCURS ON B AS b WITHIN 5')).toEqual([
    'lang.variable.undeclared 1:52',
  ]);
  const { module } = rule('RULE r WHEN EVENT OCCURS ON "/topics/a" WHERE f(event.value.n) == 1');
  expect(module.source).toContain('$getOrNull($getOrNull(v_event, "value", "event"), "n", "event.value")');
  const deep = rule('RULE r WHEN EVENT OCCURS ON "/topics/a" AS e WHERE f(e.value.list[0].x, Math.PI) == 1\nreturn e.value.list[0].x');
  expect(deep.module.source).toContain('$getOrNull($atOrNull($getOrNull(');
  expect(deep.module.source).toContain(' $get($at($get(');
  const [first, second] = ['f( p.n )', 'f(p.n) // there'].map((call) => rule(`RULE r WHEN INSERT OCCURS ON P AS p WHERE p.x == ${call}\n`));
  expect(first?.triggers).toEqual(second?.triggers);
});

test('a head as other languages have it is told once, with how it is written', () => {
  const hints = (source: string): unknown[] => {
    const { diagnostics } = compile(source, { builtins });
    return diagnostics.map(({ code, line, column, hint }) => [code, line, column, hint]);
  };
  expect(hints('PROCEDURE f(String x)\nreturn x')).toEqual([
    ['cascade.lang.variable.undeclared', 2, 8, 'the type of a parameter follows its name: x String'],
  ]);
  expect(hints('PROCEDURE f(x) RETURNS Integer\nreturn x')).toEqual([
    ['cascade.lang.syntax', 1, 16, "the type of the result follows ':', as in PROCEDURE f(): Integer"],
  ]);
  expect(hints('PROCEDURE f(returns) returns x')).toHaveLength(1);
  expect(hints('PROCEDURE f(returns) returns returns')).toEqual([]);
});

test('the number in parentheses after a return type is looked at as that of a parameter', () => {
  expect(found('PROCEDURE f(): Integer(2) return 1')).toEqual(['lang.syntax 1:24']);
  expect(found('PROCEDURE f(): Decimal(200) return 1')).toEqual(['lang.syntax 1:24']);
  expect(['String(3)', 'Decimal(2) ARRAY', 'Currency(2)'].flatMap((type) => found(`PROCEDURE f(): ${type} return null`))).toEqual([]);
});

test('a name that an event would have without AS is told with the one that it has', () => {
  const hints = (source: string): unknown[] => compile(source, { builtins }).diagnostics.map(({ line, hint }) => [line, hint]);
  const door = 'WHEN EVENT OCCURS ON "/topics/door" AS d';
  expect(hints(`RULE r ${door}\nlog.info(event.value)`)).toEqual([[2, "the event is called 'd' here"]]);
  expect(hints('RULE r WHEN INSERT OCCURS ON p.q.Pump AS x\nlog.info(Pump.rate)')).toEqual([[2, "the event is called 'x' here"]]);
  expect(hints('RULE r BEFORE INSERT ON Pump AS x\nPump.rate = 1')).toEqual([[2, "the event is called 'x' here"]]);
  expect(hints(`RULE r ${door} WHERE event.value.n > 5`)).toEqual([[1, 'this condition sees d only']]);
  expect(hints(`RULE r ${door} BEFORE EVENT OCCURS ON "/topics/move" AS move WITHIN 5 seconds CONSTRAIN TO moev.value == d.value`)).toEqual(
    [[1, "did you mean 'move'?"]],
  );
});

test('merges, correlations and timers are checked', () => {
  const two = 'INSERT OCCURS ON A AS a';
  expect(found(`RULE r WHEN ${two} OR UPDATE OCCURS ON A AS b`)).toEqual(['rule.merge.alias 1:40']);
  expect(found('RULE r WHEN INSERT OCCURS ON A BEFORE UPDATE OCCURS ON A WITHIN 5 seconds')).toEqual(['rule.alias.required 1:39']);
  expect(found(`RULE r WHEN ${two} BEFORE ${two} WITHIN 5 seconds`)).toEqual(['rule.alias.required 1:44']);
  expect(found(`RULE r WHEN ${two} BEFORE INSERT OCCURS ON B WITHIN 0 seconds`)).toEqual(['rule.interval 1:70']);
  expect(found(`RULE r WHEN ${two} BEFORE INSERT OCCURS ON B WITHIN 1000001 days`)).toEqual(['rule.interval 1:70']);
  expect(found(`RULE r WHEN ${two}\nTIMEOUT log.info("x")`)).toEqual(['rule.timeout 1:1']);
  const expected = `RULE r WHEN ${two} EXPECT WITHIN 1 minute`;
  expect(found(`${expected}\nvar x = 1\nTIMEOUT x = x + 1\nvar x = 2`)).toEqual([]);
  expect(found(`${expected}\nvar x = 1\nTIMEOUT var y = x\nlog.info(z)`)).toEqual(['lang.variable.undeclared 4:10']);
  expect(found(`${expected}\ny = 1\nTIMEOUT var y = 1`)).toEqual(['lang.variable.undeclared 2:1']);
  const { correlation, triggers, hasTimeout, variables } = rule(
    `RULE r WHEN ${two} BEFORE INSERT OCCURS ON B WITHIN 1 minute CONSTRAIN TO a.x == B.x log.info("x") TIMEOUT log.info(a.x)`,
  );
  expect(triggers).toHaveLength(2);
  expect({ correlation, hasTimeout, variables }).toMatchObject({
    correlation: { operator: 'before', left: 0, right: 1, withinMs: 60_000, constraint: { op: 'compare' } },
    hasTimeout: true,
    variables: ['a', 'B'],
  });
  expect(rule('RULE r WHEN INSERT OCCURS ON A EXPECT EVERY 1 hour + 30 minutes').expect).toEqual({ kind: 'every', intervalMs: 5_400_000 });
});

test('packages qualify names and imports replace them', () => {
  const text = (body: string): string =>
    `PACKAGE p.q IMPORT TYPE other.Thing AS Thing IMPORT SERVICE x.y.Svc RULE r WHEN INSERT OCCURS ON Pump ${body}`;
  const { fullName, triggers, module } = rule(
    text('INSERT Thing(a: 1) INSERT Own(a: 1) INSERT system.documents(a: 1) PUBLISH 1 TO TOPIC "/t" Svc.run() local()'),
  );
  expect({ fullName, paths: triggers[0]?.paths }).toEqual({ fullName: 'p.q.r', paths: ['/types/p.q.Pump/insert'] });
  for (const part of ['"other.Thing"', '"p.q.Own"', '"system.documents"', '"x.y.Svc.run"', '"local|p.q.local"'])
    expect(module.source).toContain(part);
  expect(module.constants).toContain('/p.q/t');
  const fromSources = rule('PACKAGE p.q IMPORT SOURCE x.y AS s RULE r WHEN MESSAGE ARRIVES FROM s AS m OR MESSAGE ARRIVES FROM t AS m\n');
  expect(fromSources.triggers.map(({ paths }) => paths)).toEqual([['/sources/x.y/publish'], ['/sources/p.q.t/publish']]);
  expect(found('PACKAGE system.x PROCEDURE f()')).toEqual(['lang.package.name 1:9']);
  expect(found('PACKAGE a.b IMPORT TYPE x.T IMPORT TYPE y.T PROCEDURE f()')).toEqual(['lang.import 1:29']);
});

test('a rule knows its version, description and activation constraint', () => {
  const made = rule('// Clamps\nRULE r:1.2 WHERE event.value.n < 3 ACTIVATIONCONSTRAINT {kind: "edge"} WHEN EVENT OCCURS ON "/topics/a"\n');
  expect(made).toMatchObject({
    name: 'r',
    version: '1.2',
    fullName: 'r:1.2',
    description: 'Clamps',
    activationConstraint: '{"kind":"edge"}',
  });
  expect(made.where).toMatchObject({ op: 'compare', operator: '<' });
  expect(found('RULE r ACTIVATIONCONSTRAINT "x" WHEN EVENT OCCURS ON "/topics/a"')).toEqual(['rule.activation 1:29']);
});

test('only what may suspend or loop is a generator', () => {
  const suspends = (body: string): boolean => unit<CompiledProcedure>(`PROCEDURE f(a, b)\n${body}`).module.suspends;
  for (const body of [
    'a + trim(b)',
    'log.info(a)',
    'var m = MAP (x in a) { INSERT T(n: x) }',
    'var l = x => g(x)',
    'try { a } catch (e) { b }',
  ])
    expect(suspends(body), body).toBe(false);
  for (const body of [
    'for (x in a) { }',
    'while (a) { }',
    'INSERT T(n: 1)',
    'g(a)',
    'a.nothing()',
    'Context.username()',
    'a && (b || g())',
  ])
    expect(suspends(body), body).toBe(true);
});

test('calls behind && and || that would outgrow everything are refused', () => {
  let expression = 'g(a)';
  for (let i = 0; i < 60; i++) expression = `g(a || ${expression})`;
  expect(inProcedure(expression)).toEqual(['lang.syntax 1:1']);
});

test('S5 parameters of a lambda in a computed property differ from each other', () => {
  expect(inProcedure('SELECT x = ((a, a) => a) FROM Order')).toEqual(['lang.variable.redeclared 2:17']);
});

test('E8 a computed property holds built-ins that a row can give, and aggregates of one property', () => {
  const row = (value: string): string[] => inProcedure(`return SELECT x = ${value} FROM Order`);
  for (const value of ['trim(n)', 'n.trim()', 'count()', 'count(*)', 'sum(n)', 'sum(n + 1)', 'sum(a.b)', 'n.m.o', 'log.info'])
    expect(row(value), value).toEqual([]);
  for (const value of ['sum()', 'sum(n, m)', 'count(n, m)', 'sum(x: n)', 'g(n)', 'n.g()', 'Context.username()', 'n++'])
    expect(row(value), value).toEqual(['lang.syntax 2:19']);
  expect(row('(n).g()')).toEqual(['lang.syntax 2:23']);
  const source = (value: string): string => unit<CompiledProcedure>(`PROCEDURE f()\nreturn SELECT x = ${value} FROM T`).module.source;
  expect(source('Math.PI')).toContain('b_Math_PI(');
  for (const property of ['log.info', 'Context.username', 'length.n']) expect(source(property), property).not.toContain('b_');
});

test('Y6 what initialises state has the one that it is named after', () => {
  const both = () => ({ global: ['total'], partitioned: ['level'] });
  const state = (text: string): unknown => {
    const result = compile(text, { builtins, stateOf: both });
    return result.ok ? (result.unit as CompiledProcedure).state : result.diagnostics.map(({ code }) => code);
  };
  expect(state('PRIVATE PROCEDURE S.initializeGlobalState()\ntotal = 1')).toBe('global');
  expect(state('PRIVATE PROCEDURE S.initializePartitionedState()\nlevel = 1')).toBe('partition');
  expect(state('PRIVATE PROCEDURE S.initializeGlobalState()\nlevel = 1')).toEqual(['cascade.lang.variable.undeclared']);
  expect(state('PROCEDURE S.initializeGlobalState()')).toEqual(['cascade.service.state.modifier']);
  expect(state('PRIVATE PROCEDURE S.initializeGlobalState(a)')).toEqual(['cascade.service.state.modifier']);
  for (const name of ['toString', 'constructor', 'valueOf']) expect(state(`PROCEDURE S.${name}(k String)\nreturn level`)).toBe('partition');
});

test('no partition is named for what nodes, or the procedures of a condition, do', () => {
  const inProcedure = (statement: string) => found(`PROCEDURE f()\n${statement}`);
  expect(inProcedure('EXECUTE M.count("a") WITH partitionKey = "b"')).toEqual([]);
  expect(inProcedure('EXECUTE M.count("a") WITH partitionKey = "b" PROCESSED BY ALL')).toEqual(['federation.statement.unsupported 2:27']);
  expect(inProcedure('EXECUTE * ("a") WHERE name == "count" WITH PartitionKey = "b"')).toEqual(['lang.option.unknown 2:44']);
});

test('ON ERROR of an UPDATE at nodes stands behind PROCESSED BY', () => {
  const inProcedure = (statement: string) => found(`PROCEDURE f()\n${statement}`);
  expect(inProcedure('UPDATE T(a: 1) WHERE {} ON ERROR (e) { log.warn(e.code) } PROCESSED BY ALL')).toEqual(['lang.syntax 2:59']);
});

test('D9 STATUS TO belongs to the array of results', () => {
  const refused = (statement: string): boolean => inProcedure(statement).some((line) => line.startsWith('lang.syntax'));
  expect(refused('SELECT FROM T PROCESSED BY ALL STATUS TO s { log.info("x") }')).toBe(true);
  for (const cardinality of ['ONE', 'EXACTLY ONE'])
    expect(refused(`a = INSERT T(a: 1) PROCESSED BY ${cardinality} n == 1 STATUS TO s`)).toBe(true);
  for (const cardinality of ['', 'AT LEAST ONE '])
    expect(refused(`a = INSERT T(a: 1) PROCESSED BY ${cardinality}n == 1 STATUS TO s`)).toBe(false);
});

test('3.2 what a text imports under the name of a built-in comes before it', () => {
  const module = (imports: string, value: string): string =>
    unit<CompiledProcedure>(`PACKAGE a.b ${imports} PROCEDURE p() return ${value}`).module.source;
  expect(module('IMPORT PROCEDURE x.y.now AS now', 'now()')).toContain('x.y.now');
  expect(module('IMPORT PROCEDURE x.y.now', 'system.now()')).toContain('b_now(');
  expect(module('IMPORT SERVICE x.y.Math', 'Math.round(1)')).toContain('x.y.Math.round');
  expect(module('IMPORT SERVICE Math', 'Math.PI()')).toContain('b_Math_PI(');
  expect(module('IMPORT SERVICE Math AS M', 'M.PI()')).toContain('b_Math_PI(');
  expect(module('', 'now()')).toContain('b_now(');
  expect(found('PACKAGE a.b IMPORT SERVICE x.y.log PROCEDURE p() log.info("a")')).toEqual(['lang.import 1:13']);
});
