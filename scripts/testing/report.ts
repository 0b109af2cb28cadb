// A reporter for vitest: after the run it names the ten slowest test files, so that slowness is seen while it is young, and last of all each
// test that failed and why, for those who see only the end of a log. What it knows goes into the folder of the run (judge.mjs), too.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { Report, Verdict } from './judge.mjs';
import { SHORT_S } from './sequencer.ts';

export default class TestReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string }[]): void {
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({ test, name: `${module.relativeModuleId} > ${test.fullName}` })),
    );
    slowest(modules);
    if (process.env.CASCADE_TEST_DURATIONS) writeDurations(modules);
    const retried = tests.filter(({ test }) => test.diagnostic()?.flaky === true);
    const failed = tests.filter(({ test }) => test.result().state === 'failed');
    const broken = modules.filter((module) => module.errors().length > 0);
    for (const { test, name } of retried) console.log(`RETRIED: ${name}\n${reasons(test)}`);
    for (const { test, name } of failed) console.log(`FAILED: ${name}\n${reasons(test)}`);
    for (const module of broken) for (const error of module.errors()) console.log(`FAILED: ${module.relativeModuleId}\n${brief(error)}`);
    const report: Report = {
      modules: modules.map((module) => ({ file: module.relativeModuleId, state: module.state() })),
      failed: [...failed.map(({ name }) => name), ...broken.map(({ relativeModuleId }) => relativeModuleId)],
      retried: retried.map(({ name }) => name),
      unhandled: unhandled.map(({ message }) => message),
    };
    if (process.env.CASCADE_TEST_CHANNEL) writeFileSync(join(process.env.CASCADE_TEST_CHANNEL, 'report.json'), JSON.stringify(report));
  }
}

/** The errors of every try of a test. */
const reasons = (test: TestCase): string => (test.result().errors ?? []).map(brief).join('\n');

/** The message, and where in the project it came from. */
function brief({ message, stack = '' }: { message: string; stack?: string }): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('node_modules'));
  return [`  ${message}`, ...frames.slice(0, 5)].join('\n');
}

/** Milliseconds of each file, with what it imports. */
function timed(modules: readonly TestModule[]): { name: string; ms: number }[] {
  return modules.map((module) => {
    const { collectDuration, duration, setupDuration } = module.diagnostic();
    return { name: module.relativeModuleId, ms: collectDuration + setupDuration + duration };
  });
}

/** The table that the order of the files stands on (sequencer.ts): what was run is replaced, the rest stays. */
function writeDurations(modules: readonly TestModule[]): void {
  const file = new URL('durations.json', import.meta.url);
  const known = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  for (const { name, ms } of timed(modules)) known[name] = Math.round(ms / 1_000);
  const long = Object.entries(known).filter(([, seconds]) => seconds >= SHORT_S);
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(long.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`);
}

function slowest(modules: readonly TestModule[]): void {
  if (modules.length < 2) return;
  const used = usedCpu();
  console.log('\nslowest files');
  for (const { name, ms } of timed(modules)
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 10))
    console.log(`${(ms / 1000).toFixed(2).padStart(8)} s  ${name}`);
  if (used.length === 0) return;
  const sum = used.reduce((total, { cpuMs }) => total + cpuMs, 0);
  console.log(
    `\nprocessor time: ${Math.round(sum / 1000)} s in ${used.length} files, beside vitest's own and the shared database; the most`,
  );
  for (const { file, cpuMs } of used.sort((a, b) => b.cpuMs - a.cpuMs).slice(0, 10))
    console.log(`${(cpuMs / 1000).toFixed(2).padStart(8)} s  ${file}`);
}

/** Of the files that have written their verdicts (watch.ts). */
function usedCpu(): { file: string; cpuMs: number }[] {
  const file = process.env.CASCADE_TEST_CHANNEL && join(process.env.CASCADE_TEST_CHANNEL, 'verdicts');
  if (!file || !existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Verdict).map(({ file: name, cpuMs = 0 }) => ({ file: name, cpuMs }));
}
