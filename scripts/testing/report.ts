// A reporter for vitest: after the run it names the ten slowest test files, so that slowness is seen while it is young, and the tests that
// passed only on a second try; last of all, each test that failed and why, for those who see only the end of a log.
import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export default class TestReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({ test, name: `${module.relativeModuleId} > ${test.fullName}` })),
    );
    slowest(modules);
    for (const { test, name } of tests) if (test.diagnostic()?.flaky === true) console.log(`UNSTEADY: ${name}\n${reasons(test)}`);
    for (const { test, name } of tests) if (test.result().state === 'failed') console.log(`FAILED: ${name}\n${reasons(test)}`);
    for (const module of modules) for (const error of module.errors()) console.log(`FAILED: ${module.relativeModuleId}\n${brief(error)}`);
    const failed =
      tests.filter(({ test }) => test.result().state === 'failed').length + modules.flatMap((module) => module.errors()).length;
    // A process that was ended since it hung (watchdog.mjs) is one of the unhandled errors.
    if (process.env.CASCADE_TEST_END) appendFileSync(process.env.CASCADE_TEST_END, JSON.stringify({ failed, unhandled: unhandled.length }));
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
