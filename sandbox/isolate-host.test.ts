import { expect, test } from 'vitest';
import { compileBundle, IsolateHost } from './isolate-host.ts';
import type { BatchHeader } from './wire.ts';

const MB = 1024 * 1024;
/** In place of the script that isolates are made from: a step that gives back what it is given. */
const ECHO = 'globalThis.$cascade = { step: ([batch]) => [batch] };';

test('what an isolate is given and what it answers does not stay in memory', () => {
  const settings = { memoryLimitMb: 128, stepTimeoutMs: 10_000, silenceMs: 60_000 };
  const host = new IsolateHost({ bundle: ECHO, compiled: compileBundle(ECHO) }, settings);
  try {
    const before = process.memoryUsage().external;
    for (let batch = 1; batch <= 64; batch++) {
      const items = 'x'.repeat(2 * MB);
      const { text } = host.step({ kind: 'batch', batch, isolate: 'a', generation: 1 } as unknown as BatchHeader, items);
      expect(text).toBe(items);
    }
    expect((process.memoryUsage().external - before) / MB).toBeLessThan(64); // of 128
  } finally {
    host.close('a');
  }
});
