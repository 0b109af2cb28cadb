// What is known of a run, and whether it is green: the ways to be red that no small project can show at will (run-vitest.test.ts has the rest).
import { expect, test } from 'vitest';
import { judge, type Run } from './judge.mjs';

const green: Run = {
  status: 0,
  signal: null,
  overdue: null,
  found: ['a.test.ts', 'b.test.ts'],
  report: {
    modules: [
      { file: 'a.test.ts', state: 'passed' },
      { file: 'b.test.ts', state: 'passed' },
    ],
    failed: [],
    retried: [],
    unhandled: [],
  },
  verdicts: [
    { file: 'a.test.ts', passed: 3, failed: 0 },
    { file: 'b.test.ts', passed: 1, failed: 0 },
  ],
  givenUp: [],
  quarantined: [],
};
const report = green.report!;

test('all passed and ended: green', () => {
  expect(judge(green)).toEqual({ reasons: [], notices: [] });
});

test.each<[what: string, run: Partial<Run>, reason: string]>([
  ['was killed by the kernel', { status: null, signal: 'SIGKILL' }, 'vitest was ended by SIGKILL'],
  ['ended with a code that nothing explains', { status: 1 }, 'vitest ended with code 1'],
  ['ended before it reported', { report: null }, 'vitest ended without a report'],
  ['found nothing', { found: [], report: { ...report, modules: [] } }, 'no test file was found'],
  ['left a file out', { report: { ...report, modules: report.modules.slice(1) } }, 'a.test.ts did not report'],
  [
    'has a file that was never finished',
    { report: { ...report, modules: [{ file: 'a.test.ts', state: 'pending' }, report.modules[1]!] } },
    'a.test.ts did not report',
  ],
  ['has an error outside of tests', { status: 1, report: { ...report, unhandled: ['late rejection'] } }, 'unhandled: late rejection'],
  ['needed a second try', { report: { ...report, retried: ['a.test.ts > x'] } }, 'a.test.ts > x passed only on a further try'],
  [
    'lost a worker',
    { status: 1, report: { ...report, unhandled: ['Worker exited unexpectedly'] } },
    '1 worker(s) of vitest ended unexpectedly',
  ],
  [
    'has an idle worker that wrote no verdict',
    { verdicts: green.verdicts.slice(1), givenUp: [{ file: 'a.test.ts', kind: 'idle' }] },
    'a.test.ts passed no verdict, and its process did nothing any more',
  ],
  [
    'has a worker that is over and blocked',
    { givenUp: [{ file: 'a.test.ts', kind: 'blocked' }] },
    'a.test.ts was over, and its process did not answer any more',
  ],
])('a run that %s is red', (_, run, reason) => {
  expect(judge({ ...green, ...run }).reasons).toContain(reason);
});

test('a file whose tests all want what this machine lacks is named, and not red', () => {
  const run = { ...green, report: { ...report, modules: [{ file: 'a.test.ts', state: 'skipped' }, report.modules[1]!] } };
  expect(judge(run)).toEqual({ reasons: [], notices: ['a.test.ts: none of its tests runs on this machine'] });
});

test('an idle worker that had written that all passed is green, and named, though vitest never heard of it', () => {
  const run = {
    ...green,
    status: 1,
    report: { ...report, modules: report.modules.slice(1), unhandled: ['[vitest-pool]: Worker forks emitted error.'] },
    givenUp: [{ file: 'a.test.ts', kind: 'idle' as const }],
  };
  expect(judge(run)).toEqual({ reasons: [], notices: [expect.stringContaining('a.test.ts: vitest lost')] });
  expect(judge({ ...run, verdicts: [{ file: 'a.test.ts', passed: 3, failed: 1 }] }).reasons).not.toEqual([]);
});
