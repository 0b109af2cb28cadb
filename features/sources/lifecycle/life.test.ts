// The end of a source's connection.
import { afterEach, expect, test, vi } from 'vitest';
import type { Connection } from '../protocols/index.ts';
import { Life } from './life.ts';

afterEach(() => vi.useRealTimers());

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

// spec: integrations.md 1.2 2.8
test('the end waits ten seconds for a connection that opens or closes, and no longer: what is under way is abandoned', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const which of ['opening', 'closing']) {
    const opening = Promise.withResolvers<Connection>();
    const closing = Promise.withResolvers<void>();
    const steps: string[] = [];
    const life = new Life({
      now: () => 0,
      isStanding: true,
      open: (unwanted, abandoned) => {
        unwanted.addEventListener('abort', () => steps.push('unwanted'));
        abandoned.addEventListener('abort', () => steps.push('abandoned'));
        return opening.promise;
      },
      changed: () => undefined,
    });
    const connection = { close: () => (steps.push('close'), closing.promise) };
    life.begin();
    await vi.advanceTimersByTimeAsync(0);
    if (which === 'closing') opening.resolve(connection);
    await vi.advanceTimersByTimeAsync(0);
    const ended = life.end().then(() => steps.push('ended'));
    const first = which === 'closing' ? ['unwanted', 'close'] : ['unwanted'];
    await vi.advanceTimersByTimeAsync(9_999);
    expect(steps).toEqual(first);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(steps).toEqual([...first, 'abandoned', 'ended']);
    opening.resolve(connection);
    await vi.advanceTimersByTimeAsync(0);
    expect(steps.filter((step) => step === 'close')).toEqual(['close']); // also of one that opens later
    closing.resolve();
  }
});
