import { expect, test } from 'vitest';
import type { CascadeError } from '../errors.ts';
import { failDeep, MAX_DEPTH } from './depth.ts';
import type { Value } from './kinds.ts';

const thrown = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

/** A List in a List …, with `innermost` at the end. */
function nested(levels: number, innermost: Value[] = []): Value[] {
  let list = innermost;
  for (let i = 0; i < levels; i++) list = [list];
  return list;
}

const TOO_DEEP = `a depth of more than ${MAX_DEPTH}`;

test('a cycle is told apart from what is just deep, wherever it is', () => {
  const itself: Value[] = [];
  itself.push({ a: itself });
  const shared = nested(3);
  const said = (value: Value) => (thrown(() => failDeep('target', value)) as CascadeError).params;
  expect(said(nested(100_000))).toEqual(['target', TOO_DEEP]);
  expect(said([shared, shared, nested(2_000, shared)])).toEqual(['target', TOO_DEEP]);
  expect(said(itself)).toEqual(['target', 'a cycle']);
  expect(said([nested(500), nested(500, itself)])).toEqual(['target', 'a cycle']);
});

test('an error from deep inside has its whole stack, and others then have as much as before', () => {
  const usual = Error.stackTraceLimit;
  const frames = (error: Error): number => (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at ')).length;
  const at = (depth: number): never => {
    if (depth > 0) return at(depth - 1);
    return failDeep('target', []);
  };
  const error = thrown(() => at(500)) as CascadeError;
  expect(error).toMatchObject({ code: 'cascade.lang.range', params: ['target', TOO_DEEP] });
  expect(frames(error)).toBeGreaterThan(500);
  expect(Error.stackTraceLimit).toBe(usual);
});
