// A reporter for vitest: after the run it names the ten slowest test files, so that slowness is seen while it is young, and last of all each
// test that failed and why, for those who see only the end of a log. What it knows goes into the folder of the run (judge.mjs), too.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { Report } from './judge.mjs';

export default class TestReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string }[]): void {
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({ test, name: `${module.relativeModuleId} > ${test.fullName}` })),
    );
    slowest(modules);
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

function slowest(modules: readonly TestModule[]): void {
  const timed = modules.map((module) => {
    const { collectDuration, duration, setupDuration } = module.diagnostic();
    return { name: module.relativeModuleId, ms: collectDuration + setupDuration + duration };
  });
  if (timed.length < 2) return;
  console.log('\nslowest files');
  for (const { name, ms } of timed.sort((a, b) => b.ms - a.ms).slice(0, 10))
    console.log(`${(ms / 1000).toFixed(2).padStart(8)} s  ${name}`);
}
