import { expect, test } from 'vitest';
import type { Read, Step } from '../transactions/index.ts';
import { digestOf, type Known, MOST_FROM_OUTSIDE, RunHistory } from './history.ts';

const at = (ms: number): Date => new Date(ms);
const read = (site: string, nth: number, ms: number, answer: string, seen?: string, request = site): Read => ({
  site,
  nth,
  at: at(ms),
  answer: { ok: answer },
  request,
  ...(seen !== undefined && { seen }),
});
const step = (
  site: string,
  nth: number,
  ms: number,
  request: string,
  answer: string,
  reads: readonly Read[] = [],
  seen?: string,
): Step => ({
  run: 'e/r/1',
  site,
  nth,
  at: at(ms),
  startedAt: at(0),
  answer: { ok: answer },
  request,
  reads,
  ...(seen !== undefined && { seen }),
});
const textOf = (known: Known | null): string | null => known && (known.answer as { ok: string }).ok;
const asked = (history: RunHistory, site: string, nth: number, request: string) => history.answerTo(site, nth, () => request);

test('a replayed read brings back the version that it showed', () => {
  const history = new RunHistory([step('2', 0, 2, 'log', 'logged', [read('1', 0, 1, 'n=5', '5 t.Counter/c')])]);
  expect(asked(history, '1', 0, '1')).toMatchObject({ answer: { ok: 'n=5' }, seen: [['t.Counter/c', 5n]] });
  expect(textOf(asked(history, '2', 0, 'log'))).toBe('logged');
  expect(asked(history, '3', 0, 'set')).toBeNull();
});

test('a read is answered for the same request only, an effect wherever its own request is made', () => {
  const history = new RunHistory([step('2', 0, 2, 'B(r1)', 'b1', [read('1', 0, 1, 'rows')]), step('2', 1, 3, 'B(r2)', 'b2')]);
  expect(asked(history, '1', 0, 'another')).toBeNull();
  // r1 is gone: the list is r2, r3
  expect(textOf(asked(history, '2', 0, 'B(r2)'))).toBe('b2');
  expect(asked(history, '2', 1, 'B(r3)')).toBeNull();
});

test('an effect whose request tells of what has changed since is not made again', () => {
  const history = new RunHistory([step('2', 0, 2, 'log n=5', 'logged')]);
  expect(textOf(asked(history, '2', 0, 'log n=6'))).toBe('logged');
  expect(asked(history, '2', 1, 'log n=6')).toBeNull();
});

test('after a lost race what showed the instance since the own last change of it is read again, and that change is shown as it is now', () => {
  const history = new RunHistory([]);
  history.add(read('1', 0, 1, '{"_id":"c","n":5}', '5 t.Counter/c'));
  history.add(read('2', 0, 2, 'a list', '1 t.Row/a'));
  history.committed(step('3', 0, 3, 'set c', '{"_id":"c","n":6}', history.recent, '6 t.Counter/c'));
  history.add(read('4', 0, 4, '{"_id":"c","n":6}', '6 t.Counter/c'));
  history.committed(step('5', 0, 5, 'log', 'logged', history.recent));
  history.add(read('6', 0, 6, '{"_id":"c","n":7}', '7 t.Counter/c'));
  history.restart('t.Counter/c');
  expect(textOf(asked(history, '1', 0, '1'))).toBe('{"_id":"c","n":5}');
  expect(textOf(asked(history, '2', 0, '2'))).toBe('a list');
  expect(asked(history, '3', 0, 'set c')).toMatchObject({ answer: { ok: '{"_id":"c","n":6}' }, stale: 't.Counter/c' });
  expect(asked(history, '4', 0, '4')).toBeNull();
  expect(asked(history, '5', 0, 'log')).toMatchObject({ stale: null });
  expect(asked(history, '6', 0, '6')).toBeNull();
});

test('where the run goes by what it read before its own change, that read is made again, and the change is shown as it is now', () => {
  const history = new RunHistory([]);
  history.add(read('0', 0, 1, '{"_id":"c","n":4}', '4 t.Counter/c'));
  history.committed(step('1', 0, 1, 'log', 'logged', history.recent));
  history.add(read('2', 0, 1, '{"_id":"c","n":5}', '5 t.Counter/c'));
  history.add(read('3', 0, 1, 'a list', '1 t.Row/a'));
  history.committed(step('4', 0, 1, 'set c', '{"_id":"c","n":6}', history.recent, '6 t.Counter/c'));
  history.committed(step('5', 0, 1, 'log', 'logged'));
  history.restart('t.Counter/c');
  expect(textOf(asked(history, '0', 0, '0'))).toBe('{"_id":"c","n":4}');
  expect(asked(history, '1', 0, 'log')).toMatchObject({ stale: null });
  expect(asked(history, '2', 0, '2')).toBeNull();
  expect(textOf(asked(history, '3', 0, '3'))).toBe('a list');
  expect(asked(history, '4', 0, 'set c')).toMatchObject({ stale: 't.Counter/c' });
  expect(asked(history, '5', 0, 'log')).toMatchObject({ stale: null });
});

test('after a race for a key, reads that looked for it in vain are made again, and the own effects that took it stay as they are', () => {
  const history = new RunHistory([]);
  history.add(read('1', 0, 1, 'null', '0 t.Counter/key a'));
  history.add(read('2', 0, 1, 'null', '0 t.Counter/key b'));
  history.committed(step('3', 0, 1, 'log', 'logged', history.recent));
  history.restart('t.Counter/a', 't.Counter/key a');
  expect(asked(history, '1', 0, '1')).toBeNull();
  expect(textOf(asked(history, '2', 0, '2'))).toBe('null');
  history.committed(step('4', 0, 2, 'insert b', 'b', [], '1 t.Counter/key b'));
  history.add(read('5', 0, 3, 'null', '0 t.Counter/key b'));
  history.committed(step('6', 0, 3, 'log', 'logged', history.recent));
  history.restart('t.Counter/other', 't.Counter/key b');
  expect(asked(history, '4', 0, 'insert b')).toMatchObject({ stale: null, seen: [['t.Counter/key b', 1n]] });
  expect(asked(history, '5', 0, '5')).toBeNull();
});

test('a number that tells of several changed instances stays one, and no longer tells of their versions', () => {
  const history = new RunHistory([]);
  history.committed(step('1', 0, 1, 'set all', '2', [], '6 t.Counter/c\n4 t.Counter/d'));
  history.restart('t.Counter/c');
  expect(asked(history, '1', 0, 'set all')).toMatchObject({ answer: { ok: '2' }, stale: null, seen: [['t.Counter/d', 4n]] });
});

test('effects of a loop keep the read before them, so that none is taken for another', () => {
  const history = new RunHistory([]);
  history.add(read('1', 0, 1, '{"_id":"c","n":5}', '5 t.Counter/c'));
  history.committed(step('2', 0, 2, 'set 1', '{"_id":"c","n":6}', history.recent, '6 t.Counter/c'));
  history.committed(step('2', 1, 3, 'set 2', '{"_id":"c","n":7}', [], '7 t.Counter/c'));
  history.restart('t.Counter/c');
  expect(textOf(asked(history, '1', 0, '1'))).toBe('{"_id":"c","n":5}');
  expect(asked(history, '2', 0, 'set 1')).toMatchObject({ stale: null });
  expect(asked(history, '2', 1, 'set 2')).toMatchObject({ stale: 't.Counter/c' });
});

test('what a run has done in this attempt is not given to later requests of the same attempt', () => {
  const history = new RunHistory([]);
  history.committed(step('1', 0, 1, 'same', 'first'));
  expect(asked(history, '1', 1, 'same')).toBeNull();
  history.committed(step('1', 1, 2, 'same', 'second'));
  history.restart(null);
  expect([0, 1, 2].map((nth) => textOf(asked(history, '1', nth, 'same')))).toEqual(['first', 'second', null]);
});

test('the records of an earlier version are answered by their places', () => {
  const { request: _, ...old } = step('1', 0, 1, '', 'done');
  const history = new RunHistory([old]);
  expect(textOf(asked(history, '1', 0, digestOf('insert', '{}')))).toBe('done');
});

test('answers from outside the store are kept up to a bound', () => {
  const history = new RunHistory([]);
  const answer = { ok: 'x'.repeat(MOST_FROM_OUTSIDE / 4) };
  const keep = (nth: number) => history.keep('1', nth, { request: 'ask', answer, at: at(nth) });
  expect([0, 1, 2, 3].map(keep)).toEqual([true, true, true, false]);
});
