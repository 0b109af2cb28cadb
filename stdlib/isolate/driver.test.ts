// The driver: batches, slices, limits, errors with their places, shared events (mechanisms.md b).
import { runInThisContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compile, originalPosition } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import type { In, Out, StartOptions } from './index.ts';
import { type Each, type Host, TestLane } from './testing/lane.ts';

const builtins = builtinTable();
const openLane = (): TestLane => new TestLane({ compile: (text) => compile(text, { builtins }), evaluate: runInThisContext });
const OPTIONS: StartOptions = { at: 1, seed: 's', fuel: 1000, level: 20, namespace: 'n', username: 'u', resource: '/rules/r' };
const stored: Host = (_kind, payload) => ({ ok: payload });

test('a rule gets the instance or the event object', () => {
  const lane = openLane();
  const log = (text: string, event: Parameters<TestLane['rule']>[1]): readonly string[] => lane.rule(text, event).logs;
  expect(log('RULE r WHEN INSERT OCCURS ON Pump AS p log.info(p)', { rate: 5 })).toEqual(['INFO {"rate":5}']);
  const event = { path: '/topics/a/publish', value: { n: 1 } };
  expect(log('RULE r WHEN EVENT OCCURS ON "/topics/a" log.info("{} {}", [event.newValue.n, event.value])', event)).toEqual([
    'INFO 1 {"n":1}',
  ]);
  expect(lane.rule('RULE r WHEN INSERT OCCURS ON Pump Pump.rate', {}).value).toBe(null);
});

test('the last effect of a rule is marked, in a branch too, but not inside TRY or a loop', () => {
  const tails = (body: string): boolean[] =>
    openLane()
      .rule(`RULE r WHEN INSERT OCCURS ON Pump AS p ${body}`, { a: true, list: [1] }, stored)
      .ops.map((op) => op.tail);
  expect(tails('INSERT A(n: 1) INSERT B(n: 1)')).toEqual([false, true]);
  expect(tails('if (p.a) { PUBLISH 1 TO TOPIC "/x" } else { INSERT A(n: 1) }')).toEqual([true]);
  expect(tails('try { INSERT A(n: 1) } catch (e) { }')).toEqual([false]);
  expect(tails('for (x in p.list) { INSERT A(n: x) }')).toEqual([false]);
  expect(tails('var x = INSERT A(n: 1)')).toEqual([false]);
  expect(tails('return INSERT A(n: 1)')).toEqual([true]);
});

test('a BEFORE rule gives its RETURN, else the variable', () => {
  const before = (body: string): unknown => openLane().rule(`RULE r BEFORE INSERT ON R ${body}`, { v: -3 }).value;
  expect(before('if (R.v < 0) { R.v = 0 }')).toEqual({ v: 0 });
  expect(before('if (R.v < 0) { return null }')).toBe(null);
  expect(before('return {v: 7}')).toEqual({ v: 7 });
  expect(before('R = {v: 1}')).toEqual({ v: 1 });
  expect(before('if (R.v > 0) { return null } else { R.v = 2 }')).toEqual({ v: 2 });
});

test('several rules of one batch have an event each of their own', () => {
  const lane = openLane();
  const { program } = lane.load('RULE r WHEN EVENT OCCURS ON "/topics/a" event.value.n += 1 log.info(event.newValue.n)');
  const first = lane.begin('a', program, { path: '/topics/a/publish', value: { n: 1 } }, OPTIONS);
  const { at, seed, fuel } = OPTIONS;
  const begun = first.at(-1) as Extract<In, ['runs', ...unknown[]]>;
  const all: In = ['runs', at, fuel, [...begun[3], 'b', ~0, seed, 'c', ~0, seed], begun[4]];
  const out = lane.step(...first.slice(0, -1), all);
  expect(out.filter((item) => item[0] === 'log').map((item) => item[4])).toEqual(['2', '2', '2']);
});

test('a run that is sent members of its event finds them where they would be', () => {
  const lane = openLane();
  const { program } = lane.load('RULE r WHEN EVENT OCCURS ON "/topics/a" log.info([event.value.n, event.newValue.m, event.value.n])');
  const [settings, frame] = lane.begin('a', program, {}, OPTIONS) as [Extract<In, ['settings', ...unknown[]]>, In];
  const { at, seed, fuel } = OPTIONS;
  const runs: In = ['runs', at, fuel, ['a', 0, seed, 1, '\u0001d2.50', 'b', 0, seed, null, 'x'], []];
  const out = lane.step([settings[0], settings[1], { ...settings[2], members: ['n', 'm'] }], frame, runs);
  expect(out.filter((item) => item[0] === 'log').map((item) => item[4])).toEqual(['[1,"2.50",1]', '[null,"x",null]']);
});

test('a run knows only its own time and chance', () => {
  const body = 'var a = [now(), uuid(), Math.random(1, 1000000)]  INSERT T(n: 1)  [a, now()]';
  const once = openLane().eval(body, [], stored);
  expect(openLane().eval(body, [], stored).outbox).toBe(once.outbox);
  expect(JSON.stringify(once.value)).toContain('t1001'); // the answer's own time
  expect((once.value as string[][])[0]?.[1]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('a request names its place, with the way of calls before it, and how often it was made', () => {
  const lane = openLane();
  lane.load('PROCEDURE inner(n) INSERT A(n: n)');
  lane.load('PROCEDURE outer() for (i in range(0, 2, 1)) { inner(i) } INSERT B(n: 1)');
  expect(lane.call('outer', [], stored).ops.map(({ site, nth }) => [site, nth])).toEqual([
    ['0/0', 0],
    ['0/0', 1],
    ['1', 0],
  ]);
});

test('a loop gives way when its fuel is used up', () => {
  const outcome = openLane().eval('var n = 0  while (n < 2500) { n++ }  n');
  expect(outcome).toMatchObject({ value: 2500, slices: 0 });
  const lane = openLane();
  lane.load('PROCEDURE f() var n = 0 while (n < 2500) { n++ } n');
  const sliced = lane.call('f', [], stored, { fuel: 1000 });
  expect(sliced).toMatchObject({ value: 2500, slices: 2 });
  expect((JSON.parse(sliced.outbox.trim().split('\n').at(-2) ?? '[]') as Out[])[0]?.[3]).toBe(2501); // turns and the call
});

test('recursion without a loop uses fuel too', () => {
  const lane = openLane();
  lane.load('PROCEDURE fib(n) if (n < 2) { n } else { fib(n - 1) + fib(n - 2) }');
  expect(lane.call('fib', [12], stored, { fuel: 100 })).toMatchObject({ value: 144, slices: 4 });
});

test('a run that holds too much fails at its next turn, unless the heap says otherwise', () => {
  const text = 'PROCEDURE f() var a = [] for (i in range(0, 100000, 1)) { a.push(i) } a.size()';
  const lane = openLane();
  lane.load(text);
  expect(lane.call('f', [], stored, { memory: 1_000_000 }).failure?.code).toBe('cascade.execution.memory');
  expect(lane.call('f', [], stored, { memory: 10_000_000 }).value).toBe(100_000);
  const { program } = lane.load('RULE r WHEN EVENT OCCURS ON "/topics/a" var a = [] for (i in range(0, 100000, 1)) { a.push(i) }');
  let out = lane.step(...lane.begin('x', program, { value: 1 }, { ...OPTIONS, fuel: 1e6, memory: 1_000_000 }));
  for (let turns = 0; out.at(-1)?.[0] === 'slice' && turns < 10; turns++) out = lane.step(['go', 'x', 2, 500_000]);
  expect(out.at(-1)?.[0]).toBe('done');
});

test('limits of growth: long texts, far indexes, long loops', () => {
  const code = (body: string): string | undefined => openLane().eval(body).failure?.code;
  expect(code('var s = "0123456789abcdef"  while (true) { s = s + s }')).toBe('cascade.lang.string.size');
  expect(code('var a = [1]  while (true) { a = a + a }')).toBe('cascade.execution.memory');
  expect(code('var a = []  a[20000000] = 1')).toBe('cascade.execution.memory');
  expect(code('var a = []  a[100000] = 1  for (x in a) { }')).toBe('cascade.execution.iteration.limit');
  expect(openLane().eval('var n = 0  for (x in range(0, 150000, 1)) { n++ }  n').value).toBe(150_000);
});

test('an error has its place in the rule, and the places of the calls', () => {
  const lane = openLane();
  const text = 'PROCEDURE inner(x)\n  var y = 1\n  return y +\n    x.size';
  const { unit } = lane.load(text);
  const outer = lane.load('PROCEDURE outer()\n  inner(null)').unit;
  const frames = lane.call('outer', []).failure?.frames ?? [];
  expect(frames.map((frame) => [frame.mod, frame.name])).toEqual([
    ['m0', 'main'],
    ['m1', 'main'],
  ]);
  const [first, second] = frames.map(({ mod, line, column }) => originalPosition((mod === 'm0' ? unit : outer).module.map, line, column));
  expect(first).toEqual({ line: 4, column: 7 });
  expect(second).toEqual({ line: 2, column: 3 });
});

test('an error of the host is raised at the statement that asked', () => {
  const lane = openLane();
  const { unit } = lane.load('PROCEDURE f()\n  var x = 1\n  INSERT T(n: x)');
  const { failure } = lane.call('f', []);
  expect(failure).toMatchObject({ code: 'test.refused', message: 'no insert here', status: 400 });
  const [frame] = failure?.frames ?? [];
  expect(originalPosition(unit.module.map, frame?.line ?? 0, frame?.column ?? 0)).toEqual({ line: 3, column: 3 });
  expect(lane.eval('try { INSERT T(n: 1) } catch (e) { e.code + e.message }').value).toBe('test.refusedno insert here');
});

test('a dropped run is gone: no FINALLY, no answer', () => {
  const lane = openLane();
  const { program } = lane.load('RULE r WHEN EVENT OCCURS ON "/topics/a" try { INSERT T(n: 1) } catch (e) { } finally { log.info("x") }');
  lane.step(...lane.begin('x', program, { value: 1 }, OPTIONS));
  expect(lane.step(['drop', 'x'], ['ok', 'x', null, 2])).toEqual([]);
});

test('a run that is dropped while it waits for a procedure does not hear of it', () => {
  const lane = openLane();
  const { program } = lane.load('RULE r WHEN EVENT OCCURS ON "/topics/a" g()');
  const start = (id: string): In[] => lane.begin(id, program, { value: 1 }, OPTIONS);
  lane.step(...start('a'), ...start('b'));
  expect(lane.step(['drop', 'a'], ['procedure', 'g', null]).map(([kind, id]) => [kind, id])).toEqual([['fail', 'b']]);
});

test('what no code of ours raised on purpose is the server’s fault, for a handler and for the client', () => {
  const wrong: Host = () => ({ error: { code: 'x', message: 'm', params: null as never, status: 400 } });
  const { failure } = openLane().eval('INSERT T(n: 1)', [], wrong);
  expect(failure).toMatchObject({ code: 'cascade.server.error', status: 500 });
  expect([failure?.params.length, failure?.message]).toEqual([1, `Unexpected condition: ${String(failure?.params[0])}`]);
  const caught = openLane().eval('try { INSERT T(n: 1) } catch (e) { e }', [], wrong).value;
  expect(caught).toEqual({ code: 'cascade.server.error', message: failure?.message, params: failure?.params, isFormatted: true });
});

test('Sequences that an error names are read; one that cannot be is named by its type', () => {
  const params = (body: string): unknown => openLane().eval(`var s = MAP (x in [1, 2]) { x * 2 }  ${body}`).failure?.params;
  expect(params('exception("c", "m", [s, 5])')).toEqual([[2, 4], 5]);
  expect(params('exception("c", "m", [{in: [s]}])')).toEqual([{ in: [[2, 4]] }]);
  expect(params('toArray(s)  exception("c", "m", [s, 5])')).toEqual(['Sequence', 5]);
  expect(params('var a = [s]  for (i in range(0, 25, 1)) { a = [a, a] }  exception("c", "m", [{big: a}, 5])')).not.toContainEqual([2, 4]);
  const asking = openLane().eval('var s = MAP (x in [1]) { INSERT T(n: x) }  exception("c", "m", [s])', [], stored);
  expect([asking.failure?.params, asking.ops.length]).toMatchObject([[[{ values: { n: 1 } }]], 1]);
});

test('a procedure is asked for once known to none, and again after it was forgotten', () => {
  const lane = openLane();
  const { program } = lane.load('RULE r WHEN EVENT OCCURS ON "/topics/a" g()');
  const start = (id: string): In[] => lane.begin(id, program, { value: 1 }, OPTIONS);
  expect(lane.step(...start('a'), ...start('b'))).toEqual([
    ['resolve', 'a', 'g'],
    ['resolve', 'b', 'g'],
  ]);
  expect(lane.step(['procedure', 'g', null]).map((item) => item[0])).toEqual(['fail', 'fail']);
  expect(lane.step(...start('c'))[0]?.[0]).toBe('fail');
  expect(lane.step(['forget', 'g'], ...start('d'))).toEqual([['resolve', 'd', 'g']]);
});

test('the same items give the same output on any split into batches', () => {
  const rules = [
    'RULE a WHEN EVENT OCCURS ON "/topics/a" INSERT T(n: event.value.n, u: uuid()) UPDATE T(n: 2) WHERE n == event.value.n',
    'RULE b WHEN EVENT OCCURS ON "/topics/a" for (r in SELECT FROM T) { log.info(r.n + Math.randomReal()) }',
    'RULE c WHEN EVENT OCCURS ON "/topics/a" var t = 0 while (t < 300 * event.value.n) { t++ } PUBLISH {t: t, now: now()} TO TOPIC "/x"',
    'RULE d WHEN EVENT OCCURS ON "/topics/a" try { INSERT T(n: 1) } catch (e) { log.error(e.code) } exception("x", "y")',
  ];
  const runs = fc.array(fc.record({ rule: fc.nat({ max: rules.length - 1 }), n: fc.nat({ max: 9 }) }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(runs, fc.infiniteStream(fc.nat({ max: 5 })), (chosen, cuts) => {
      const whole = play(rules, chosen, () => Number.POSITIVE_INFINITY);
      const split = play(rules, chosen, () => 1 + (cuts.next().value ?? 0));
      expect(split).toEqual(whole);
    }),
    { numRuns: 40 },
  );
});

/** Runs all to their end, with batches of the sizes that `size` gives; @returns the out items of each run as text. */
function play(rules: readonly string[], chosen: readonly { rule: number; n: number }[], size: () => number): Record<string, string> {
  const lane = openLane();
  const programs = rules.map((text) => lane.load(text).program);
  const outs: Record<string, string> = {};
  let waiting: In[][] = chosen.map(({ rule, n }, index) =>
    lane.begin(`r${index}`, programs[rule] ?? '', { value: { n } }, { ...OPTIONS, seed: `s${index}`, fuel: 200 }),
  );
  while (waiting.length > 0) {
    const batch = waiting.slice(0, size());
    waiting = waiting.slice(batch.length);
    for (const item of lane.step(...batch.flat())) {
      const id = String(item[1]);
      outs[id] = `${outs[id] ?? ''}${JSON.stringify(item)}\n`;
      const answer = answerTo(item, id);
      if (answer) waiting.push([answer]);
    }
  }
  return outs;
}

function answerTo(item: Each, id: string): In | null {
  if (item[0] === 'slice') return ['go', id, 5];
  if (item[0] !== 'op') return null;
  const [, , , , kind] = item;
  if (kind === 'open') return ['ok', id, { cursor: 'c', rows: [{ n: 1 }], done: false }, 6];
  if (kind === 'next') return ['ok', id, { rows: [{ n: 2 }], done: true }, 7];
  return kind === 'insert' ? ['err', id, { code: 'busy', message: 'm', params: [], status: 400 }, 8] : ['ok', id, null, 9];
}

test('runs that gave null are told of together, with their fuel, also when they have waited', () => {
  const lane = openLane();
  const { program } = lane.load('RULE r WHEN EVENT OCCURS ON "/topics/a" INSERT T(n: 1)');
  const start = (id: number): In[] => lane.begin(id as never, program, { value: 1 }, OPTIONS);
  lane.step(...start(1), ...start(2), ...start(3), ...start(9));
  const ended = lane.driver.step(JSON.stringify([1, 2, 3, 9].map((id) => ['ok', id, null, 2])));
  expect(ended).toBe('[["ended",[1,3,9,1],0]]');
});

test('the estimate of what a run holds counts as long as the heap is larger than its memory', () => {
  const outcome = (heapBytes: number): unknown => {
    const lane = openLane();
    const { program } = lane.load('RULE r WHEN EVENT OCCURS ON "/topics/a" var a = [] for (i in range(0, 30000, 1)) { a.push(i) }');
    const options = { ...OPTIONS, fuel: 1e6, memory: 1_000_000 };
    expect(lane.step(...lane.begin('x', program, { value: 1 }, options)).at(-1)?.[0]).toBe('slice');
    return lane.step(['go', 'x', 2, heapBytes]).at(-1)?.[0];
  };
  expect([outcome(1_000_001), outcome(1_000_000)]).toEqual(['fail', 'slice']);
});

test('a stack that overflows is the limit of calls, and no TRY keeps it', () => {
  const lane = openLane();
  lane.load('PROCEDURE down(n) try { down(n + 1) + 1 } catch (e) { log.info("caught") } finally { log.info("finally") }');
  const outcome = lane.call('down', [0], stored, { callDepth: 10_000_000, fuel: 1e9 });
  expect([outcome.failure?.code, outcome.failure?.params, outcome.logs]).toEqual(['cascade.execution.depth', ['/rules/r', 200], []]);
});

test('the TIMEOUT of a rule is started by its name, with the arguments that are events as those of a rule', () => {
  const lane = openLane();
  const { program } = lane.load(
    'RULE r WHEN EVENT OCCURS ON "/topics/a" AS x EXPECT WITHIN 1 hour log.info("came") TIMEOUT log.info("{} {}", [x.newValue.n, x.value.n])',
  );
  const timeout = (args: unknown[], eventArgs?: number[]): unknown =>
    lane
      .step(['start', 't', program, 'timeout', args, { ...OPTIONS, ...(eventArgs && { eventArgs }) }])
      .map((item) => (item[0] === 'log' ? item[4] : item[0] === 'fail' ? item[2].code : item[0]));
  expect(timeout([{ value: { n: 7 } }], [0])).toEqual(['7 7', 'done']);
  expect(timeout([{ value: { n: 7 } }])).toEqual(['cascade.lang.null']);
  expect(() => lane.step(['start', 'u', program, 'nothing', [], OPTIONS])).toThrow('has no nothing');
});

test('a program that was taken away is gone, and so is its module', () => {
  const lane = openLane();
  const { program } = lane.load('RULE r WHEN EVENT OCCURS ON "/topics/a" log.info(1)');
  lane.step(['unbind', program]);
  expect(() => lane.step(...lane.begin('a', program, {}, OPTIONS))).toThrow(`program ${program} is not bound`);
  lane.step(['bind', program, 'm0', []], ['unload', 'm0']);
  expect(lane.step(...lane.begin('b', program, {}, OPTIONS)).map(([kind]) => kind)).toEqual(['log', 'done']);
  expect(() => lane.step(['bind', program, 'm0', []])).toThrow('module m0 is not loaded');
});

test('Q5: the value for another node is an Array where it is a Sequence; one inside it cannot go', () => {
  const value = (body: string): unknown => {
    const { value: made, failure } = openLane().eval(body, [], stored, { toNode: true });
    return failure ? `${failure.code} ${JSON.stringify(failure.params)}` : made;
  };
  const sequence = 'var s = MAP (x in [1, 2]) { x }  ';
  expect([value(`${sequence}return s`), value(`${sequence}return 5`)]).toEqual([[1, 2], 5]);
  expect(value(`${sequence}return {a: [s]}`)).toBe('cascade.lang.sequence.embedded ["a value for another node"]');
});

test('what is too deep, or holds itself, cannot leave a run', () => {
  const code = (body: string): unknown =>
    openLane().eval(`var a = []  for (i in range(0, 1500, 1)) { a = [a] }  ${body}`, [], stored).failure?.code;
  expect([code('return a'), code('INSERT T(n: a)'), code('var s = MAP (x in [a]) { x }  return s')]).toEqual(
    Array(3).fill('cascade.lang.range'),
  );
  expect(code('var o = {}  o.self = o  return o')).toBe('cascade.lang.range');
  expect(code('var b = ["x"]  for (i in range(0, 25, 1)) { b = [b, b] }  return b')).toBe('cascade.execution.memory');
});

test('a small value in which one part stands at very many places is looked through no more than it may weigh', () => {
  const made = 'var s = range(0, 2, 1)  var b = ["x"]  for (i in range(0, 60, 1)) { b = [b, b] }  ';
  const failed = openLane().eval(`${made}exception("c", "m", [b, s])`).failure;
  expect([failed?.code, failed?.params[1]]).toEqual(['c', [0, 1]]);
  const code = (body: string): unknown => openLane().eval(made + body, [], stored).failure?.code;
  expect([
    code('INSERT T(n: b)'),
    code('INSERT T(n: b) PROCESSED BY ALL { }'),
    code('return {b: b, s: s}'),
    code('MAP (x in [1]) { b }'),
  ]).toEqual(Array(4).fill('cascade.execution.memory'));
  const lane = openLane();
  lane.load('PRIVATE PROCEDURE S.own(p Pump) 1');
  lane.load(`PROCEDURE S.f() ${made} S.own({b: b})`);
  expect(lane.call('S.f', [], stored).failure?.code).toBe('cascade.execution.memory');
});

test('a Sequence is read however deep it stands', () => {
  const deep = 'var a = [range(0, 2, 1)]  for (i in range(0, 200, 1)) { a = [a] }  ';
  expect(JSON.stringify(openLane().eval(`${deep}return a`).value)).toContain('[[0,1]]');
  expect(JSON.stringify(openLane().eval(`${deep}INSERT T(n: a)`, [], stored).ops[0]?.payload)).toContain('[[0,1]]');
});

test('several errors that were found together stay together on their way in and out', () => {
  const [one, two] = ['a', 'b'].map((code) => ({ code, message: code, params: [code], status: 400 })) as [never, never];
  const wrong: Host = () => ({ error: { ...(one as object), errors: [one, two] } as never });
  expect(openLane().eval('INSERT T(n: 1)', [], wrong).failure).toMatchObject({ code: 'a', errors: [one, two] });
  const caught = openLane().eval('try { INSERT T(n: 1) } catch (e) { return e.errors }', [], wrong).value;
  expect(caught).toEqual(['a', 'b'].map((code) => ({ code, message: code, params: [code] })));
});

test('messages of the log have a level each, those below the one of the run are not sent, and long ones are cut', () => {
  const body = 'log.error("e")  log.warn("w")  log.info("i")  log.debug("d")  log.trace("t")';
  const names = (level: number): string =>
    openLane()
      .eval(body, [], stored, { level })
      .logs.map((line) => line[0])
      .join('');
  expect([0, 10, 15, 20, 30, 40, 50].map(names)).toEqual(['EWIDT', 'EWID', 'EWI', 'EWI', 'EW', 'E', '']);
  const [long] = openLane().eval('var s = "0123456789"  while (s.length() < 50000) { s = s + s }  log.info(s)').logs;
  expect(long?.length).toBe('INFO '.length + 32_768);
});
