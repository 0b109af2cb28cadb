// HTTP services outside: a request becomes a query of one, and what polls of one bring starts a rule that sends something back. Beside it a script by hand
// with undici and Node-RED, with the same service outside, in turn.
import { setTimeout as sleep } from 'node:timers/promises';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { compare, type Effort } from '../compare.ts';
import { HTTP, httpRequest } from '../load.ts';
import { startNodeRed } from '../node-red.ts';
import { cpuSeconds, expectOk, startBaseline, tokenOf } from '../processes.ts';
import { type Figure, median, progress, timesAsMuch } from '../report/index.ts';
import { remoteFlow } from './flow.ts';
import { openUpstream, type Upstream } from './upstream.ts';

/** Sources, each of which is polled once a second. */
const POLLS = 100;
const CONNECTIONS = [1, 32];
const OURS = 'cascade';
const SETTLE_MS = 2_000;

export async function* remoteBench(effort: Effort): AsyncIterable<Figure> {
  await using upstream = await openUpstream();
  await using service = await startService({ args: ['--outbound-addresses', '127.0.0.1'], expects: 'any' });
  await define(service, upstream);
  const script = await startBaseline(new URL('./script.js', import.meta.url), [upstream.url, String(POLLS)]);
  try {
    await using nodeRed = await startNodeRed(remoteFlow(upstream.url, POLLS));
    await answersOk(`${nodeRed.url}/query`);
    const pids = { [OURS]: service.process.pid ?? 0, script: script.process.pid ?? 0, 'node-red': nodeRed.process.pid ?? 0 };
    const token = await tokenOf(service.url, service.user, service.password);
    const asking = httpRequest('POST', '/query', {}, '{}');
    const urls = { script: script.url, 'node-red': nodeRed.url };
    for (const connections of CONNECTIONS) {
      const name = `REMOTE: a query for each request, ${connections} at a time`;
      const own = httpRequest('POST', '/api/v1/resources/procedures/ask', { Authorization: `Bearer ${token}` }, '{}');
      const figure = await compare(
        { name, unit: 'queries a second', connections, mongodPid: 0 },
        [
          { name: OURS, url: service.url, pid: pids[OURS] ?? 0, protocol: HTTP, request: () => own },
          ...Object.entries(urls).map(([who, url]) => ({
            name: who,
            url,
            pid: pids[who as keyof typeof pids],
            protocol: HTTP,
            request: () => asking,
          })),
        ],
        effort,
      );
      yield { ...figure, aims: [...timesAsMuch(figure.rounds, OURS, 'script', 0.7), ...timesAsMuch(figure.rounds, OURS, 'node-red', 1)] };
    }
    yield await polled(upstream, pids, effort);
  } finally {
    script.process.kill('SIGKILL');
  }
}

/** @throws when it does not within a minute */
async function answersOk(url: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const reply = await fetch(url, { method: 'POST' }).catch(() => null); // it is still starting
    if (reply?.ok) return;
    await sleep(100);
  }
  throw new Error(`${url} does not answer`);
}

async function polled(upstream: Upstream, pids: Readonly<Record<string, number>>, { rounds: count, seconds }: Effort): Promise<Figure> {
  const rounds: Record<string, number[]> = {};
  const noted: Record<string, { p99: number[]; cpu: number[] }> = {};
  for (let round = 0; round <= count; round++)
    for (const [who, pid] of Object.entries(pids)) {
      progress(`polls: ${who}, ${round === 0 ? 'warming' : `round ${round} of ${count}`}`);
      const before = await cpuSeconds(pid);
      const turn = upstream.turnOf(who);
      await sleep(Math.max(2, seconds) * 1_000);
      const { brought, late } = turn;
      const spent = (await cpuSeconds(pid)) - before;
      if (brought === 0) throw new Error(`${who} polls nothing`);
      for (const until = performance.now() + SETTLE_MS; turn.back < brought && performance.now() < until; ) await sleep(20);
      if (turn.back < brought) throw new Error(`${brought - turn.back} of ${brought} polls of ${who} did not come back`);
      if (round === 0) continue;
      (rounds[who] ??= []).push(late.percentile(50));
      const notes = (noted[who] ??= { p99: [], cpu: [] });
      notes.p99.push(late.percentile(99) / 1_000);
      notes.cpu.push((spent / brought) * 1e6);
    }
  const besides = Object.fromEntries(
    Object.entries(noted).map(([who, { p99, cpu }]) => [who, { 'p99 ms': median(p99), 'µs of CPU a poll': median(cpu) }]),
  );
  const own = median(rounds[OURS] ?? []) / median(rounds['node-red'] ?? []);
  return {
    name: `REMOTE: ${POLLS} polls a second, each of which starts a rule that sends something back`,
    unit: 'µs from the answer to a poll until that is there, p50',
    rounds,
    besides,
    aims: [{ what: 'p50 cascade / node-red', is: own, side: 'atMost', bound: 0.5 }],
  };
}

/** A source to query, and so many that poll. */
async function define({ url, user, password }: StartedService, upstream: Upstream): Promise<void> {
  const client = new RestClient(url);
  await client.login(user, password);
  const source = async (name: string, more: object): Promise<void> => {
    const text = JSON.stringify({ name, type: 'REMOTE', config: { uri: `${upstream.url}/`, ...more } });
    await expectOk(client, 'POST', '/sources', { text, headers: { 'Content-Type': 'application/json' } });
  };
  const program = (resource: string, text: string): Promise<void> =>
    expectOk(client, 'POST', `/${resource}`, { text, headers: { 'Content-Type': 'text/plain' } });
  await source('asked', {});
  await program('procedures', `PROCEDURE ask()\nSELECT ONE FROM SOURCE asked AS v WITH path = "value"\nreturn v`);
  for (let n = 0; n < POLLS; n++) {
    const name = `polled${n}`;
    const taken = `PUBLISH { body: { n: m.n, level: m.level } } TO SOURCE ${name} USING { path: "taken/" + m.n, method: "PUT" }`;
    await source(name, { pollingInterval: 1, topics: [`poll/${OURS}/${n}`] });
    await program('rules', `RULE sendsBack${n} WHEN MESSAGE ARRIVES FROM ${name} AS m ${taken}`);
  }
  client.close();
}
