// All hostile clients together against a service, while a neighbour's namespace works: what it waits in quiet and under attack, how long the main
// thread was kept, and what the processes hold.
import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RestClient, type StartedService } from '../../conformance/client/index.ts';
import { CLIENTS, MANY, PREPARED } from './clients.ts';
import { type Part, type Taken, takenBy } from './processes.ts';

export interface PoolOutcome {
  /** Milliseconds from the neighbour's insert to its rule's effect. */
  readonly quiet: Latencies;
  readonly attacked: Latencies;
  /** The same of a plain handler in a process of its own, by turns with the neighbour: what the machine and the database make of it. */
  readonly bare: { readonly quiet: Latencies; readonly attacked: Latencies };
  /** How often the main thread was kept for 20 ms and longer, and for longer than 50 ms, by cause, as the service counts. */
  readonly stalls: Stalls;
  /** By process: MB before, at most in each half of the attack, and some seconds after; processor seconds under attack. */
  readonly taken: Readonly<Record<Part, { readonly mb: readonly number[]; readonly seconds: number }>>;
  readonly answers: Map<string, Map<string, number>>;
  /** What is not right: what the neighbour lost, clients that were never answered. */
  readonly wrong: string[];
}

export type Stalls = Readonly<Record<string, { readonly all: number; readonly over50Ms: number }>>;

export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

const NEIGHBOUR = 'neighbour';
const ATTACKER = 'attacker';
const PASSWORD = 'a-long-way-from-here';
const ENDS_WITHIN_MS = 120_000;
const SETTLING_MS = 5_000;
/** Some 200 times: the 99th percentile is not the longest one. */
const QUIET_S = 15;

/** Not in the probe's own event loop, and with the processor time that nobody else wants: clients have machines of their own. */
const ON_OTHER_MACHINES: ForkOptions = { execPath: 'chrt', execArgv: ['--idle', '0', process.execPath] };

/** @param report told of what goes on */
export async function pool(service: StartedService, seconds: number, report: (line: string) => void): Promise<PoolOutcome> {
  const client = new RestClient(service.url, 4, ENDS_WITHIN_MS);
  const neighbour = new RestClient(service.url, 2, ENDS_WITHIN_MS);
  const wrong: string[] = [];
  const bare = fork(programOf('./bare-neighbour.js'), [mongoUriOf(service.dataDir)]);
  try {
    const [barePort] = (await once(bare, 'message')) as [number];
    await client.login(service.user, service.password);
    await makeNamespace(client, NEIGHBOUR);
    await neighbour.login(NEIGHBOUR, PASSWORD);
    await must(neighbour, 'POST', '/types', { name: 'Trap', properties: { n: { type: 'Integer' } } });
    // Found by an index: in ten minutes it grows to ten thousand rows.
    await must(neighbour, 'POST', '/types', { name: 'Heap', properties: { n: { type: 'Integer', indexed: true } } });
    await must(neighbour, 'POST', '/rules', 'RULE probe WHEN INSERT OCCURS ON Trap AS t INSERT Heap(n: t.n)');
    const token = await prepareAttacker(service.url, client);
    report('the neighbour in quiet');
    const probed = [probeOf(neighbour), bareProbe(barePort)];
    const [quietMs = [], bareQuietMs = []] = await probe(probed, 0, Math.max(QUIET_S, seconds / 10), wrong);
    const before = takenBy(service.process.pid ?? 0);
    const stallsBefore = await stallsOf(service.url);
    const looks: Record<Part, Taken>[] = [];
    const looking = setInterval(() => looks.push(takenBy(service.process.pid ?? 0)), 500);
    report(`${CLIENTS.reduce((sum, { at }) => sum + at, 0)} clients of ${CLIENTS.length} kinds for ${seconds} s`);
    const attackers = fork(programOf('./attackers.js'), [service.url, token], ON_OTHER_MACHINES);
    const attacking = Promise.race([once(attackers, 'message'), diedEarly(attackers)]) as Promise<[[string, [string, number][]][]]>;
    attacking.catch(() => undefined); // its error is told when it is awaited
    const [attackedMs = [], bareAttackedMs = []] = await probe(probed, quietMs.length, seconds, wrong);
    attackers.send('stop');
    const answers = new Map((await attacking)[0].map(([does, how]) => [does, new Map(how)]));
    clearInterval(looking);
    await sleep(SETTLING_MS);
    const after = takenBy(service.process.pid ?? 0);
    const takenOf = (part: Part): PoolOutcome['taken'][Part] => {
      const under = looks.map((taken) => taken[part]);
      const mb = [before[part].mb, ...mostOfHalves(under.map((taken) => taken.mb)), after[part].mb];
      return { mb, seconds: (under.at(-1)?.seconds ?? 0) - before[part].seconds };
    };
    for (const [does, how] of answers) if (how.size === 0) wrong.push(`nobody was answered who ${does}`);
    const inserted = quietMs.length + attackedMs.length;
    const counted = await must(neighbour, 'POST', '/custom/Heap/aggregate', [{ $count: 'n' }]);
    const effects = (JSON.parse(counted) as { n: number }[])[0]?.n ?? 0;
    if (effects !== inserted) wrong.push(`the neighbour has inserted ${inserted}, and its rule ${effects}`);
    return {
      quiet: latencies(quietMs),
      attacked: latencies(attackedMs),
      bare: { quiet: latencies(bareQuietMs), attacked: latencies(bareAttackedMs) },
      stalls: difference(await stallsOf(service.url), stallsBefore),
      taken: { service: takenOf('service'), mongod: takenOf('mongod'), sandbox: takenOf('sandbox') },
      answers,
      wrong,
    };
  } finally {
    client.close();
    neighbour.close();
    bare.kill();
  }
}

const programOf = (file: string): string => new URL(import.meta.resolve(file)).pathname;

/** Of the database that the service keeps in its folder. */
function mongoUriOf(dataDir: string): string {
  const read = (file: string): Record<string, unknown> => JSON.parse(readFileSync(join(dataDir, file), 'utf8')) as Record<string, unknown>;
  const { name, password } = read('mongod.user.json');
  return `mongodb://${name}:${password}@127.0.0.1:${read('mongod.json')['port']}/?directConnection=true&authSource=admin`;
}

/** Rejects when the process of the clients has ended. */
async function diedEarly(attackers: ChildProcess): Promise<never> {
  const [code, signal] = await once(attackers, 'exit');
  throw new Error(`the hostile clients ended with ${code ?? signal} before they were asked`);
}

async function must(client: RestClient, method: string, path: string, body: unknown): Promise<string> {
  const given = typeof body === 'string' ? { text: body } : { text: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const { status, text } = await client.send(method, path, given);
  if (status >= 300) throw new Error(`${method} ${path}: ${text}`);
  return text;
}

const makeNamespace = (client: RestClient, namespace: string): Promise<string> =>
  must(client, 'POST', '/namespaces', { namespace, organization: { name: namespace }, username: namespace, password: PASSWORD });

/** A namespace with what the clients ask for. @returns a token there */
async function prepareAttacker(url: string, client: RestClient): Promise<string> {
  await makeNamespace(client, ATTACKER);
  const attacker = new RestClient(url, 1, ENDS_WITHIN_MS);
  try {
    await attacker.login(ATTACKER, PASSWORD);
    await must(attacker, 'POST', '/types', { name: 'Trap', properties: { what: { type: 'String' }, o: { type: 'Object' } } });
    const heap = { n: { type: 'Integer' }, s: { type: 'String' }, o: { type: 'Object' } };
    await must(attacker, 'POST', '/types', { name: 'Heap', properties: heap });
    const vast = { code: { type: 'String' }, n: { type: 'Integer' }, o: { type: 'Object' } };
    await must(attacker, 'POST', '/types', { name: 'Vast', naturalKey: ['code'], properties: vast });
    for (let i = 0; i < 5; i++) {
      const rows = Array.from({ length: 1_000 }, (_, n) => ({ n: i * 1_000 + n, s: `${'ab'.repeat(100)}${n}` }));
      await must(attacker, 'POST', '/custom/Heap', rows);
    }
    for (const text of PREPARED) await must(attacker, 'POST', '/procedures', text);
    await must(attacker, 'POST', '/projects/*', JSON.parse(MANY));
    const made = await must(attacker, 'POST', '/tokens', { name: 'attack' });
    return (JSON.parse(made) as { accessToken: string }).accessToken;
  } finally {
    attacker.close();
  }
}

/** One insert, and looks until its effect is there. */
interface Probed {
  insert(n: number): Promise<unknown>;
  isThere(n: number): Promise<boolean>;
}

const probeOf = (neighbour: RestClient): Probed => ({
  insert: (n) => must(neighbour, 'POST', '/custom/Trap', { n }),
  isThere: async (n) => {
    const { text } = await neighbour.send('GET', `/custom/Heap?where=${encodeURIComponent(JSON.stringify({ n }))}`, {});
    return text.includes('_id');
  },
});

const bareProbe = (port: number): Probed => ({
  insert: async (n) => (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: JSON.stringify({ n }) })).text(),
  isThere: async (n) => (await (await fetch(`http://127.0.0.1:${port}/?n=${n}`)).text()).includes('_id'),
});

/** By turns, so that all of them see the same attack. @returns by probe, how long each of its inserts took to its effect, ms */
async function probe(all: readonly Probed[], from: number, seconds: number, wrong: string[]): Promise<number[][]> {
  const took = all.map((): number[] => []);
  const until = performance.now() + seconds * 1_000;
  for (let n = from + 1; performance.now() < until; n++)
    for (const [at, { insert, isThere }] of all.entries()) {
      const begun = performance.now();
      await insert(n);
      while (!(await isThere(n))) {
        if (performance.now() - begun > ENDS_WITHIN_MS) {
          wrong.push('the neighbour is not answered');
          return took;
        }
        await sleep(1);
      }
      took[at]!.push(performance.now() - begun);
      await sleep(20);
    }
  return took;
}

function mostOfHalves(values: readonly number[]): [number, number] {
  const half = Math.ceil(values.length / 2);
  return [Math.max(0, ...values.slice(0, half)), Math.max(0, ...values.slice(half))];
}

function latencies(all: readonly number[]): Latencies {
  const sorted = [...all].sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), most: sorted.at(-1) ?? 0 };
}

async function stallsOf(url: string): Promise<Stalls> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const count = (name: string, labels: string): Map<string, number> =>
    new Map(
      [...text.matchAll(new RegExp(`^${name}\\{${labels}cause="(\\w+)"\\} (\\d+)$`, 'gm'))].map(([, cause = '', n]) => [cause, Number(n)]),
    );
  const within = count('cascade_stall_seconds_bucket', 'le="0\\.05",');
  return Object.fromEntries(
    [...count('cascade_stall_seconds_count', '')].map(([cause, all]) => [cause, { all, over50Ms: all - (within.get(cause) ?? 0) }]),
  );
}

const difference = (now: Stalls, before: Stalls): Stalls =>
  Object.fromEntries(
    Object.entries(now).map(([cause, { all, over50Ms }]) => [
      cause,
      { all: all - (before[cause]?.all ?? 0), over50Ms: over50Ms - (before[cause]?.over50Ms ?? 0) },
    ]),
  );
