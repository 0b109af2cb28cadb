// What comes by requests: batches of instances, or messages on a reliable topic.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, parseJson, RestClient, startService } from '../../conformance/client/index.ts';
import { growth, LOOK_EVERY_MS, residentMb } from './memory.ts';

const BATCH = 400;
const EFFECTS = 10;
const REFUSED_PAUSE_MS = 20;
const STUCK_MS = 180_000;
/** Looks at the memory, by which it can be told whether it grows. */
const FEWEST_LOOKS = 6;

/** @returns what is wrong */
// oxlint-disable-next-line max-lines-per-function -- one scenario from its beginning to its figures
export async function floodByRequests({
  kind,
  seconds,
  clients,
}: {
  kind: 'insert' | 'reliable';
  seconds: number;
  clients: number;
}): Promise<string[]> {
  const isReliable = kind === 'reliable';
  await using service = await startService();
  const client = new RestClient(service.url, clients + 2);
  await client.login(service.user, service.password);
  const json = (value: unknown): Json => parseJson(JSON.stringify(value));
  const post = async (path: string, body: unknown): Promise<void> => {
    const reply = await client.send('POST', path, typeof body === 'string' ? { text: body } : { body: json(body) });
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
  };
  const count = async (type: string): Promise<number> => {
    const reply = await client.send('GET', `/custom/${type}`, { query: { limit: '1', count: 'true', props: '["_id"]' } });
    return Number(reply.headers['x-total-count']);
  };

  await post('/types', { name: 'Reading', properties: { n: { type: 'Integer' }, text: { type: 'String' } } });
  await post('/types', { name: 'Echo', properties: { n: { type: 'Integer' } } });
  // Apart from the flood's: counting millions of effects takes longer than one.
  for (const name of ['Alone', 'Answer']) await post('/types', { name, properties: { n: { type: 'Integer' } } });
  await post('/rules', 'RULE alone WHEN INSERT OCCURS ON Alone AS a\nINSERT Answer(n: a.n)');
  await post('/topics', { name: '/flood', isReliable: true, redeliveryFrequency: 1, redeliveryTTL: 3_600 });
  const effects = `FOR (i IN range(0, ${EFFECTS}, 1)) { INSERT Echo(n: i) }`;
  await post(
    '/rules',
    isReliable
      ? `RULE deaf WHEN EVENT OCCURS ON "/topics/flood" AS e\nINSERT Echo(n: e.deliveryCount)`
      : `RULE echo WHEN INSERT OCCURS ON Reading AS r\n${effects}`,
  );

  let acknowledged = 0;
  let offered = 0;
  let refused = 0;
  let unheard = 0;
  const wrong: string[] = [];
  const load = new AbortController();
  const text = 'x'.repeat(200);
  const batch = json(Array.from({ length: BATCH }, (_, n) => ({ n, text })));
  const message = json({ text });

  async function one(): Promise<void> {
    while (!load.signal.aborted) {
      const units = isReliable ? 1 : BATCH;
      offered += units;
      const path = isReliable ? '/topics//flood' : '/custom/Reading';
      const reply = await client.send('POST', path, { body: isReliable ? message : batch }).catch((error: unknown) => error as Error);
      if (reply instanceof Error) {
        unheard += units;
        wrong.push(reply.message);
        continue;
      }
      if (reply.status === 200) {
        const stored = isReliable ? 1 : storedOf(reply.text);
        acknowledged += stored;
        refused += units - stored;
      } else if (reply.status !== 429) wrong.push(`${reply.status} ${reply.text.slice(0, 200)}`);
      else if (!reply.headers['retry-after']) wrong.push('429 without Retry-After');
      else {
        refused += units;
        await sleep(REFUSED_PAUSE_MS);
      }
    }
  }

  /** Of several instances some may be stored and others refused: those that have an id. */
  const storedOf = (body: string): number => (JSON.parse(body) as { _id?: string }[]).filter(({ _id }) => _id !== undefined).length;

  const before = await timed();
  const memory: { readonly megabytes: number; readonly isFull: boolean }[] = [];
  const begun = performance.now();
  const working = Promise.all(Array.from({ length: clients }, one));
  for (; performance.now() - begun < seconds * 1_000; await sleep(Math.min(LOOK_EVERY_MS, seconds * 100))) {
    const megabytes = residentMb(service.process.pid ?? 0);
    memory.push({ megabytes, isFull: refused > 0 });
    const effectsNow = await count('Echo');
    const elapsed = (performance.now() - begun) / 1_000;
    console.log(
      `${elapsed.toFixed(0).padStart(4)} s  offered ${offered}  acknowledged ${acknowledged}  refused ${refused}  effects ${effectsNow}  ${megabytes} MB`,
    );
  }
  load.abort();
  await working;
  const done = (await count('Echo')) / (isReliable ? 1 : EFFECTS);
  const lasted = (performance.now() - begun) / 1_000;
  console.log(
    `offered ${(offered / lasted).toFixed(0)}/s, done ${(done / lasted).toFixed(0)}/s: ${(offered / Math.max(done, 1)).toFixed(1)} times as much`,
  );

  const whole = isReliable ? acknowledged : acknowledged * EFFECTS;
  let found = 0;
  for (let since = performance.now(); found < whole && performance.now() - since < STUCK_MS; await sleep(500)) {
    const now = await count('Echo').catch(() => found);
    if (now > found) since = performance.now();
    found = now;
  }
  if (!isReliable) {
    const stored = await count('Reading');
    if (stored < acknowledged || stored > acknowledged + unheard)
      wrong.push(`${stored} instances are stored, ${acknowledged} were acknowledged`);
    if (found > whole + unheard * EFFECTS)
      wrong.push(`${found} effects instead of ${whole}, and ${unheard * EFFECTS} of what was not answered`);
  }
  if (found < whole) wrong.push(`${whole - found} effects are lost`);
  // Until clients are refused more and more waits, and takes memory; of what waits to be acknowledged there may always be more.
  const judged = isReliable ? memory : memory.filter(({ isFull }) => isFull);
  if (judged.length < FEWEST_LOOKS) wrong.push('what waits reached its bound too late: more --clients or more --seconds');
  const { first, last, wrong: grown } = growth(judged.map(({ megabytes }) => megabytes));
  wrong.push(...grown);
  const after = await timed();
  console.log(
    `acknowledged ${acknowledged}, refused ${refused}; memory ${first} to ${last} MB; one alone took ${before} ms before and ${after} ms after`,
  );
  client.close();
  return wrong;

  /** One insert with its rule, in milliseconds. */
  async function timed(): Promise<number> {
    const [at, was] = [performance.now(), await count('Answer')];
    await post('/custom/Alone', { n: was });
    while ((await count('Answer')) <= was) await sleep(2);
    return Math.round(performance.now() - at);
  }
}
