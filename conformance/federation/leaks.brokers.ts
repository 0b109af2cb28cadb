// Ten thousand statements over nodes whose network fails in the middle of them: each ends as it should, and leaves nothing behind. A step of the
// nightly run.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fleet, must, type NodeName, openFleet, until } from './fleet.ts';

const STATEMENTS = 10_000;
const EACH = 25;
const LINES = 4;
/** What a process may be larger by after eight times as many statements. */
const MOST_GROWN_MIB = 64;
const ERRORS: ReadonlySet<string> = new Set(['io.service.federation.request.timeout', 'cascade.federation.unreachable']);
const MANY = `PROCEDURE askMany()
var n = 0
var failed = {}
for (i in range(1, ${EACH}, 1)) {
  SELECT FROM Bin AS b PROCESSED BY ALL WITHIN 1 second { n = n + 1 } ON ERROR (e) { failed[e.error.code] = true }
}
return [n, failed]`;

let fleet: Fleet;
beforeAll(async () => {
  // With little room for garbage, what is kept shows.
  fleet = await openFleet({ far: 'one', expects: 'any', env: { NODE_OPTIONS: '--max-old-space-size=192' } });
  await must(fleet.caller, 'POST', '/procedures', MANY);
});
afterAll(() => fleet?.[Symbol.asyncDispose]());

function socketsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:');
    } catch {
      return false; // it is closed by now
    }
  }).length;
}

const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;

/** Until so many statements are done. @returns the codes of their errors */
async function ask(statements: number, disturbs: boolean): Promise<{ codes: Set<string>; longestMs: number }> {
  const codes = new Set<string>();
  let [left, longestMs] = [statements / EACH, 0];
  const stop = new AbortController();
  const disturbing = disturbs ? disturb(stop.signal) : undefined;
  const line = async (): Promise<void> => {
    while (left-- > 0) {
      const began = performance.now();
      const reply = await fleet.caller.send('POST', '/procedures/askMany', { body: [] });
      longestMs = Math.max(longestMs, performance.now() - began);
      if (reply.status >= 300) throw new Error(reply.text);
      for (const code of Object.keys((JSON.parse(reply.text) as [number, Record<string, true>])[1])) codes.add(code);
    }
  };
  await Promise.all(Array.from({ length: LINES }, line));
  stop.abort();
  await disturbing;
  return { codes, longestMs };
}

async function disturb(stop: AbortSignal): Promise<void> {
  const nodes = Object.values(fleet.nodes);
  for (let n = 0; !stop.aborted; n++) {
    const { proxy } = nodes[n % nodes.length]!;
    if (n % 4 === 0) proxy.cut();
    else if (n % 4 === 1) proxy.cutAfter(2_000);
    else {
      await proxy.become(n % 4 === 2 ? 'silent' : 'refused');
      await sleep(300);
      await proxy.become('open');
      proxy.cut();
    }
    await sleep(200);
  }
}

test.each(['http', 'ws'] as const)('%s', async (scheme) => {
  await fleet.speak(scheme);
  // Each login with a password costs the nodes half a second, and each cut of a WebSocket is a login.
  for (const [name, { client }] of Object.entries(fleet.nodes))
    await fleet.register(name as NodeName, { credentialType: 'token', accessToken: client.token });
  const pid = fleet.near.process.pid!;
  await ask(STATEMENTS / 10, true);
  const settled = async (): Promise<number> => {
    await until(async () => (await ask(EACH, false)).codes.size === 0);
    await sleep(6_000); // connections without a request are closed after four seconds
    return socketsOf(pid);
  };
  const sockets = await settled();
  const resident = residentMiB(pid);
  const { codes, longestMs } = await ask(STATEMENTS, true);
  expect([...codes].filter((code) => !ERRORS.has(code))).toEqual([]);
  expect(codes.size).toBeGreaterThan(0);
  expect(longestMs, 'each statement ends within WITHIN').toBeLessThan(EACH * 2_000);
  const [after, grown] = [await settled(), residentMiB(pid) - resident];
  console.log(
    `${scheme}: ${STATEMENTS} statements; sockets ${sockets}, then ${after}; ${resident.toFixed(0)} MiB, then ${grown.toFixed(0)} more`,
  );
  expect(after).toBeLessThanOrEqual(sockets + Object.keys(fleet.nodes).length);
  expect(grown).toBeLessThan(MOST_GROWN_MIB);
});
