// Statements on nodes: a SELECT that ten nodes process beside ten direct requests of a client to the same nodes; and what 1 to 1,000 simulated nodes cost
// the installation that asks them, in time, processor and memory.
import { readFile } from 'node:fs/promises';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import type { Effort } from '../compare.ts';
import { cpuSeconds, expectOk } from '../processes.ts';
import { type Figure, median, progress } from '../report/index.ts';
import { openSimulatedNodes } from './simulated.ts';

const NODES = 10;
const ROWS = 10;
const WIDTHS = [1, 10, 100, 1_000];
const SCHEMES = ['http', 'ws'] as const;

const JSON_TYPE = { 'Content-Type': 'application/json' };
const sent = (value: unknown) => ({ text: JSON.stringify(value), headers: JSON_TYPE });
const program = (text: string) => ({ text, headers: { 'Content-Type': 'text/plain' } });

/** One operation after the other on each of so many lines, for a while. */
async function loaded(lines: number, seconds: number, operation: () => Promise<void>): Promise<{ count: number; ms: number[] }> {
  const ms: number[] = [];
  const until = performance.now() + seconds * 1_000;
  const line = async (): Promise<void> => {
    while (performance.now() < until) {
      const began = performance.now();
      await operation();
      ms.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
  return { count: ms.length, ms: ms.sort((a, b) => a - b) };
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;

async function loggedIn({ url, user, password }: StartedService, connections = 64): Promise<RestClient> {
  const client = new RestClient(url, connections);
  await client.login(user, password);
  return client;
}

async function expectRows(client: RestClient, procedure: string, count: number): Promise<void> {
  const reply = await client.send('POST', `/procedures/${procedure}`, sent([]));
  if (reply.text !== String(count)) throw new Error(`${procedure}: ${reply.status} ${reply.text} in place of ${count} rows`);
}

const asking = (name: string, condition: string): string =>
  `PROCEDURE ${name}()\nvar n = 0\nSELECT FROM BenchRow AS r PROCESSED BY ${condition} { n = n + 1 }\nreturn n`;

export async function* nodesBench(effort: Effort): AsyncIterable<Figure> {
  await using near = await startService({ args: ['--outbound-addresses', '127.0.0.0/8'] });
  const caller = await loggedIn(near);
  yield* besideDirect(near, caller, effort);
  yield* wide(near, caller, effort);
  caller.close();
}

/** Nodes are all one installation: so much work is done there, whoever asks. */
async function* besideDirect(near: StartedService, caller: RestClient, { rounds: count, seconds }: Effort): AsyncIterable<Figure> {
  await using far = await startService();
  const client = await loggedIn(far, 640);
  await expectOk(client, 'POST', '/types', sent({ name: 'BenchRow', properties: { k: { type: 'Integer' } } }));
  await expectOk(client, 'POST', '/custom/BenchRow', sent(Array.from({ length: ROWS }, (_, k) => ({ k }))));
  for (const scheme of SCHEMES) {
    const uri = far.url.replace('http', scheme);
    const login = { credentialType: 'token', accessToken: client.token, deliveryMode: 'bestEffort' };
    for (let n = 0; n < NODES; n++)
      await expectOk(caller, 'POST', '/nodes', sent({ name: `${scheme}${n}`, uri, ...login, properties: { scheme } }));
    await expectOk(caller, 'POST', '/procedures', program(asking(`ask_${scheme}`, `properties.scheme == "${scheme}"`)));
    await expectRows(caller, `ask_${scheme}`, NODES * ROWS);
  }
  const direct = async (): Promise<void> => {
    await Promise.all(Array.from({ length: NODES }, () => client.send('GET', '/custom/BenchRow')));
  };
  const contestants: Record<string, () => Promise<void>> = {
    'PROCESSED BY over http': () => expectRows(caller, 'ask_http', NODES * ROWS),
    'PROCESSED BY over ws': () => expectRows(caller, 'ask_ws', NODES * ROWS),
    'ten direct requests': direct,
  };
  for (const lines of [1, 16]) {
    const name = `a SELECT on ${NODES} nodes, ${lines} at a time`;
    const rounds: Record<string, number[]> = {};
    const noted: Record<string, Record<string, number[]>> = {};
    for (let round = 0; round <= count; round++)
      for (const [who, operation] of Object.entries(contestants)) {
        progress(`${name}: ${who}, ${round === 0 ? 'warming' : `round ${round} of ${count}`}`);
        const before = [await cpuSeconds(near.process.pid ?? 0), await cpuSeconds(far.process.pid ?? 0)] as const;
        const { count: done, ms } = await loaded(lines, round === 0 ? seconds / 2 : seconds, operation);
        if (round === 0) continue;
        (rounds[who] ??= []).push(done / seconds);
        const notes: Record<string, number> = {
          'p50 ms': quantile(ms, 0.5),
          'p99 ms': quantile(ms, 0.99),
          'CPU ms of the caller': (((await cpuSeconds(near.process.pid ?? 0)) - before[0]) / done) * 1_000,
          'CPU ms of the nodes': (((await cpuSeconds(far.process.pid ?? 0)) - before[1]) / done) * 1_000,
        };
        for (const [what, value] of Object.entries(notes)) ((noted[who] ??= {})[what] ??= []).push(value);
      }
    const besides = Object.fromEntries(
      Object.entries(noted).map(([who, notes]) => [
        who,
        Object.fromEntries(Object.entries(notes).map(([what, all]) => [what, median(all)])),
      ]),
    );
    yield { name, unit: 'statements/s', rounds, besides };
  }
  for (const scheme of SCHEMES) for (let n = 0; n < NODES; n++) await expectOk(caller, 'DELETE', `/nodes/${scheme}${n}`, {});
  client.close();
}

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

async function* wide(near: StartedService, caller: RestClient, { rounds: count, seconds }: Effort): AsyncIterable<Figure> {
  await using simulated = await openSimulatedNodes(Array.from({ length: ROWS }, (_, k) => ({ _id: String(k), k })));
  const pid = near.process.pid ?? 0;
  const login = { username: 'bench', password: 'simulated', deliveryMode: 'bestEffort' };
  let registered = 0;
  for (const width of WIDTHS) {
    for (; registered < width; registered++)
      for (const scheme of SCHEMES) {
        const uri = `${scheme}://127.0.0.1:${simulated.port}`;
        await expectOk(
          caller,
          'POST',
          '/nodes',
          sent({ name: `wide_${scheme}${registered}`, uri, ...login, properties: { wide: scheme } }),
        );
      }
    const rounds: Record<string, number[]> = {};
    const besides: Record<string, Record<string, number>> = {};
    for (const scheme of SCHEMES) {
      await expectOk(caller, 'POST', '/procedures', program(asking(`wide_${scheme}`, `properties.wide == "${scheme}"`)));
      const resident = await residentMiB(pid);
      await expectRows(caller, `wide_${scheme}`, width * ROWS);
      besides[scheme] = { 'MiB more after the first statement': (await residentMiB(pid)) - resident };
    }
    const cpu: Record<string, number[]> = {};
    for (let round = 1; round <= count; round++)
      for (const scheme of SCHEMES) {
        progress(`${width} simulated nodes over ${scheme}, round ${round} of ${count}`);
        const before = await cpuSeconds(pid);
        const { count: done } = await loaded(1, seconds, () => expectRows(caller, `wide_${scheme}`, width * ROWS));
        (rounds[scheme] ??= []).push((done * width) / seconds);
        (cpu[scheme] ??= []).push((((await cpuSeconds(pid)) - before) / (done * width)) * 1_000);
      }
    for (const scheme of SCHEMES) Object.assign(besides[scheme] ?? {}, { 'CPU ms a node': median(cpu[scheme] ?? []) });
    yield { name: `${width} simulated nodes`, unit: 'nodes asked/s', rounds, besides };
  }
}
