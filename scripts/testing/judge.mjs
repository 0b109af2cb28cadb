// Whether a run of vitest is green: a pure function of all that is known about it, so that each way to be red has a test (judge.test.ts).
// A run is green when every test file that lies in the folders has reported, every test of it passed on its first try, and every process
// ended as it should. The one exception: vitest's pool of processes loses a message once in many runs and would wait for a worker that has
// nothing more to do. Such a worker has written its verdict (watch.ts) and was ended by its watchdog after it was seen idle: this is noted,
// and the verdict counts.

/** What vitest says of a worker that its watchdog has ended. */
const WORKER_ENDED = /Worker (\w+ )?emitted error|Worker exited unexpectedly/;

/**
 * @param {import('./judge.d.mts').Run} run
 * @returns {{ reasons: string[], notices: string[] }} why it is red (green when there is none), and what else should be known
 */
export function judge({ status, signal, overdue, found, report, verdicts, givenUp, quarantined }) {
  const reasons = [];
  const notices = [];
  if (overdue) reasons.push(overdue);
  else if (status === null) reasons.push(`vitest was ended by ${signal}`);

  const passed = new Set(verdicts.filter((verdict) => verdict.failed === 0 && verdict.passed > 0).map(({ file }) => file));
  const lost = givenUp.filter(({ kind, file }) => kind === 'idle' && passed.has(file)).map(({ file }) => file);
  for (const file of lost) notices.push(`${file}: vitest lost the end of its worker; its own verdict counts: all passed`);
  for (const { file, kind, detail } of givenUp)
    if (!lost.includes(file)) reasons.push(`${file} ${describe(kind)}${detail ? `: ${detail}` : ''}`);

  if (!report) {
    reasons.push('vitest ended without a report');
    return { reasons, notices };
  }
  for (const name of report.failed) reasons.push(`failed: ${name}`);
  for (const name of report.retried)
    if (quarantined.includes(name)) notices.push(`${name}: passed on a further try; it is quarantined and waits to be mended`);
    else reasons.push(`${name} passed only on a further try`);
  const reported = new Set(report.modules.filter(({ state }) => state === 'passed' || state === 'failed').map(({ file }) => file));
  const skipped = new Set(report.modules.filter(({ state }) => state === 'skipped').map(({ file }) => file));
  for (const file of found) {
    if (reported.has(file) || lost.includes(file)) continue;
    if (skipped.has(file)) notices.push(`${file}: none of its tests runs on this machine`);
    else reasons.push(`${file} did not report`);
  }
  if (found.length === 0 && report.modules.length === 0) reasons.push('no test file was found');

  const ended = report.unhandled.filter((message) => WORKER_ENDED.test(message));
  for (const message of report.unhandled) if (!WORKER_ENDED.test(message)) reasons.push(`unhandled: ${message}`);
  if (ended.length > givenUp.length) reasons.push(`${ended.length - givenUp.length} worker(s) of vitest ended unexpectedly`);
  if (reasons.length === 0 && status !== 0 && lost.length === 0) reasons.push(`vitest ended with code ${status}`);
  return { reasons, notices };
}

function describe(kind) {
  if (kind === 'idle') return 'passed no verdict, and its process did nothing any more';
  if (kind === 'open') return 'was over, and its process did not end with these left open';
  if (kind === 'blocked') return 'was over, and its process did not answer any more';
  return 'hung (its stack is above, at HANGS)';
}
