import { runInThisContext } from 'node:vm';
import { expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { builtinTable } from '../builtins/index.ts';
import { TestLane } from './testing/lane.ts';

const builtins = builtinTable();

/** What the traced form of a procedure tells, a line each: `line`, or `line name=value`. */
function reported(body: string, args: unknown[] = []): string[] {
  const lane = new TestLane({ compile: (source) => compile(source, { builtins, traced: true }), evaluate: runInThisContext });
  lane.load('PROCEDURE twice(x)\nreturn x * 2');
  lane.load(`PROCEDURE f(a)\n${body}`);
  const { logs } = lane.call('f', args as never, () => ({ ok: { cursor: 'c', rows: [{ n: 1 }, { n: 2 }], done: true } }));
  return logs.flatMap((line) => {
    if (!line.startsWith('LINE ')) return [];
    const [name, number, ...values] = JSON.parse(line.slice(5)) as [string, number, ...[string, string][]];
    return [`${name === 'f' ? '' : `${name} `}${number}${values.map(([variable, value]) => ` ${variable}=${value}`).join('')}`];
  });
}

test('each line, what it changes, and what decides', () => {
  const body = 'var x = a + 1\nif (x > 5) {\n  x = twice(x)\n} else { x = 0 }\nvar o = {}\no.n = x\nreturn o';
  expect(reported(body, [6])).toEqual(
    ['2', '2 x=7', '3', '3 condition=true', '4', 'twice 2', 'twice 2 value=14', '4 x=14', '6', '6 o={}', '7', '7 o={"n": 14}', '8'].concat(
      '8 value={"n": 14}',
    ),
  );
});

test('the turns of loops, rows and caught errors', () => {
  expect(reported('for (i in [4, 5]) { a.push(i) }', [[]])).toEqual(['2', '2 i=4', '2', '2 a=[4]', '2 i=5', '2', '2 a=[4, 5]']);
  expect(reported('SELECT FROM T AS r { log.info(r.n) }')).toContain('2 r={"n": 2}');
  const made = reported('FILTER (c IN [1, 2]) RECOMMENDATIONS TO found DO MATCH { if (c > 1) { RECOMMEND c } }\nreturn 1');
  expect(made).toContain('2 found=[{"candidate": 2, "relevance": null, "reason": null}]');
  expect(reported('try { var y = 1 / 0 } catch (e) { log.info(e.code) }').some((line) => /^2 e=\{.*arithmetic/.test(line))).toBe(true);
});

test('values are cut, and so is the trace of what does not end soon', () => {
  const lines = reported('var s = "0123456789"\nwhile (s.length() < 5000) { s = s + s }\nvar o = {}\no.self = o\nreturn 1');
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(2_000);
  expect(lines.at(-1)).toBe('6 value=1');
  const many = reported('var n = 0\nwhile (n < 9000) { n++ }');
  expect(many.length).toBe(20_001);
  expect(many.at(-1)).toBe('3 …=no more than 20000 lines are told');
});
