import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Egress } from '../../../platform/egress/index.ts';
import { openHttpServer } from '../testing/http-server.ts';
import { openHttpClient } from './index.ts';

test('a request does not time out before its deadline, whatever the phase of the coarse timer', async () => {
  await using server = await openHttpServer(() => undefined);
  await using client = await openHttpClient({ outlet: new Egress({ allowed: ['127.0.0.0/8'] }).outletOf('a') });
  const ask = { url: new URL(server.url), method: 'GET', headers: [], body: null, timeoutMs: 1_200 };
  const asked = [];
  for (let n = 0; n < 8; n++) {
    const since = performance.now();
    const waited = client.ask(ask).catch((error: unknown) => ({ error, ms: performance.now() - since }));
    asked.push(waited);
    await sleep(110);
  }
  for (const given of await Promise.all(asked)) {
    expect(given).toMatchObject({ error: { kind: 'timeout', message: 'no data within 1200 ms' } });
    expect((given as { ms: number }).ms).toBeGreaterThanOrEqual(1_190);
  }
});
