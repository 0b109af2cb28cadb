// What decides whether the tests are green, tried on a small project (tiny/) that goes wrong in one way at a time.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { findTestFiles, type RunOptions, runVitest } from './run-vitest.mjs';

const root = fileURLToPath(new URL('tiny', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cascade-tiny-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cleared = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => name.startsWith('VITEST'))
    .map((name) => [name, undefined]),
);
const quick = { CASCADE_TEST_SILENCE_S: '3', CASCADE_TEST_AFTER_S: '2', CASCADE_TEST_MONGO: undefined };

/** The files of the small project of these names. */
function tiny(names: readonly string[], { env, ...options }: RunOptions = {}): ReturnType<typeof runVitest> {
  const files = names.map((name) => `${name}.tiny.ts`);
  const quarantine = join(folder, 'none.json');
  writeFileSync(quarantine, '[]');
  return runVitest({
    root,
    patterns: files,
    found: files,
    stdio: 'pipe',
    env: { ...cleared, ...quick, CASCADE_TEST_QUARANTINE: quarantine, ...env },
    ...options,
  });
}

test('a run is green when all passes; a test in quarantine may be tried again, a lost last message of a worker changes nothing, and both are named', async () => {
  const list = join(folder, 'list.json');
  writeFileSync(list, JSON.stringify([{ name: 'fails-once.tiny.ts > fails at the first try' }]));
  const env = { TINY_MARK: join(folder, 'quarantined'), CASCADE_TEST_QUARANTINE: list };
  const { reasons, notices, output } = await tiny(['passes', 'fails-once', 'keeps-message'], { env });
  expect(reasons, output).toEqual([]);
  expect(notices).toEqual([
    expect.stringContaining('keeps-message.tiny.ts: vitest lost the end of its worker'),
    expect.stringContaining('fails-once.tiny.ts > fails at the first try: passed on a further try'),
  ]);
});

test('each of these is red: a failure at the first try, one in ten tries, no assertion, .only, a worker that dies, a file that no project includes', async () => {
  const names = ['passes', 'fails-once', 'fails-rarely', 'asserts-nothing', 'only', 'exits'];
  const found = [...names, 'forgotten'].map((name) => `${name}.tiny.ts`);
  const { reasons, notices, output } = await tiny(names, { found, env: { TINY_MARK: join(folder, 'first') } });
  expect(notices).toEqual([]);
  expect(reasons.sort(), output).toEqual([
    '1 worker(s) of vitest ended unexpectedly',
    'exits.tiny.ts did not report',
    'failed: asserts-nothing.tiny.ts > asserts nothing',
    'failed: fails-once.tiny.ts > fails at the first try',
    ...[19, 23, 7].map((run) => `failed: fails-rarely.tiny.ts > fails one time in ten, try ${run}`),
    expect.stringMatching(/^failed: only\.tiny\.ts/),
    'forgotten.tiny.ts did not report',
  ]);
});

test('a file that hangs is red, with the line where it stands or with what it holds open', async () => {
  const { reasons, output } = await tiny(['awaits', 'loops']);
  expect(reasons).toContainEqual(expect.stringMatching(/^awaits\.tiny\.ts hung.*awaits what never comes/));
  expect(reasons).toContainEqual(expect.stringMatching(/^loops\.tiny\.ts hung.*loops for ever/));
  expect(output).toMatch(/no code runs; open: .*Timeout/);
  expect(output).toMatch(/at neverEnds \(.*loops\.tiny\.ts:\d+\)/);
});

test('a lost last message excuses neither a failure nor what the tests left open', async () => {
  const { reasons } = await tiny(['keeps-message-and-fails', 'keeps-message-and-socket']);
  expect(reasons).toContain('failed: keeps-message-and-fails.tiny.ts > fails, and its end is not told');
  expect(reasons).toContainEqual(expect.stringMatching(/^keeps-message-and-socket\.tiny\.ts was over.*: TCPSERVERWRAP/i));
});

test('vitest that does not end after its report is red', async () => {
  const { reasons } = await tiny(['passes'], { env: { TINY_ENDLESS: '1' }, endMs: 1_500 });
  expect(reasons).toEqual(['vitest did not end within 2 s of its report']);
});

test('vitest that is overdue is red', async () => {
  const { reasons } = await tiny(['awaits'], { env: { CASCADE_TEST_SILENCE_S: '60' }, runMs: 6_000 });
  expect(reasons).toContainEqual(expect.stringContaining('did not end within'));
  expect(reasons).toContain('vitest ended without a report');
});

test('the test files are found by their names alone', () => {
  const project = fileURLToPath(new URL('../..', import.meta.url));
  expect(findTestFiles(project, ['scripts/testing'])).toContain('scripts/testing/run-vitest.test.ts');
  expect(findTestFiles(project).length).toBeGreaterThan(150);
  expect(findTestFiles(project, ['no such file'])).toEqual([]);
});
