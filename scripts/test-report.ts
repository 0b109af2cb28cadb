// A reporter for vitest: after the run it names the ten slowest test files, so that slowness is seen while it is young, and the tests that
// passed only on their second try.
import type { Reporter, TestModule } from 'vitest/node';

export default class TestReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules)
      for (const test of module.children.allTests())
        if (test.diagnostic()?.flaky === true) console.log(`UNSTEADY: ${module.relativeModuleId} > ${test.fullName}`);
    const timed = modules.map((module) => {
      const { collectDuration, duration, setupDuration } = module.diagnostic();
      return { name: module.relativeModuleId, ms: collectDuration + setupDuration + duration };
    });
    if (timed.length < 2) return;
    console.log('\nslowest files');
    for (const { name, ms } of timed.sort((a, b) => b.ms - a.ms).slice(0, 10))
      console.log(`${(ms / 1000).toFixed(2).padStart(8)} s  ${name}`);
  }
}
