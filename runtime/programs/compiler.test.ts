// Long texts are compiled in a thread: with the results of short ones, and without blocking the main thread.
import { afterAll, expect, test } from 'vitest';
import { compileText } from './programs.ts';
import { Compiler } from './compiler.ts';

const compiler = new Compiler();
afterAll(() => compiler[Symbol.asyncDispose]());

const long = (head: string, lines: number): string =>
  [head, ...Array.from({ length: lines }, (_, i) => `a = a + ${i} * (a - 3)`)].join('\n');

test('a long text compiles to the same result as in this thread, which is not blocked meanwhile', async () => {
  const text = long('RULE r WHEN EVENT OCCURS ON "/topics/t" AS e\nvar a = 0', 3_000);
  let turns = 0;
  const ticking = setInterval(() => (turns += 1), 1);
  const unit = await compiler.compile('n', text, { kind: 'rule' });
  clearInterval(ticking);
  expect(turns).toBeGreaterThan(10);
  expect(unit).toEqual(compileText(text, 'rule'));
});

test('a long text has the same diagnostics as a short one', async () => {
  const text = `${long('PROCEDURE p()\nvar a = 0', 1_000)}\nreturn b`;
  const reported = await compiler.compile('n', text, { kind: 'procedure' }).catch((error: unknown) => error);
  expect(reported).toMatchObject({ errors: [{ code: 'cascade.lang.variable.undeclared', status: 400 }] });
  expect(() => compileText(text, 'procedure')).toThrow(String((reported as Error).message));
});

test('the state of a service is requested, and another state gives another program', async () => {
  const text = `${long('PROCEDURE S.p()\nvar a = 0', 1_000)}\nlevel = a\nreturn level`;
  const asked: string[] = [];
  const stateOf = (names: string[]) => (service: string) => {
    asked.push(service);
    return { global: names, partitioned: null };
  };
  const unit = await compiler.compile('n', text, { kind: 'procedure', stateOf: stateOf(['level']) });
  expect(unit).toEqual(compileText(text, 'procedure', false, stateOf(['level'])));
  await expect(compiler.compile('n', text, { kind: 'procedure', stateOf: stateOf(['other']) })).rejects.toThrow();
  expect(new Set(asked)).toEqual(new Set(['S']));
});
