import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Outlet } from '../../../platform/egress/index.ts';
import { outletUntil } from './outlet-until.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const target = { host: 'broker', port: 1883, timeoutMs: 1 };
const outlet = { connect: async () => new Socket(), secure: async () => new Socket() } as unknown as Outlet;

// spec: integrations.md 1.2
test('a socket that a connection leaves open is ended with it, after the time for its last bytes', async () => {
  const over = new AbortController();
  const until = outletUntil(outlet, over.signal);
  const [plain, secured] = [await until.connect(target), await until.secure(new Socket(), { ...target, tls: {} })];
  over.abort();
  expect([plain.destroyed, secured.destroyed]).toEqual([false, false]);
  const late = await until.connect(target);
  vi.advanceTimersByTime(5_000);
  expect([plain.destroyed, secured.destroyed, late.destroyed]).toEqual([true, true, true]);
});
