// Programs that grow without end: each ends with its limit, at a place of its text, and long before memory or patience do.
import { runInThisContext } from 'node:vm';
import { beforeAll, expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import { TestLane } from './testing/lane.ts';

const builtins = builtinTable();
const MEMORY = 'cascade.execution.memory';
const SIZE = 'cascade.lang.string.size';
beforeAll(() => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 100; // as in the isolate
  return () => {
    Error.stackTraceLimit = before;
  };
});

const failure = (body: string) =>
  new TestLane({ compile: (text) => compile(text, { builtins }), evaluate: runInThisContext }).eval(body, [], undefined, {
    memory: 16 * 1024 * 1024,
  }).failure;

test.each([
  ['texts pushed', MEMORY, 'var a = [] while (true) { push(a, "x" + length(a)) }'],
  ['ever new keys', MEMORY, 'var o = {} var i = 0 while (true) { o["k" + i] = i i += 1 }'],
  ['ever new elements', MEMORY, 'var a = [] var i = 0 while (true) { a[i] = "k" + i i += 1 }'],
  ['Arrays in Arrays', MEMORY, 'var a = [] while (true) { a = [a] }'],
  ['a text doubled', MEMORY, 'var s = "abcdefghij" while (true) { s = s + s }'],
  ['a sequence as an Array', MEMORY, 'toArray(range(0, 1000000000))'],
  ['a repeated text', SIZE, 'repeat("abc", 1000000000)'],
  ['projections', MEMORY, 'var a = [{a: 1}, {a: 2}] var b = [] while (true) { push(b, a.a) }'],
  ['caught errors', MEMORY, 'var a = [] while (true) { try { exception("a", "b") } catch (e) { push(a, e) } }'],
  ['lambdas', MEMORY, 'var a = [] while (true) { push(a, x => x) }'],
  ['one part at many places, compared', MEMORY, 'var a = [1] var b = [1] for (i in range(0, 40)) { a = [a, a] b = [b, b] } return a == b'],
  ['one part at many places, as text', SIZE, 'var a = [1] for (i in range(0, 40)) { a = [a, a] } return "" + a'],
])('%s', (_, code, body) => {
  const failed = failure(body);
  expect(failed?.code).toBe(code);
  expect(failed?.frames.length).toBeGreaterThan(0);
});

test('a result in which one part stands at many places is refused before it is written', () => {
  expect(failure('var a = [1] for (i in range(0, 40)) { a = [a, a] } return a')?.code).toBe(MEMORY);
  expect(failure('var a = [1] while (length(a) < 1) { } var n = 0 while (n < 40) { a = [a, a] n += 1 } return a')?.code).toBe(MEMORY);
});
test('no TRY catches a limit, and FINALLY does not run then', () => {
  const failed = failure(
    'var s = "" try { var a = [] while (true) { push(a, 1) } } catch (e) { s = "caught" } finally { exception("ran", s) }',
  );
  expect(failed?.code).toBe(MEMORY);
});

test.each(['stringify(a)', 'a + ""', 'a == b', 'flatten(a)', 'concat(a, toArray(map (x in a) { return x }))  g(a)'])(
  'an endless walk has its place in the program: %s',
  (walk) => {
    const lane = new TestLane({ compile: (text) => compile(text, { builtins }), evaluate: runInThisContext });
    lane.load('PROCEDURE g(x)\nreturn 1');
    const failed = lane.eval(`var a = [] push(a, a) var b = [] push(b, b)\n${walk}`).failure;
    expect(failed?.code).toBe('cascade.lang.range');
    expect(failed?.frames.length).toBeGreaterThan(0);
  },
);
