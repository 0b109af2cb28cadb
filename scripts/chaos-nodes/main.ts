// `npm run chaos:nodes`: an installation and two that do statements of it through the outbox, killed in turn under load, over a network that
// is cut and falls silent.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { FaultyProxy } from '../../conformance/federation/proxy.ts';
import { randomFrom } from '../chaos/run.ts';

const HELP = `npm run chaos:nodes -- [--kills N] [--seed S]
  A rule of one installation inserts at two others and publishes there, which it reaches reliably, one by requests, the other over a WebSocket,
  while each of the three is killed in turn, N times in all (30), and the network between them is cut or falls silent now and then.
  Then every acknowledged order must have had each effect at both of them once. Exits 1 when one is missing or doubled.`;
const RULE = `RULE forward WHEN INSERT OCCURS ON Order AS o
INSERT Mark(k: o.k) AS r PROCESSED BY ALL WITHIN 5 seconds { log.info("{}", [r.k]) } ON ERROR (e) { log.warn(e.error.code) }
PUBLISH {k: o.k} TO TOPIC "/marks" PROCESSED BY ALL WITHIN 5 seconds { } ON ERROR (e) { log.warn(e.error.code) }`;
const HEARD = `RULE hear WHEN EVENT OCCURS ON "/topics/marks" AS e
INSERT Heard(k: e.value.k)`;
const EFFECTS = ['Mark', 'Heard'] as const;
const BETWEEN_ORDERS_MS = 20;
/** Longer than a node is left alone after many failures. */
const STANDSTILL_MS = 90_000;
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

/** How often each order had its effect. */
async function effectsOn(client: RestClient, type: string): Promise<Map<number, number>> {
  const reply = await client.send('GET', `/custom/${type}?props=["k"]&limit=${MOST_MARKS}`, {});
  const counts = new Map<number, number>();
  for (const { k } of JSON.parse(reply.text) as { k: number }[]) counts.set(k, (counts.get(k) ?? 0) + 1);
  return counts;
}

async function nothingWaits(client: RestClient, node: string): Promise<boolean> {
  const reply = await client.send('GET', `/nodes/${node}/_status`, {});
  return (JSON.parse(reply.text) as { waiting: number }).waiting === 0;
}

interface Far {
  readonly name: string;
  readonly service: StartedService;
  readonly client: RestClient;
  readonly proxy: FaultyProxy;
}

/** The network to a node fails for a while. */
async function disturb({ proxy }: Far, random: () => number): Promise<void> {
  const chance = random();
  if (chance < 0.4) return proxy.cut();
  await proxy.become(chance < 0.7 ? 'silent' : 'refused');
  await sleep(200 + random() * 1_500);
  await proxy.become('open');
  proxy.cut(); // what was swallowed is lost
}

const args = ['--outbound-addresses', '127.0.0.0/8'];
await using near = await startService({ args, expects: 'any' });
await using byRequests = await startService({ args, expects: 'any' });
await using bySocket = await startService({ args, expects: 'any' });
const caller = await loggedIn(near);
const fars: Far[] = [];
for (const [name, service, scheme] of [
  ['requests', byRequests, 'http'],
  ['socket', bySocket, 'ws'],
] as const) {
  const client = await loggedIn(service);
  const proxy = await FaultyProxy.open(Number(new URL(service.url).port));
  for (const type of EFFECTS) await create(client, '/types', { name: type, properties: { k: { type: 'Integer' } } });
  await create(client, '/rules', HEARD);
  const { user: username, password } = service;
  const uri = `${scheme}://127.0.0.1:${proxy.port}`;
  await create(caller, '/nodes', { name, uri, username, password, deliveryMode: 'reliable', properties: {} });
  fars.push({ name, service, client, proxy });
}
await create(caller, '/types', { name: 'Order', properties: { k: { type: 'Integer' } } });
await create(caller, '/rules', RULE);

const acknowledged = new Set<number>();
const stop = new AbortController();
const ordering = order(caller, acknowledged, stop.signal);
const random = randomFrom(seed);
const victims = [near, byRequests, bySocket];
let disturbances = 0;
const disturbing = (async () => {
  for (; !stop.signal.aborted; disturbances++) {
    await sleep(500 + random() * 2_000);
    await disturb(fars[Math.floor(random() * fars.length)] as Far, random);
  }
})();
for (let done = 0; done < kills; done++) {
  await sleep(200 + random() * 800);
  const victim = victims[done % victims.length] as StartedService;
  await victim.kill();
  await victim.restart();
  const who = fars.find(({ service }) => service === victim)?.name ?? 'the caller';
  console.log(`  ${done + 1}: killed ${who}; ${acknowledged.size} orders acknowledged, ${disturbances} disturbances of the network`);
}
stop.abort();
await Promise.all([ordering, disturbing]);

/** What is still to come, by node and effect. */
async function left(): Promise<number> {
  let sum = 0;
  for (const { name, client } of fars) {
    if (!(await nothingWaits(caller, name))) sum++;
    for (const type of EFFECTS) {
      const counts = await effectsOn(client, type);
      for (const k of acknowledged) if (!counts.has(k)) sum++;
    }
  }
  return sum;
}
// A backlog may be long: it has to become shorter.
let best = Number.POSITIVE_INFINITY;
for (let since = Date.now(), now = await left(); now > 0 && Date.now() - since < STANDSTILL_MS; now = await left()) {
  if (now < best) {
    best = now;
    since = Date.now();
    console.log(`  ${now} effects are still to come`);
  }
  await sleep(1_000);
}
let wrong = 0;
for (const { name, client } of fars)
  for (const type of EFFECTS) {
    const counts = await effectsOn(client, type);
    const lost = [...acknowledged].filter((k) => !counts.has(k));
    const doubled = [...counts].filter(([, count]) => count > 1).map(([k]) => k);
    for (const [kind, list] of Object.entries({ lost, doubled }))
      if (list.length > 0) console.log(`${name} ${type} ${kind}: ${list.slice(0, 20).join(', ')}${list.length > 20 ? ', …' : ''}`);
    console.log(`${name}: ${type}: ${counts.size} of ${acknowledged.size} acknowledged, lost ${lost.length}, doubled ${doubled.length}`);
    wrong += lost.length + doubled.length;
  }
console.log(`${kills} kills, ${disturbances} disturbances (seed ${seed}): ${wrong} wrong`);
for (const { client, proxy } of fars) {
  client.close();
  await proxy[Symbol.asyncDispose]();
}
caller.close();
if (wrong > 0) process.exitCode = 1;
