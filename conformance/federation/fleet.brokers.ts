// Four installations with databases of their own, and what networks and processes do to them: all scenarios, partitions in the middle of
// statements, peers that die, answers that are cut, connections that only seem to stand. A step of the nightly run.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Fleet, must, openFleet, until } from './fleet.ts';
import { play, SCENARIOS } from './scenarios.ts';

let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet({ far: 'three', expects: 'any' });
});
afterAll(() => fleet?.[Symbol.asyncDispose]());

const ROWS = 5_000;
/** All rows of the nodes, with a pause here and there, so that something can happen in between. */
const COUNT = `PROCEDURE countAll(ms)
var n = 0
var failed = []
SELECT FROM Crate AS c PROCESSED BY ALL WITHIN ms { n = n + 1 } ON ERROR (e) { push(failed, [e.node.name, e.error.code]) }
return [n, failed]`;
const TIMEOUT = 'io.service.federation.request.timeout';
const UNREACHABLE = 'cascade.federation.unreachable';

async function countAll(within: number): Promise<{ n: number; failed: [string, string][]; ms: number }> {
  const began = performance.now();
  const reply = await fleet.caller.send('POST', '/procedures/countAll', {
    text: JSON.stringify([within]),
    headers: { 'Content-Type': 'application/json' },
  });
  if (reply.status >= 300) throw new Error(reply.text);
  const [n, failed] = JSON.parse(reply.text) as [number, [string, string][]];
  return { n, failed, ms: performance.now() - began };
}

describe.each(['http', 'ws'] as const)('over %s', (scheme) => {
  beforeAll(() => fleet.speak(scheme));

  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    await expect(play(fleet, scenario)).resolves.toBeUndefined();
  });

  describe('in the middle of a statement', () => {
    beforeAll(async () => {
      const crates = Array.from({ length: ROWS }, (_, k) => ({ k, text: 'x'.repeat(200) }));
      for (const { client } of Object.values(fleet.nodes)) {
        const has = (await client.send('GET', '/types/Crate')).status === 200;
        if (has) continue;
        await must(client, 'POST', '/types', { name: 'Crate', properties: { k: { type: 'Integer' }, text: { type: 'String' } } });
        await must(client, 'POST', '/custom/Crate', crates);
      }
      await must(fleet.caller, 'POST', '/procedures', COUNT);
    });
    afterEach(async () => {
      for (const { proxy } of Object.values(fleet.nodes)) {
        proxy.delayMs = 0;
        await proxy.become('open');
      }
      await until(async () => (await countAll(60_000)).failed.length === 0);
    });

    test('nothing happens', async () => {
      expect(await countAll(60_000)).toMatchObject({ n: 3 * ROWS, failed: [] });
    });

    test('answers are late, but in time', async () => {
      for (const { proxy } of Object.values(fleet.nodes)) proxy.delayMs = 50;
      expect(await countAll(60_000)).toMatchObject({ n: 3 * ROWS, failed: [] });
    });

    test('a partition ends in the time-out of its node, within WITHIN', async () => {
      const { n2 } = fleet.nodes;
      for (const { proxy } of Object.values(fleet.nodes)) proxy.delayMs = 20;
      const counting = countAll(4_000);
      await sleep(30);
      await n2.proxy.become('silent');
      const { n, failed, ms } = await counting;
      expect(failed).toEqual([['n2', TIMEOUT]]);
      expect(n).toBeGreaterThanOrEqual(2 * ROWS);
      expect(n).toBeLessThan(3 * ROWS);
      expect(ms).toBeGreaterThanOrEqual(4_000);
    });

    test('an answer that is cut is an unreachable node; what came before stays', async () => {
      fleet.nodes.n3.proxy.cutAfter(500_000);
      const { n, failed } = await countAll(60_000);
      expect(failed).toEqual([['n3', UNREACHABLE]]);
      expect(n).toBeGreaterThanOrEqual(2 * ROWS);
      expect(n).toBeLessThan(3 * ROWS);
    });

    test('a process that is killed is an unreachable node, and is asked again when it is back', async () => {
      const { n1 } = fleet.nodes;
      for (const { proxy } of Object.values(fleet.nodes)) proxy.delayMs = 100;
      const counting = countAll(60_000);
      await sleep(50);
      await n1.service.kill();
      const { n, failed } = await counting.finally(() => n1.service.restart());
      expect(failed).toEqual([['n1', UNREACHABLE]]);
      expect(n).toBeGreaterThanOrEqual(2 * ROWS);
    });

    test('a connection that only seems to stand costs no more than WITHIN, and not for ever', async () => {
      await countAll(60_000);
      const { n1 } = fleet.nodes;
      await n1.proxy.become('silent');
      expect((await countAll(5_000)).failed).toEqual([['n1', TIMEOUT]]);
      await n1.proxy.become('open'); // what was swallowed is lost: those connections are never answered again
    });
  });
});
