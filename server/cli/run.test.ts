// `cascade run` in a real sandbox; the isolates' script and the sandbox's processes are the built ones.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cascade, type Outcome } from '../testing/fake-terminal.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-run-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function run(text: string, args?: unknown): Promise<Outcome> {
  const path = join(folder, 'program');
  await writeFile(path, text);
  return cascade(['run', path, ...(args === undefined ? [] : ['--args', typeof args === 'string' ? args : JSON.stringify(args)])]);
}

test('a procedure gets its arguments by position or by name and gives its result as JSON', async () => {
  const text = 'PROCEDURE twice(n Integer, label String)\nreturn {label: label, value: n * 2}';
  for (const args of [[21, 'x'], { label: 'x', n: 21 }])
    expect(await run(text, args)).toEqual({ code: 0, out: '{"label":"x","value":42}\n', err: '' });
});

test('numbers keep their kind and their digits', async () => {
  expect((await run('PROCEDURE p(a, b)\nreturn [a, b, a / 2.0]', '[9007199254740993, 5.0]')).out).toMatch(/^\[9007199254740993,5\.0,/);
});

test('arguments are checked as those of any call are', async () => {
  const { code, err } = await run('PROCEDURE twice(n Integer REQUIRED)\nreturn n * 2', {});
  expect(code).toBe(1);
  expect(err).toContain('cascade.procedure.parameter.missing');
});

test('a failure shows code, message and the line of the text', async () => {
  const { code, out, err } = await run('PROCEDURE p()\nvar a = 0\nreturn 1 / a');
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(/program:3:\d+: cascade\.lang\.arithmetic\.zero\.divide: /);
});

test('a request that needs a store is refused', async () => {
  const { code, err } = await run('PROCEDURE p()\nINSERT Alarm(level: 1)\nreturn 1');
  expect(code).toBe(1);
  expect(err).toContain('insert is not supported on cascade run, which has no store.');
  const builtin = await run('PROCEDURE p()\nreturn Context.profiles()');
  expect([builtin.code, builtin.err]).toEqual([
    1,
    expect.stringContaining('Context.profiles is not supported on cascade run, which has no store.'),
  ]);
});

test('tokens and shared objects need no store', async () => {
  const { code, out } = await run(
    'PROCEDURE p()\nvar m = Concurrent.Map()\nm.compute("a", (k, v) => 5)\nreturn [m.a, JWT.decodeAndVerifyToken(JWT.createToken("HS256", {n: 1}, "k"), "k").verified]',
  );
  expect([code, JSON.parse(out)]).toEqual([0, [5, true]]);
});

test('messages that a program logs appear on standard error', async () => {
  const { code, err } = await run('PROCEDURE p()\nlog.info("hello")\nreturn 1');
  expect(code).toBe(0);
  expect(err).toBe('INFO hello\n');
});

test('a rule gets the arguments as its event', async () => {
  const text = 'RULE hot WHEN INSERT OCCURS ON Pump AS p\nlog.warn("rate {}", [p.rate])';
  const { code, out, err } = await run(text, { rate: 91 });
  expect([code, out]).toEqual([0, 'null\n']);
  expect(err).toContain('91');
  expect((await run(text)).code).toBe(2);
});

test('invalid arguments are refused', async () => {
  const text = 'PROCEDURE p(a)\nreturn a';
  expect((await run(text, '{')).code).toBe(2);
  expect((await run(text, '5')).code).toBe(2);
});
