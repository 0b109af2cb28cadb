import { expect, test } from 'vitest';
import { Run } from './run.ts';
import type { RunRequest } from './types.ts';

const newRun = (more: Partial<RunRequest> = {}, records = { held: 0, most: 1e9 }): Run<string> =>
  new Run<string>(
    {
      id: 'r',
      namespace: 'n',
      program: null,
      argsJson: '[]',
      at: 1,
      seed: '',
      opts: { namespace: 'n', username: '', resource: '' },
      observer: { op: () => {}, log: () => {}, done: () => {}, fail: () => {} },
      ...more,
    },
    records,
  );
const request = (site: string, nth = 0) => ({ site, nth, kind: 'insert', payloadJson: '{}', tail: false });

test('a request is passed on once, and answered from the record in the next life', () => {
  const run = newRun();
  run.begin('A', 1);
  expect(run.asks(request('3'))).toBe('pass');
  expect(run.turn).toBe('caller');
  expect(run.answered({ ok: '{"n":1}' }, 50)).toEqual({ item: '["ok",1,{"n":1},50]' });
  expect(run.asks(request('3', 1))).toBe('pass');
  run.begin('B', 2);
  expect(run.asks(request('3'))).toBe('["ok",2,{"n":1},50]');
  expect(run.asks(request('3', 1))).toBe(null);
  expect(run.answered({ error: { code: 'c', message: 'm', params: [], status: 400 } }, 60)).toEqual({
    item: '["err",2,{"code":"c","message":"m","params":[],"status":400},60]',
  });
});

test('an answer that comes while the run has no isolate, or has not asked again yet, waits in the record', () => {
  const run = newRun();
  run.begin('A', 1);
  run.asks(request('3'));
  run.isolate = null;
  expect(run.answered({ list: '[1]' }, 50)).toBe(null);
  run.begin('B', 2);
  expect(run.asks(request('3'))).toBe('["list",2,[1],50]');
  expect(run.asks(request('4'))).toBe('pass');
  run.begin('C', 3);
  expect(run.answered({ ok: '7' }, 60)).toBe(null);
  expect(run.asks(request('3'))).toBe('["list",3,[1],50]');
  expect(run.asks(request('4'))).toBe('["ok",3,7,60]');
});

test('a life that goes another way asks for the other thing only when the first is answered', () => {
  const run = newRun();
  run.begin('A', 1);
  run.asks(request('3'));
  run.begin('B', 2);
  expect(run.asks(request('9'))).toBe(null);
  expect(run.answered({ ok: '1' }, 50)).toEqual({ pass: request('9') });
  expect(run.answered({ ok: '2' }, 51)).toEqual({ item: '["ok",2,2,51]' });
});

test('an answer that nobody asked for is ignored', () => {
  const run = newRun();
  run.begin('A', 1);
  expect(run.hasOpenRequest).toBe(false);
  expect(run.answered({ ok: '1' }, 50)).toBe(null);
});

test('log entries are told once, and slices go on at the times of the first life', () => {
  const run = newRun();
  run.begin('A', 1);
  expect([run.logs(0), run.logs(1)]).toEqual([true, true]);
  expect([run.goesOn(10), run.goesOn(20)]).toEqual([10, 20]);
  run.begin('B', 2);
  expect([run.logs(0), run.logs(1), run.logs(2)]).toEqual([false, false, true]);
  expect([run.goesOn(90), run.goesOn(91), run.goesOn(92)]).toEqual([10, 20, 92]);
});

test('a run with more than 4 MiB to keep cannot be repeated', () => {
  expect(newRun({ argsJson: 'x'.repeat(5_000_000) }).isRepeatable).toBe(false);
  const run = newRun();
  run.begin('A', 1);
  run.asks(request('3'));
  run.answered({ ok: `"${'x'.repeat(4_194_000)}"` }, 50);
  expect(run.isRepeatable).toBe(true);
  run.asks(request('4'));
  expect(run.answered({ ok: `"${'x'.repeat(400)}"` }, 50)).toEqual({ item: expect.stringContaining('"ok",1') });
  expect(run.isRepeatable).toBe(false);
});

test('when all records together are too long, the one that grows is given up', () => {
  const records = { held: 0, most: 100 };
  const first = newRun({ argsJson: 'x'.repeat(60) }, records);
  const second = newRun({ argsJson: 'x'.repeat(60) }, records);
  expect([first.isRepeatable, second.isRepeatable, records.held]).toEqual([true, false, 60]);
  first.forgetRecord();
  expect(records.held).toBe(0);
});
