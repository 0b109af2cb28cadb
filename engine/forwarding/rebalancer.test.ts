// The checks of a process among several: what takes long to close keeps neither them nor a namespace's requests waiting.
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import type { OpenNamespace } from '../namespace.ts';
import { Rebalancer, type RebalancerOptions } from './rebalancer.ts';

const WITHIN = { timeout: 15_000 };

interface World {
  readonly owned: readonly string[];
  readonly winner: number;
  readonly isAtRest: () => boolean;
  readonly close: (name: string) => Promise<void>;
  /** Processes that this one has had messages of. */
  readonly peers?: readonly number[];
}

function rebalancerOf({ owned, winner, isAtRest, close, peers = [] }: World) {
  let claims = 0;
  const dropped: number[] = [];
  const space = { hasState: false, hasListeners: false, isAtRest: async () => isAtRest() } as OpenNamespace;
  const options = {
    process: { epoch: 1, others: [{ epoch: 2 }], claim: async () => (claims++, []) },
    owners: { abandoned: async () => [] },
    namespaces: {
      names: owned,
      idle: () => owned,
      running: async () => space,
      openAll: async () => undefined,
      close: (name: string) => close(name),
    },
    routes: { winnerOf: () => winner },
    calls: { peers, drop: (epoch: number) => void dropped.push(epoch), look: () => undefined },
    exclusive: false,
    idleAfterMs: 0,
    isServing: () => true,
    log: pino({ level: 'silent' }),
  };
  return { rebalancer: new Rebalancer(options as unknown as RebalancerOptions), claims: () => claims, dropped };
}

test('dead processes are looked for while a namespace is being closed', async () => {
  const closed: string[] = [];
  let ended = (): void => undefined;
  const draining = new Promise<void>((resolve) => (ended = resolve));
  const close = (name: string): Promise<void> => {
    closed.push(name);
    return draining;
  };
  const { rebalancer, claims } = rebalancerOf({ owned: ['slow'], winner: 2, isAtRest: () => true, close });
  rebalancer.look();
  await vi.waitFor(() => expect(closed).toEqual(['slow']), WITHIN);
  const before = claims();
  rebalancer.look();
  await vi.waitFor(() => expect(claims()).toBeGreaterThan(before), WITHIN);
  ended();
  await rebalancer[Symbol.asyncDispose]();
});

test('an idle namespace with work under way is not begun to be closed', async () => {
  const closed: string[] = [];
  let isAtRest = false;
  const asked: boolean[] = [];
  const { rebalancer } = rebalancerOf({
    owned: ['busy'],
    winner: 1,
    isAtRest: () => (asked.push(isAtRest), isAtRest),
    close: async (name) => void closed.push(name),
  });
  rebalancer.look();
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0), WITHIN);
  expect(closed).toEqual([]);
  isAtRest = true;
  rebalancer.look();
  await vi.waitFor(() => expect(closed).toEqual(['busy']), WITHIN);
  expect(asked).toContain(false);
  await rebalancer[Symbol.asyncDispose]();
});

test('a process that was gone before a check saw it is dropped, as others are', async () => {
  const { rebalancer, dropped } = rebalancerOf({ owned: [], winner: 1, isAtRest: () => true, close: async () => undefined, peers: [2, 3] });
  rebalancer.look();
  await vi.waitFor(() => expect(dropped).toEqual([3]), WITHIN);
  await rebalancer[Symbol.asyncDispose]();
});
