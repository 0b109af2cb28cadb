// What is there, compared with what was promised. It knows the ledger of the clients and what the rules mean, and reads through the API;
// nothing of the service's own bookkeeping.
import { setTimeout as sleep } from 'node:timers/promises';
import type { RestClient } from '../../conformance/client/index.ts';
import { BULK_ROWS, HOPS, LANES, LARGE_ROWS } from './definitions.ts';
import type { Ledger } from './workload.ts';

const PAGE = 5_000;
/** Nothing has changed for so long: what was to come has come. */
const QUIET_MS = 3_000;
/** So long though something is missing: it does not come any more. On a busy machine much may be left to do at the end. */
const STUCK_MS = 120_000;

type Row = Readonly<Record<string, unknown>>;

export interface Verdict {
  readonly lost: string[];
  readonly doubled: string[];
  /** Counts, versions and order. */
  readonly wrong: string[];
  /** Effects looked at. */
  readonly effects: number;
}

/** Waits until the rules have come to rest, then looks. */
export async function check(client: RestClient, ledger: Ledger): Promise<Verdict> {
  await atRest(client, ledger);
  const verdict: Verdict = { lost: [], doubled: [], wrong: [], effects: 0 };
  const orders = await rows(client, 'Order');
  const effects = await rows(client, 'Effect');
  compareOrders(orders, ledger, verdict);
  const stored = orders.map((order) => String(order['key']));
  const promised = new Map(stored.map((key) => [key, 'promised'] as const));
  for (const by of ['noted', 'first', 'told', 'last', 'carried']) compare(by, promised, countsOf(effects, by), verdict);
  // A message that is brought again makes its one row again: each is there, whatever died before its acknowledgement was stored.
  const received = tally((await rows(client, 'Heard')).map((row) => String(row['key'])));
  compare('again', ledger.messages.get('again') ?? new Map<string, 'promised'>(), received, verdict);
  for (const topic of ['mark', 'sure', 'planned', 'bulk'])
    compare(topic, ledger.messages.get(topic) ?? new Map<string, 'promised'>(), countsOf(effects, topic), verdict);
  compareWindows(effects, ledger, verdict);
  const links = await rows(client, 'Link');
  for (let hop = 1; hop <= HOPS; hop++) {
    const counts = tally(links.filter((link) => Number(link['hop']) === hop).map((link) => String(link['of'])));
    compare(`link ${hop}`, promised, counts, verdict);
  }
  await compareCounts(client, orders, verdict);
  await compareParts(client, effects, verdict);
  await compareErased(client, effects, verdict);
  for (const kept of ['deadletters', 'ArsRuleSnapshot']) await compareGivenUp(client, kept, verdict);
  return { ...verdict, effects: effects.length + links.length };
}

/** Each promised one once, each perhaps at most once, and none that nobody has asked for. */
function compare(what: string, wanted: ReadonlyMap<string, 'promised' | 'perhaps'>, found: ReadonlyMap<string, number>, verdict: Verdict) {
  for (const [key, promise] of wanted) if (promise === 'promised' && !found.has(key)) verdict.lost.push(`${what} of ${key}`);
  for (const [key, times] of found) {
    if (times > 1) verdict.doubled.push(`${what} of ${key}: ${times} times`);
    if (!wanted.has(key)) verdict.wrong.push(`${what} of ${key}, which nobody has asked for`);
  }
}

/** All are stored once, each client's ascend in the order in which it was answered, and the BEFORE rule has seen each. */
function compareOrders(orders: readonly Row[], ledger: Ledger, verdict: Verdict): void {
  compare('order', new Map(ledger.orders.map(({ key }) => [key, 'promised'])), tally(orders.map((order) => String(order['key']))), verdict);
  const ids = new Map(orders.map((order) => [String(order['key']), String(order['_id'])]));
  const last = new Map<number, string>();
  for (const { key, client } of ledger.orders) {
    const id = ids.get(key) ?? '';
    if (id !== '' && id <= (last.get(client) ?? ''))
      verdict.wrong.push(`order ${key} of client ${client} is before the one it was sent after`);
    if (id !== '') last.set(client, id);
  }
  for (const order of orders)
    if (order['checked'] !== true) verdict.wrong.push(`the BEFORE rule has not seen order ${String(order['key'])}`);
}

/** Pairs once each, and none whose end came first; time-outs once for each opening. */
function compareWindows(effects: readonly Row[], ledger: Ledger, verdict: Verdict): void {
  const opened = ledger.messages.get('open') ?? new Map<string, 'promised' | 'perhaps'>();
  const shut = ledger.messages.get('shut') ?? new Map<string, 'promised' | 'perhaps'>();
  const pairs = new Map<string, 'promised' | 'perhaps'>();
  for (const [key, promise] of shut) {
    const first = opened.get(key);
    if (first && !ledger.inverse.has(key)) pairs.set(key, promise === 'promised' && first === 'promised' ? 'promised' : 'perhaps');
  }
  compare('pair', pairs, countsOf(effects, 'pair'), verdict);
  compare('window', opened, countsOf(effects, 'window'), verdict);
}

async function compareCounts(client: RestClient, orders: readonly Row[], verdict: Verdict): Promise<void> {
  const counters = new Map((await rows(client, 'Counter')).map((row) => [String(row['name']), row]));
  for (const name of [...LANES, 'all', 'carried']) {
    const wanted = name === 'all' || name === 'carried' ? orders.length : orders.filter((order) => order['lane'] === name).length;
    const found = Number(counters.get(name)?.['n']);
    if (found !== wanted) verdict.wrong.push(`counter ${name} is ${found} instead of ${wanted}`);
  }
  const latest = await rows(client, 'Latest');
  for (const lane of LANES)
    if (latest.filter((row) => row['lane'] === lane).length !== (orders.some((order) => order['lane'] === lane) ? 1 : 0))
      verdict.wrong.push(`the latest of ${lane} is not one row`);
}

/** Every row of a bulk statement was changed once, and the statement has counted them. */
async function compareParts(client: RestClient, effects: readonly Row[], verdict: Verdict): Promise<void> {
  const counts = tally(
    (await rows(client, 'Part')).map((part) => `${String(part['of'])} ${String(part['state'])} ${String(part['ars_version'])}`),
  );
  for (const effect of effects.filter(({ by }) => by === 'bulk')) {
    const key = String(effect['of']);
    const wanted = key === 'large' ? LARGE_ROWS : BULK_ROWS;
    const changed = counts.get(`${key} 1 2`) ?? 0;
    counts.delete(`${key} 1 2`);
    if (changed !== wanted || Number(effect['n']) !== wanted)
      verdict.wrong.push(`bulk ${key} has changed ${changed} of ${wanted} rows once, and tells of ${String(effect['n'])}`);
  }
  for (const [what, times] of counts) verdict.wrong.push(`${times} parts are left as ${what}`);
}

/** All that was to be deleted is gone, and those events that tell of it count each row once, however many tries there were. */
async function compareErased(client: RestClient, effects: readonly Row[], verdict: Verdict): Promise<void> {
  const reported = effects.filter(({ by }) => by === 'erased').map(({ n }) => Number(n ?? 1)); // of a single one there is no count
  const sum = reported.reduce((all, n) => all + n, 0);
  const left = (await rows(client, 'Old')).length;
  if (left > 0 || sum !== LARGE_ROWS)
    verdict.wrong.push(`${left} of ${LARGE_ROWS} old rows are left, and ${sum} are told of (${reported.join(' ')})`);
}

/** No rule here has a reason to fail or to be given up. */
async function compareGivenUp(client: RestClient, kept: string, verdict: Verdict): Promise<void> {
  const reply = await client.send('GET', `/${kept}`, { query: { limit: '100' } });
  if (reply.status !== 200) throw new Error(`reading ${kept}: ${reply.status} ${reply.text}`);
  // The check's own question may take longer than a query may, where there are many effects: it is asked again.
  const given = (JSON.parse(reply.text) as Row[]).filter(
    ({ resource, error }) => resource !== '/procedures/Chaos.tally' || !isTooLong(error),
  );
  for (const row of given) verdict.wrong.push(`${kept} tells: ${JSON.stringify(row).slice(0, 400)}`);
}

const isTooLong = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'cascade.query.too.expensive';

const countsOf = (effects: readonly Row[], by: string): Map<string, number> =>
  tally(effects.filter((effect) => effect['by'] === by).map((effect) => String(effect['of'])));

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Waits until nothing changes any more and all that was promised can be there. */
async function atRest(client: RestClient, ledger: Ledger): Promise<void> {
  let last = '';
  for (let since = performance.now(); performance.now() - since < STUCK_MS; await sleep(200)) {
    const reply = await client.send('POST', '/procedures/Chaos.tally').catch(() => null);
    if (reply?.status !== 200) continue;
    if (reply.text !== last) since = performance.now();
    last = reply.text;
    if (performance.now() - since > QUIET_MS && mayBeComplete(JSON.parse(reply.text) as Totals, ledger)) return;
  }
}

interface Totals {
  readonly effects: readonly { readonly by: string; readonly n: number }[];
  readonly links: readonly { readonly hop: number; readonly n: number }[];
  readonly counters: readonly { readonly name: string; readonly n: number }[];
}

function mayBeComplete({ effects, links, counters }: Totals, ledger: Ledger): boolean {
  const of = (by: string): number => effects.find((one) => one.by === by)?.n ?? 0;
  const promised = (topic: string): number => [...(ledger.messages.get(topic)?.values() ?? [])].filter((one) => one === 'promised').length;
  const orders = ledger.orders.length;
  const pairs = [...(ledger.messages.get('shut') ?? [])].filter(([key, one]) => one === 'promised' && !ledger.inverse.has(key)).length;
  return (
    ['noted', 'first', 'told', 'last', 'carried'].every((by) => of(by) >= orders) &&
    ['mark', 'sure', 'planned', 'bulk'].every((topic) => of(topic) >= promised(topic)) &&
    of('erased') > 0 &&
    of('window') >= promised('open') &&
    of('pair') >= pairs &&
    (links.find(({ hop }) => hop === HOPS)?.n ?? 0) >= orders &&
    ['all', 'carried'].every((name) => (counters.find((one) => one.name === name)?.n ?? 0) >= orders)
  );
}

/** All rows of a type, a page at a time in the order of their ids. */
async function rows(client: RestClient, type: string): Promise<Row[]> {
  const all: Row[] = [];
  for (let last: string | null = null; ; ) {
    const where: string = last === null ? '{}' : JSON.stringify({ _id: { $gt: last } });
    const reply = await client.send('GET', `/custom/${type}`, { query: { limit: String(PAGE), where, sort: '{"_id":1}' } });
    if (reply.status !== 200) throw new Error(`reading ${type}: ${reply.status} ${reply.text}`);
    const page = JSON.parse(reply.text) as Row[];
    all.push(...page);
    if (page.length < PAGE) return all;
    last = String(page[page.length - 1]?.['_id']);
  }
}
