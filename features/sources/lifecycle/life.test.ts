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

// spec: integrations.md 1.2 2.8
test('each opening that fails is abandoned, before the next one begins', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const signals: AbortSignal[] = [];
  const life = new Life({
    now: () => 0,
    isStanding: true,
    open: async (_unwanted, abandoned) => {
      signals.push(abandoned);
      if (signals.length < 3) throw new Error('no');
      return { close: async () => undefined };
    },
    changed: () => undefined,
  });
  life.begin();
  await vi.advanceTimersByTimeAsync(0);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
  await life.end();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
});

interface Opens {
  error: Error | null;
  /** Fails while the connection opens. */
  poll: Error | null;
}

/** A life cycle at a clock of its own, whose connections open when `opens` says so. */
function lived(): { life: Life; opens: Opens; pass(ms: number): Promise<void>; states: string[] } {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let now = 0;
  const opens: Opens = { error: null, poll: null };
  const states: string[] = [];
  const life: Life = new Life({
    now: () => now,
    isStanding: true,
    open: async () => {
      if (opens.poll) life.troubled('poll', opens.poll, 7_000);
      if (opens.error) throw opens.error;
      return { close: async () => undefined };
    },
    changed: ({ state }) => states.push(state),
    random: () => 0.5,
  });
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    await vi.advanceTimersByTimeAsync(ms);
  };
  return { life, opens, pass, states };
}

// spec: integrations.md 1.2
test('requests that succeed do not reset the back-off of connections that do not last', async () => {
  const { life, pass } = lived();
  life.begin();
  for (const pauseMs of [1_000, 2_000, 4_000, 8_000]) {
    await pass(0);
    life.recovered('request');
    life.recovered('poll');
    await pass(5_000);
    life.lost(new Error('taken over'));
    expect(life.state.nextAttemptAt! - life.state.since).toBe(pauseMs);
    await pass(pauseMs);
  }
  await pass(60_000);
  life.lost(new Error('gone'));
  expect(life.state).toMatchObject({ state: 'error', attempts: 1 });
  await pass(1_000);
  expect(life.state.state).toBe('connected');
});

// spec: integrations.md 1.2
test('a request that ends on an old connection does not show a source as connected', async () => {
  const { life, opens, pass } = lived();
  opens.error = new Error('no');
  life.begin();
  await pass(0);
  life.recovered('request');
  life.troubled('request', new Error('of the old one'));
  expect(life.state).toMatchObject({ state: 'error', attempts: 1, error: { message: 'no' } });
  expect(life.state.nextAttemptAt).toBe(1_000);
});

// spec: integrations.md 1.2 2.8
test('a poll that failed is made good by a poll, and not by a request', async () => {
  const { life, pass, states } = lived();
  life.begin();
  await pass(0);
  life.troubled('poll', new Error('first'));
  life.recovered('request');
  life.troubled('poll', new Error('second'));
  expect(life.state).toMatchObject({ state: 'error', attempts: 2, error: { message: 'second' } });
  life.troubled('request', new Error('third'));
  life.recovered('poll');
  expect(life.state.state).toBe('error');
  life.recovered('request');
  expect(life.state).toMatchObject({ state: 'connected', attempts: 0, error: null });
  expect(states).toEqual(['connecting', 'connected', 'error', 'error', 'error', 'connected']);
});

// spec: integrations.md 1.2
test('a source is unavailable after 300 seconds of failures, between two attempts as well', async () => {
  const { life, opens, pass } = lived();
  opens.error = new Error('no');
  life.begin();
  await pass(0);
  await pass(299_999);
  expect(life.state).toMatchObject({ state: 'error', isUnavailable: false });
  const { attempts } = life.state;
  await pass(1);
  expect(life.state).toMatchObject({ attempts, isUnavailable: true });
  opens.error = null;
  await pass(300_000);
  expect(life.state).toMatchObject({ state: 'connected', isUnavailable: false });
});

// spec: integrations.md 1.2 2.8
test('a source whose polls fail is unavailable after 300 seconds and two of them', async () => {
  const { life, pass } = lived();
  life.begin();
  await pass(0);
  life.troubled('poll', new Error('no'));
  await pass(300_000);
  expect(life.state.isUnavailable).toBe(false);
  life.troubled('poll', new Error('no'));
  expect(life.state.isUnavailable).toBe(true);
  life.recovered('poll');
  expect(life.state.isUnavailable).toBe(false);
});

// spec: integrations.md 1.2 1.8
test('a connection whose first poll fails was never connected, and serves', async () => {
  const { life, opens, pass, states } = lived();
  opens.poll = new Error('no');
  life.begin();
  expect(await life.ready(0)).not.toBeNull();
  expect(states).toEqual(['connecting', 'error']);
  expect(life.state).toMatchObject({ state: 'error', attempts: 1, nextAttemptAt: 7_000, error: { message: 'no' } });
  life.recovered('poll');
  expect(life.state).toMatchObject({ state: 'connected', nextAttemptAt: null });
  life.lost(new Error('gone'));
  opens.poll = null;
  await pass(1_000);
  expect(states).toEqual(['connecting', 'error', 'connected', 'error', 'connecting', 'connected']);
});
