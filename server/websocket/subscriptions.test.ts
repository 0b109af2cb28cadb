import { expect, test, vi } from 'vitest';
import { type CascadeError, apiError } from '../../model/errors/api-errors.ts';
import type { Identity } from '../../resources/api.ts';
import { Ended } from './login.ts';
import { Subscriptions } from './subscriptions.ts';

const ANN: Identity = { username: 'ann', namespace: 'main', profiles: [] };

test.each([
  [
    'what it was about has gone meanwhile',
    apiError('cascade.resource.type.not.found', 'Pump'),
    [{ code: 'cascade.event.path.gone', status: 410 }],
    [],
  ],
  [
    'its right has been withdrawn',
    apiError('cascade.authorization.denied', 'select', 'Pump'),
    [],
    [{ status: 100, body: { op: 'unsubscribe', path: '/types/Pump/insert', namespace: 'main' } }],
  ],
])('a subscription that is found out to have ended says why: %s', async (_why, found, errors, messages) => {
  const reported: CascadeError[] = [];
  const sent: string[] = [];
  let isFirst = true;
  const subscriptions = new Subscriptions({
    engine: {
      subscribe: async () => {
        if (!isFirst) throw found;
        isFirst = false;
        return { close: () => undefined };
      },
    },
    login: () => ({ username: 'ann', identify: async () => ANN }),
    send: (text: string) => void sent.push(text),
    sendError: (error: CascadeError) => void reported.push(error),
    failed: () => undefined,
    hasRoom: async () => undefined,
  } as unknown as ConstructorParameters<typeof Subscriptions>[0]);
  const message = { op: 'subscribe', resourceName: 'events', resourceId: '/types/Pump/insert', parameters: { requestId: 'a' } };
  await subscriptions.subscribe(message as never, ANN);
  await subscriptions.recheck();
  expect(reported).toMatchObject(errors);
  expect(sent.map((text) => JSON.parse(text))).toMatchObject(messages);
  expect(subscriptions.size).toBe(0);
});

test.each([
  ['a quota is used up', apiError('cascade.quota.exceeded', 'subscriptions', 1)],
  ['the store is away', new Error('connection refused')],
])('a subscription goes on while its right cannot be looked up, and is looked at again: %s', async (_why, failure) => {
  vi.useFakeTimers();
  try {
    const sent: string[] = [];
    const asked: object[] = [];
    let refusal: Error | null = null;
    const subscriptions = new Subscriptions({
      engine: {
        subscribe: async (_identity: Identity, _path: string, options: object) => {
          asked.push(options);
          if (refusal) throw refusal;
          return { close: () => undefined };
        },
      },
      login: () => ({ username: 'ann', identify: async () => ANN }),
      send: (text: string) => void sent.push(text),
    } as unknown as ConstructorParameters<typeof Subscriptions>[0]);
    const message = { op: 'subscribe', resourceName: 'events', resourceId: '/topics/a', parameters: { requestId: 'a' } };
    await subscriptions.subscribe(message as never, ANN);
    refusal = failure;
    await subscriptions.recheck();
    expect([sent, subscriptions.size]).toEqual([[], 1]);
    refusal = apiError('cascade.authorization.denied', 'subscribe', '/topics/a');
    await vi.runOnlyPendingTimersAsync();
    expect(sent).toHaveLength(1);
    expect(subscriptions.size).toBe(0);
    expect(asked.slice(1)).toEqual([{ probes: true }, { probes: true }]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('a subscription keeps to the login that it was made under, whichever follows', async () => {
  const sent: string[] = [];
  const asked: string[] = [];
  const ended = new Set<string>();
  let current = 'ann';
  const loginOf = (username: string) => ({
    username,
    identify: async () => {
      asked.push(username);
      if (ended.has(username)) throw new Ended();
      return { ...ANN, username };
    },
  });
  const logins = { ann: loginOf('ann'), bo: loginOf('bo') };
  const subscriptions = new Subscriptions({
    engine: { subscribe: async () => ({ close: () => undefined }) },
    login: () => logins[current as 'ann' | 'bo'],
    send: (text: string) => void sent.push(text),
  } as unknown as ConstructorParameters<typeof Subscriptions>[0]);
  const message = (topic: string) => ({ op: 'subscribe', resourceName: 'events', resourceId: topic, parameters: { requestId: topic } });
  await subscriptions.subscribe(message('/topics/a') as never, ANN);
  await subscriptions.subscribe(message('/topics/b') as never, ANN);
  current = 'bo';
  await subscriptions.subscribe(message('/topics/c') as never, { ...ANN, username: 'bo' });
  expect(['ann', 'bo', 'cy'].map((name) => subscriptions.isOf(name))).toEqual([true, true, false]);
  ended.add('ann');
  await subscriptions.recheck();
  expect(asked).toEqual(['ann', 'bo']);
  expect(sent.map((text) => (JSON.parse(text) as { body: object }).body)).toEqual(
    ['/topics/a', '/topics/b'].map((path) => ({ op: 'unsubscribe', path, namespace: 'main' })),
  );
  expect([subscriptions.isOf('ann'), subscriptions.size]).toEqual([false, 1]);
});

type Turn = readonly ['begins' | 'is refused', number];

test.each<[what: string, open: number[], turns: Turn[], left: number[]]>([
  [
    'both are refused',
    [],
    [
      ['is refused', 1],
      ['is refused', 2],
    ],
    [],
  ],
  [
    'both are refused, the later one first',
    [],
    [
      ['is refused', 2],
      ['is refused', 1],
    ],
    [],
  ],
  [
    'both are refused, and there is one that they were to replace',
    [0],
    [
      ['is refused', 1],
      ['is refused', 2],
    ],
    [0],
  ],
  [
    'the later one is refused after the earlier one has begun',
    [0],
    [
      ['begins', 1],
      ['is refused', 2],
    ],
    [1],
  ],
  [
    'the later one is refused before the earlier one begins',
    [0],
    [
      ['is refused', 2],
      ['begins', 1],
    ],
    [1],
  ],
  [
    'the earlier one is refused',
    [0],
    [
      ['is refused', 1],
      ['begins', 2],
    ],
    [2],
  ],
  [
    'both begin',
    [0],
    [
      ['begins', 1],
      ['begins', 2],
    ],
    [2],
  ],
  [
    'both begin, the later one first',
    [0],
    [
      ['begins', 2],
      ['begins', 1],
    ],
    [2],
  ],
])('of two subscriptions with one path and request id that begin at once: %s', async (_what, open, turns, left) => {
  const listening = new Set<number>();
  const settle: ((isRefused: boolean) => void)[] = [];
  const subscriptions = new Subscriptions({
    engine: {
      subscribe: (_identity: Identity, _path: string, { probes = false }: { probes?: boolean }) => {
        if (probes) return Promise.resolve({ close: () => undefined });
        const number = settle.length;
        return new Promise((resolve, reject) => {
          settle.push((isRefused) => {
            if (isRefused) return reject(apiError('cascade.authorization.denied', 'subscribe', '/topics/a'));
            listening.add(number);
            resolve({ close: () => listening.delete(number) });
          });
        });
      },
    },
    login: () => ({ username: 'ann', identify: async () => ANN }),
    send: () => undefined,
  } as unknown as ConstructorParameters<typeof Subscriptions>[0]);
  const message = { op: 'subscribe', resourceName: 'events', resourceId: '/topics/a', parameters: { requestId: 'a' } };
  const begin = () => subscriptions.subscribe(message as never, ANN).catch(() => null);
  if (open.length > 0) {
    const first = begin();
    settle[0]?.(false);
    await first;
  } else settle.push(() => undefined);
  const asked = [begin(), begin()];
  for (const [how, number] of turns) {
    settle[number]?.(how === 'is refused');
    await asked[number - 1];
  }
  expect([...listening]).toEqual(left);
  expect(subscriptions.size).toBe(left.length);
  await subscriptions.unsubscribe(message as never, ANN);
  expect([[...listening], subscriptions.size]).toEqual([[], 0]);
});

test('what subscriptions keep is counted until they end, however they end, and a longer request id or too much is refused', async () => {
  let held = 0;
  let fails = false;
  const ROOM = 300_000;
  const subscriptions = new Subscriptions({
    engine: {
      subscribe: async () => {
        if (fails) throw apiError('cascade.authorization.denied', 'subscribe', '/topics/a');
        return { close: () => undefined };
      },
      count: async () => undefined,
    },
    login: () => ({ username: 'ann', identify: async () => ANN }),
    keep: (bytes: number) => {
      if (held + bytes > ROOM) return apiError('cascade.quota.exceeded', 'subscriptionBytes', ROOM);
      held += bytes;
      return null;
    },
    free: (bytes: number) => void (held -= bytes),
    send: () => undefined,
  } as unknown as ConstructorParameters<typeof Subscriptions>[0]);
  const eventFilter = { x: Array.from({ length: 900 }, () => ({})) };
  const message = (requestId: string, filter: object | null = eventFilter) =>
    ({ op: 'subscribe', resourceName: 'events', resourceId: '/topics/a', parameters: { requestId, eventFilter: filter } }) as never;
  const one = 128 * 902;
  await subscriptions.subscribe(message('small', { site: 'west' }), ANN);
  expect(held).toBe(0); // as much as the subscription itself
  await subscriptions.subscribe(message('a'), ANN);
  await subscriptions.subscribe(message('a'), ANN); // replaces the first
  expect(Math.abs(held - one)).toBeLessThan(200);
  await subscriptions.subscribe(message('b'), ANN);
  await expect(subscriptions.subscribe(message('c'), ANN)).rejects.toMatchObject({ status: 429, params: ['subscriptionBytes', ROOM] });
  expect(subscriptions.size).toBe(3);
  await subscriptions.unsubscribe(message('b'), ANN);
  expect(Math.abs(held - one)).toBeLessThan(200);
  fails = true;
  await expect(subscriptions.subscribe(message('d'), ANN)).rejects.toMatchObject({ status: 403 });
  fails = false;
  await expect(subscriptions.subscribe(message(`${'e'.repeat(99)}${'😀'.repeat(500)}`, null), ANN)).rejects.toMatchObject({
    status: 400,
    params: ['requestId', `${'e'.repeat(99)}…`],
  });
  await subscriptions.subscribe(message('e'.repeat(1_000), null), ANN);
  subscriptions.closeAll();
  await subscriptions.subscribe(message('late'), ANN); // it was on its way when the socket closed
  expect([held, subscriptions.size]).toEqual([0, 0]);
});
