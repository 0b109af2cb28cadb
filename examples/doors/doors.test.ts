// What rules wait for, and what is planned, survives a service that is killed.
import { expect, test } from 'vitest';
import { startService } from '../../conformance/client/index.ts';
import { doors } from './chaos.ts';

test('pairs, time-outs and planned messages come once each through two kills', { timeout: 180_000 }, async () => {
  await using service = await startService();
  expect(await doors(service, 2, 20, 3)).toEqual({ kills: 2, wrong: [] });
});
