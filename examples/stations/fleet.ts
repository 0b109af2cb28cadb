// The installations of the example: definitions, data and nodes of each, all through the REST API.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Reply, RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { readFeatures } from '../earthquakes/quakes.ts';

/** Which networks report to which station; all others report to the islands. */
export const STATIONS: Readonly<Record<string, readonly string[]>> = {
  alaska: ['ak', 'av', 'at'],
  california: ['ci', 'nc', 'nn'],
  islands: [],
};
const ANSWER_WITHIN_MS = 60_000;

export interface Outcome {
  readonly answers: readonly { readonly station: string; readonly place: string; readonly magnitude: number }[];
  readonly silent: readonly { readonly station: string; readonly why: string }[];
  /** From the question to the last answer. */
  readonly ms: number;
}

export interface Fleet extends AsyncDisposable {
  /** How many earthquakes each station has. */
  readonly quakes: Readonly<Record<string, number>>;
  /** The centre asks all stations; its rule has two seconds. */
  question(magnitude: number): Promise<Outcome>;
  /** The station stands still: it is there, and says nothing. */
  silence(station: string): void;
  wake(station: string): void;
}

export async function openFleet(): Promise<Fleet> {
  const opened: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  try {
    return await opening(opened, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param opened is given what is to be called at the end */
async function opening(opened: (() => unknown)[], close: () => Promise<void>): Promise<Fleet> {
  const start = async (args: readonly string[]): Promise<[StartedService, RestClient]> => {
    const service = await startService({ args: ['--lanes', '1', ...args] });
    opened.push(() => service[Symbol.asyncDispose]());
    const client = new RestClient(service.url, 8);
    await client.login(service.user, service.password);
    opened.push(() => client.close());
    return [service, client];
  };
  const names = Object.keys(STATIONS);
  // The centre may reach addresses of this machine: elsewhere the stations have public ones.
  const [[, centre], ...stations] = await Promise.all([start(['--outbound-addresses', '127.0.0.1']), ...names.map(() => start([]))]);
  for (const type of ['Question', 'Answer', 'Silence']) await post(centre, '/types', definition(`centre/${type}.json`));
  await post(centre, '/rules', definition('centre/askStations.rule'));
  const quakes: Record<string, number> = {};
  const byName = new Map<string, StartedService>();
  for (const [at, [service, client]] of stations.entries()) {
    const name = names[at] as string;
    byName.set(name, service);
    const rows = quakesOf(name);
    quakes[name] = rows.length;
    await post(client, '/types', definition('station/Quake.json'));
    await post(client, '/custom/Quake', JSON.stringify(rows));
    const login = { credentialType: 'token', accessToken: client.token, deliveryMode: 'bestEffort' };
    const node = { name, uri: service.url.replace('http', 'ws'), ...login, properties: { kind: 'station' } };
    await post(centre, '/nodes', JSON.stringify(node));
  }
  let asked = 0;
  return {
    quakes,
    async question(magnitude) {
      const code = `q${++asked}`;
      const begun = performance.now();
      await post(centre, '/custom/Question', JSON.stringify({ code, magnitude }));
      await until(async () => (await rowsOf<{ answered: boolean }>(centre, 'Question', code))[0]?.answered === true);
      const ms = performance.now() - begun;
      const answers = await rowsOf<Outcome['answers'][number]>(centre, 'Answer', code);
      const silent = await rowsOf<Outcome['silent'][number]>(centre, 'Silence', code);
      return { answers: answers.sort((a, b) => b.magnitude - a.magnitude), silent, ms };
    },
    silence: (station) => void byName.get(station)?.process.kill('SIGSTOP'),
    wake: (station) => void byName.get(station)?.process.kill('SIGCONT'),
    [Symbol.asyncDispose]: close,
  };
}

function quakesOf(station: string): object[] {
  const others = Object.values(STATIONS).flat();
  const networks = STATIONS[station] ?? [];
  return readFeatures()
    .filter(({ properties: { net } }) => (networks.length > 0 ? networks.includes(net) : !others.includes(net)))
    .map(({ id, properties: { mag, place, time, net } }) => ({
      code: id,
      magnitude: mag,
      place,
      at: new Date(time).toISOString(),
      network: net,
    }));
}

/** Beside the source, whether this runs from there or from dist/. */
function definition(file: string): string {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json'))) root = dirname(root);
  return readFileSync(join(root, 'examples', 'stations', 'definitions', file), 'utf8');
}

async function post(client: RestClient, path: string, text: string): Promise<void> {
  const type = text.startsWith('{') || text.startsWith('[') ? 'application/json' : 'text/plain';
  succeeded(await client.send('POST', path, { text, headers: { 'Content-Type': type } }));
}

async function rowsOf<Row>(client: RestClient, type: string, code: string): Promise<Row[]> {
  const where = encodeURIComponent(JSON.stringify(type === 'Question' ? { code } : { question: code }));
  return JSON.parse(succeeded(await client.send('GET', `/custom/${type}?where=${where}`)).text) as Row[];
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + ANSWER_WITHIN_MS; !(await holds()); await sleep(50))
    if (performance.now() > end) throw new Error('the rule of the centre has not come to an end');
}

function succeeded(reply: Reply): Reply {
  if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`);
  return reply;
}
