// Subscriptions over two processes: an event that does not fit ends no subscription for good, and nobody waits for a process that is gone.
import { afterEach, expect, test, vi } from 'vitest';
import { apiError } from '../../model/errors/index.ts';
import type { Notice, Subscription } from '../../resources/api.ts';
import { type Answer, type Handler, LinkLost } from '../../runtime/cluster/index.ts';
import type { OpenNamespace } from '../namespace.ts';
import type { FollowedOptions } from './followed.ts';
import { Listeners } from './listeners.ts';
import { FollowedSubscriptions } from './subscriptions.ts';

afterEach(() => vi.useRealTimers());

const OWNER = 1;
const FRONT = 2;
const identity = { username: 'ann', namespace: 'shop', profiles: ['admin'] };
const space = { epoch: 10 } as OpenNamespace;
const event = (n: number): Notice => ({ kind: 'event', path: '/topics/a', valueJson: String(n), createdAt: n });

/** Two processes, of which one owns all, and whose messages come at once. */
function pair(living: number[] = [OWNER, FRONT], name?: string) {
  const handlers = new Map<number, Record<string, Handler>>();
  const delivering = new Set<(notice: Notice) => void>();
  const network = {
    isFull: false,
    slow: Promise.resolve(),
    lapsed: [] as number[],
    sent: [] as string[],
    open: Promise.resolve(),
    refused: 0,
    begun: 0,
  };
  const callsOf = (from: number) => ({
    isGone: () => false,
    async call(to: number, method: string, head: object): Promise<Answer> {
      network.sent.push(method);
      const handler = handlers.get(to)?.[method];
      if (!handler) throw new LinkLost();
      await network.slow;
      return handler(from, { head: { ...head }, body: Buffer.alloc(0) });
    },
    post(to: number, method: string, head: object, body = Buffer.alloc(0)): boolean {
      if (body.length > 0 && network.isFull) return false;
      network.sent.push(method);
      void handlers.get(to)?.[method]?.(from, { head: { ...head }, body });
      return true;
    },
  });
  const open = (epoch: number): FollowedSubscriptions => {
    const followed = new FollowedSubscriptions({
      epoch,
      routes: {
        async at(_name: string, _here: unknown, there: (owner: number) => Promise<unknown>) {
          await network.open;
          return there(OWNER);
        },
        forget: () => undefined,
      },
      owners: { addListener: async () => undefined },
      calls: () => callsOf(epoch),
      living: async (epochs: readonly number[]) => epochs.filter((one) => living.includes(one)),
      subscribe: async (...[, , , , deliver]: Parameters<FollowedOptions['subscribe']>): Promise<Subscription> => {
        delivering.add(deliver);
        const begin = async (): Promise<void> => {
          if (network.refused-- > 0) throw apiError('cascade.server.unavailable');
          network.begun++;
        };
        return { ...(name !== undefined && { name, begin }), close: () => void delivering.delete(deliver) };
      },
      running: async () => space,
      served: async () => undefined,
      onError: (error: unknown) => expect(error).toMatchObject({ code: 'cascade.server.unavailable' }),
      onLapsed: (listener: number) => void network.lapsed.push(listener),
    } as unknown as FollowedOptions);
    handlers.set(
      epoch,
      followed.handlers((_name, work) => work(space)),
    );
    return followed;
  };
  const [owner, front] = [open(OWNER), open(FRONT)];
  return { owner, front, network, publish: (n: number) => [...delivering].forEach((deliver) => deliver(event(n))) };
}

test('a subscription for which an event was left out goes on with later ones', async () => {
  const { front, network, publish } = pair();
  const received: Notice[] = [];
  await front.subscribe(identity, '/topics/a', {}, (notice) => void received.push(notice));
  publish(1);
  network.isFull = true;
  publish(2);
  expect(network.lapsed).toEqual([FRONT]);
  network.isFull = false;
  await vi.waitFor(() => expect(network.sent.filter((method) => method === 'subscribe')).toHaveLength(2));
  publish(3);
  expect(received).toEqual([event(1), event(3)]);
});

test('a namespace is given up when its listeners have heard what was sent to them', async () => {
  const { owner, front, network } = pair();
  await front.subscribe(identity, '/topics/a', {}, () => undefined);
  let arrive = (): void => undefined;
  network.slow = new Promise((resolve) => (arrive = resolve));
  let isGivenUp = false;
  const closing = owner.closing('shop').then(() => (isGivenUp = true));
  await new Promise(setImmediate);
  expect(isGivenUp).toBe(false);
  arrive();
  await closing;
});

test('a new owner waits for listeners that live, not for those whose processes are gone', async () => {
  vi.useFakeTimers();
  const { owner, network } = pair([OWNER]);
  await owner.gather('shop', [OWNER, FRONT, 77]);
  expect(network.sent).toEqual([]);
  const { owner: other, network: asked } = pair();
  await other.gather('shop', [OWNER, FRONT, 77]);
  expect(asked.sent).toEqual(['attach', 'attached']);
});

test('who listens is written once an ownership, and again when that has failed', async () => {
  const written: [number, number][] = [];
  let isAway = true;
  const listeners = new Listeners({
    async addListener(_namespace, epoch, listener) {
      written.push([epoch, listener]);
      await Promise.resolve();
      if (isAway) throw new Error('away');
    },
  });
  const both = await Promise.allSettled([listeners.record('shop', 10, 2), listeners.record('shop', 10, 2)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']); // neither was answered as recorded
  isAway = false;
  for (const epoch of [10, 10, 11]) await listeners.record('shop', epoch, 2);
  expect(written).toEqual([
    [10, 2],
    [10, 2],
    [11, 2],
  ]);
});

test('an attachment that waited for its namespace does not take the subscription away from the one that the new owner asked for', async () => {
  const { owner, front, network, publish } = pair();
  const received: Notice[] = [];
  await front.subscribe(identity, '/topics/a', {}, (notice) => void received.push(notice));
  let open = (): void => undefined;
  network.open = new Promise((resolve) => (open = resolve));
  await owner.closing('shop');
  await owner.gather('shop', [FRONT]);
  open();
  await network.open;
  publish(1);
  expect(network.sent.filter((method) => method === 'subscribe')).toHaveLength(2);
  // The one that waited may be with the owner already.
  const handlers = owner.handlers((_name, work) => work(space));
  const late = { id: 1, turn: 2, identity, path: '/topics/a', options: '{}' };
  await handlers['subscribe']!(FRONT, { head: late, body: Buffer.alloc(0) });
  publish(2);
  expect(received).toEqual([event(1), event(2)]);
});

test('a subscription that a new owner has asked for finds the next one when that owner dies before it has it', async () => {
  const { front, network, publish } = pair();
  const received: Notice[] = [];
  await front.subscribe(identity, '/topics/a', {}, (notice) => void received.push(notice));
  const dead = 3;
  const handlers = front.handlers((_name, work) => work(space));
  await handlers['attach']!(dead, { head: { namespace: 'shop' }, body: Buffer.alloc(0) });
  front.dropped(dead);
  await vi.waitFor(() => expect(network.sent.filter((method) => method === 'subscribe')).toHaveLength(3));
  publish(1);
  expect(received).toEqual([event(1)]);
});

test('a persistent subscription whose stored events cannot be sent just now is attached again until they are', async () => {
  const { owner, front, network, publish } = pair([OWNER, FRONT], 'inbox');
  const received: Notice[] = [];
  const subscription = await front.subscribe(identity, '/topics/a', { persistent: true }, (notice) => void received.push(notice));
  await subscription.begin?.(async () => undefined);
  network.refused = 2;
  await owner.closing('shop');
  await vi.waitFor(() => expect(network.begun).toBe(2));
  publish(1);
  expect(received).toEqual([event(1)]);
});
