// A reporter for vitest: after the run it names the ten slowest test files, so that slowness is seen while it is young.
import type { Reporter, TestModule } from 'vitest/node';

export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
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
