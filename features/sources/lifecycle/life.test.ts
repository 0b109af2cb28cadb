// The end of a source's connection.
import { expect, test } from 'vitest';
import { Life } from './life.ts';

test('integrations.md 1.2: who ends a source a second time waits for its connection to close, too', async () => {
  const closing = Promise.withResolvers<void>();
  const life = new Life({
    now: () => 0,
    isStanding: true,
    open: async () => ({ close: () => closing.promise }),
    changed: () => undefined,
  });
  await life.ready(1_000);
  const steps: string[] = [];
  const first = life.end().then(() => steps.push('first'));
  const second = life.end().then(() => steps.push('second'));
  await new Promise(setImmediate);
  steps.push('closed');
  closing.resolve();
  await Promise.all([first, second]);
  expect(steps).toEqual(['closed', 'first', 'second']);
});
