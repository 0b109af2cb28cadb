// `npm run chaos:nodes`: two installations, one of which does statements of the other through the outbox, killed in turn under load.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { randomFrom } from '../chaos/run.ts';

const HELP = `npm run chaos:nodes -- [--kills N] [--seed S]
  A rule of one installation writes to another one, which it reaches reliably, while each of both is killed in turn, N times in all (30).
  Then every acknowledged order must have had its effect there once. Exits 1 when one is missing or doubled.`;
const RULE = `RULE forward WHEN INSERT OCCURS ON Order AS o
INSERT Mark(k: o.k) AS r PROCESSED BY name == "far" { log.info("{}", [r.k]) } ON ERROR (e) { log.warn(e.error.code) }`;
const BETWEEN_ORDERS_MS = 20;
const SETTLE_MS = 120_000;
const MOST_MARKS = 10_000;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}
const [kills, seed] = [Number(values.kills), Number(values.seed)];
if (![kills, seed].every((value) => Number.isSafeInteger(value) && value >= 0)) throw new Error('--kills and --seed take whole numbers');

async function loggedIn(service: StartedService): Promise<RestClient> {
  const client = new RestClient(service.url, 16);
  await client.login(service.user, service.password);
  return client;
}

async function create(client: RestClient, path: string, body: object | string): Promise<void> {
  const reply = await client.send('POST', path, contentOf(body));
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
}

const contentOf = (body: object | string): { text: string; headers: Record<string, string> } =>
  typeof body === 'string'
    ? { text: body, headers: { 'Content-Type': 'text/plain' } }
    : { text: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };

/** Sends orders until it is stopped, and notes those that were acknowledged. */
async function order(client: RestClient, acknowledged: Set<number>, stop: AbortSignal): Promise<void> {
  for (let k = 0; !stop.aborted; k++) {
    const reply = await client.send('POST', '/custom/Order', contentOf({ k })).catch(() => null);
    if (reply?.status === 200 || reply?.status === 201) acknowledged.add(k);
    await sleep(BETWEEN_ORDERS_MS);
  }
}

async function marksOn(client: RestClient): Promise<Map<number, number>> {
  const reply = await client.send('GET', `/custom/Mark?props=["k"]&limit=${MOST_MARKS}`, {});
  const counts = new Map<number, number>();
  for (const { k } of JSON.parse(reply.text) as { k: number }[]) counts.set(k, (counts.get(k) ?? 0) + 1);
  return counts;
}

async function nothingWaits(client: RestClient): Promise<boolean> {
  const reply = await client.send('GET', '/nodes/far/_status', {});
  return (JSON.parse(reply.text) as { waiting: number }).waiting === 0;
}

const args = ['--outbound-addresses', '127.0.0.0/8'];
await using near = await startService({ args, expects: 'any' });
await using far = await startService({ args, expects: 'any' });
const [caller, node] = [await loggedIn(near), await loggedIn(far)];
await create(node, '/types', { name: 'Mark', properties: { k: { type: 'Integer' } } });
const registration = { uri: far.url, username: far.user, password: far.password, deliveryMode: 'reliable', properties: {} };
await create(caller, '/nodes', { name: 'far', ...registration });
await create(caller, '/types', { name: 'Order', properties: { k: { type: 'Integer' } } });
await create(caller, '/rules', RULE);

const acknowledged = new Set<number>();
const stop = new AbortController();
const ordering = order(caller, acknowledged, stop.signal);
const random = randomFrom(seed);
for (let done = 0; done < kills; done++) {
  await sleep(200 + random() * 800);
  const victim = done % 2 === 0 ? near : far;
  await victim.kill();
  await victim.restart();
  console.log(`  ${done + 1}: killed ${victim === near ? 'the caller' : 'the node'}; ${acknowledged.size} orders acknowledged`);
}
stop.abort();
await ordering;
let counts = await marksOn(node);
const isMissing = (): boolean => [...acknowledged].some((k) => !counts.has(k));
for (
  const until = Date.now() + SETTLE_MS;
  Date.now() < until && (isMissing() || !(await nothingWaits(caller)));
  counts = await marksOn(node)
)
  await sleep(200);
caller.close();
node.close();
const lost = [...acknowledged].filter((k) => !counts.has(k));
const doubled = [...counts].filter(([, count]) => count > 1).map(([k]) => k);
for (const [kind, list] of Object.entries({ lost, doubled })) if (list.length > 0) console.log(`${kind}: ${list.join(', ')}`);
console.log(
  `${kills} kills: ${acknowledged.size} acknowledged, ${counts.size} on the node, lost ${lost.length}, doubled ${doubled.length}`,
);
if (lost.length + doubled.length > 0) process.exitCode = 1;
