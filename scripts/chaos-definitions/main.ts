// `npm run chaos:definitions`: rules are made, changed and deleted, types get and lose properties and indexes and are renamed, while clients insert and the service is
// killed. What was answered says which rules must have fired for which instance; `--help` says what it can be told.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Reply, RestClient, startService } from '../../conformance/client/index.ts';

const HELP = `npm run chaos:definitions -- [--kills N] [--seed S]
  Eight clients insert; others make, change and delete rules on what is inserted, add and remove properties and indexes of its type, and rename it to and fro,
  while the service is killed N times (40). An instance that was inserted while a rule was surely there must have one effect of it, in the version that it
  surely had; one that was inserted while it surely was not there, none. Exits 1 when anything differs.`;

const CLIENTS = 8;
const RULES = 6;
const BETWEEN_MS = 2_000;
const REPEAT_MS = 50;
const PAUSE_MS = 15;
const CHANGE_EVERY_MS = 350;
const SETTLE_MS = 120_000;
const PAGE = 10_000;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}
const [kills, seed] = [Number(values.kills), Number(values.seed)];
if (!Number.isSafeInteger(kills) || kills < 0 || !Number.isSafeInteger(seed)) throw new Error('--kills and --seed take whole numbers');

/** Mulberry32. */
function randomFrom(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What a rule was from one time to another, as far as answers tell. Between two of its changes it is neither. */
interface Span {
  /** null: it is not there. */
  readonly version: number | null;
  readonly from: number;
  to: number;
}
interface Inserted {
  readonly n: number;
  readonly began: number;
  readonly ended: number;
}

await using service = await startService({ expects: 'any' });
const client = new RestClient(service.url, CLIENTS + RULES + 4);
await client.login(service.user, service.password);
const random = randomFrom(seed);
const stop = new AbortController();
const now = (): number => performance.now();
const wrong: string[] = [];

const JSON_TYPE = { 'Content-Type': 'application/json' };
const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply | null> =>
  client
    .send(
      method,
      path,
      body === undefined
        ? { headers }
        : typeof body === 'string'
          ? { text: body, headers }
          : { text: JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } },
    )
    .catch(() => null); // the service was killed, or is not there yet

/** Repeats until there is an answer that is neither "not now" nor silence. */
async function surely(method: string, path: string, body?: unknown, requestId?: string): Promise<Reply> {
  for (;;) {
    const reply = await send(method, path, body, requestId === undefined ? {} : { 'X-Cascade-Request-Id': requestId });
    if (reply && reply.status !== 429 && reply.status < 500) return reply;
    await sleep(REPEAT_MS);
  }
}

function must(reply: Reply, what: string, ...also: number[]): void {
  if (reply.status >= 300 && !also.includes(reply.status)) wrong.push(`${what}: ${reply.status} ${reply.text.slice(0, 200)}`);
}

const ofSrc = (more: object = {}): object => ({ name: 'Src', properties: { n: { type: 'Integer' }, note: { type: 'String' }, ...more } });
must(await surely('POST', '/types', ofSrc()), 'the type Src');
must(await surely('POST', '/types', { name: 'Out', properties: { n: { type: 'Integer' }, by: { type: 'String' } } }), 'the type Out');

// ---------------------------------------------------------------- rules
const textOf = (rule: number, version: number): string =>
  `RULE r${rule} WHEN INSERT OCCURS ON Src AS s\nINSERT Out(n: s.n, by: "r${rule} v${version}")`;

async function changeRule(rule: number, spans: Span[]): Promise<void> {
  const draw = randomFrom(seed * 1_000 + rule);
  let version = 0;
  let isThere = false;
  spans.push({ version: null, from: 0, to: Number.POSITIVE_INFINITY });
  while (!stop.signal.aborted) {
    await sleep(draw() * CHANGE_EVERY_MS * 2);
    const to: number | null = isThere && draw() < 0.5 ? null : ++version;
    spans.at(-1)!.to = now();
    const what = `rule r${rule} to ${String(to)}`;
    if (to === null) must(await surely('DELETE', `/rules/r${rule}`), what, 404);
    else if (isThere) must(await surely('PUT', `/rules/r${rule}`, { ruleText: textOf(rule, to) }), what);
    else must(await surely('POST', '/rules', textOf(rule, to)), what, 409); // an earlier try was carried out
    isThere = to !== null;
    spans.push({ version: to, from: now(), to: Number.POSITIVE_INFINITY });
  }
}

// ---------------------------------------------------------------- the type
async function changeType(): Promise<void> {
  const draw = randomFrom(seed * 1_000 + 99);
  let extra = 0;
  while (!stop.signal.aborted) {
    await sleep(draw() * CHANGE_EVERY_MS * 4);
    const more = draw() < 0.5 ? {} : { [`x${++extra}`]: { type: 'String' } };
    const indexes = draw() < 0.5 ? [] : [{ keys: [draw() < 0.5 ? 'note' : 'n'] }];
    must(await surely('PUT', '/types/Src', { ...ofSrc(more), indexes }), 'a change of the type Src', 409);
  }
}

// ---------------------------------------------------------------- inserts
let next = 0;
const inserted: Inserted[] = [];
async function insert(number: number): Promise<void> {
  const draw = randomFrom(seed * 1_000 + 200 + number);
  while (!stop.signal.aborted) {
    const n = next++;
    const began = now();
    const reply = await surely('POST', '/custom/Src', { n }, `insert ${n}`);
    must(reply, `insert ${n}`);
    if (reply.status < 300) inserted.push({ n, began, ended: now() });
    await sleep(draw() * PAUSE_MS);
  }
}

const spans: Span[][] = Array.from({ length: RULES }, () => []);
const working = Promise.all([
  ...spans.map((mine, rule) => changeRule(rule, mine)),
  changeType(),
  ...Array.from({ length: CLIENTS }, (_, n) => insert(n)),
]);
for (let done = 0; done < kills; done++) {
  await sleep(BETWEEN_MS / 2 + random() * BETWEEN_MS);
  console.log(`  ${done + 1}: kill; ${inserted.length} inserted`);
  await service.kill();
  await service.restart();
}
await sleep(BETWEEN_MS);
stop.abort();
await working;

// ---------------------------------------------------------------- what is there
async function rowsOf(type: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for (let where = '{}'; ; where = JSON.stringify({ _id: { $gt: rows.at(-1)?.['_id'] } })) {
    const query = new URLSearchParams({ limit: String(PAGE), where, sort: '{"_id":1}' });
    const reply = await surely('GET', `/custom/${type}?${query.toString()}`);
    if (reply.status !== 200) throw new Error(reply.text);
    const page = JSON.parse(reply.text) as Record<string, unknown>[];
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

/** Of each instance and rule, how often each version of it has had its effect. */
async function effects(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const { n, by } of await rowsOf('Out')) {
    const [rule = '', version = ''] = String(by).split(' ');
    const key = `${String(n)} ${rule}`;
    found.set(key, [...(found.get(key) ?? []), version]);
  }
  return found;
}

/** Pairs of an instance and a rule of which it is known what must be there. */
let sureOnes = 0;
function differences(found: ReadonlyMap<string, readonly string[]>): string[] {
  sureOnes = 0;
  return inserted.flatMap(({ n, began, ended }) =>
    spans.flatMap((mine, rule) => {
      const had = found.get(`${n} r${rule}`) ?? [];
      const meant = mine.filter(({ from, to }) => from <= ended && to >= began);
      const sure = mine.find(({ from, to }) => from <= began && to >= ended);
      const reported = `instance ${n}, rule r${rule}: ${had.join(' and ') || 'no effect'}`;
      if (sure) {
        sureOnes++;
        const wanted = sure.version === null ? [] : [`v${sure.version}`];
        return had.join() === wanted.join() ? [] : [`${reported} in place of ${wanted.join() || 'none'}`];
      }
      if (had.length > 1) return [reported];
      const isThroughout = meant.every(({ version }) => version !== null) && meant.length > 0 && !gapWithin(mine, began, ended);
      return isThroughout && had.length === 0 ? [`${reported}, though it was there in one version or another`] : [];
    }),
  );
}

/** Whether the rule was on its way to being there, or to being gone, at some time of these. */
function gapWithin(mine: readonly Span[], began: number, ended: number): boolean {
  return mine.some((span, at) => {
    const after = mine[at + 1];
    return after !== undefined && span.to <= ended && after.from >= began && (span.version === null || after.version === null);
  });
}

let differing = differences(await effects());
for (const until = now() + SETTLE_MS; differing.some((one) => one.includes('no effect')) && now() < until; await sleep(1_000))
  differing = differences(await effects());
const stored = new Map<number, number>();
for (const { n } of await rowsOf('Src')) stored.set(Number(n), (stored.get(Number(n)) ?? 0) + 1);
for (const { n } of inserted) if (stored.get(n) !== 1) wrong.push(`instance ${n} is stored ${stored.get(n) ?? 0} times`);
const all = [...wrong, ...differing];
for (const line of all.slice(0, 40)) console.log(line);
const changes = spans.reduce((sum, mine) => sum + mine.length, 0);
console.log(
  `${kills} kills, seed ${seed}: ${inserted.length} inserted, ${changes} changes of rules, ${sureOnes} times it is known what a rule must have done; wrong ${all.length}`,
);
client.close();
process.exitCode = all.length === 0 ? 0 : 1;
