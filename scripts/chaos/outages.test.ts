import { expect, test, vi } from 'vitest';
import { Outages } from './outages.ts';

test('an outage is over with the first request that was sent after it began', () => {
  const outages = new Outages();
  let now = 0;
  using clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  expect(outages.within(0.5)).toBeNull();
  for (const [beganAt, sentAt, servedAt] of [
    [100, 150, 400],
    [1_000, 1_000, 1_100],
    [2_000, 2_010, 2_200],
  ] as const) {
    now = beganAt;
    outages.begin();
    now = servedAt;
    outages.served(beganAt - 1); // it was on its way before
    outages.served(sentAt);
    outages.served(sentAt + 1);
  }
  expect(clock).toHaveBeenCalled();
  expect([outages.within(0.5), outages.within(0.99)]).toEqual([200, 300]);
});
