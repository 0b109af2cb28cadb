// Definitions and data into a service, all through its REST API.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Json, parseJson, type Reply, type RestClient } from '../../conformance/client/index.ts';
import type { Summary } from './expected.ts';
import { type Feature, toQuake } from './quakes.ts';

const PROCEDURE = 'Earthquakes.summary';
/** The rules are taken for quiet when nothing has changed for so long. */
const QUIET_MS = 750;
const QUIET_WITHIN_MS = 120_000;

/** Registers the types, rules and procedures in definitions/; those of an earlier run, and their instances, go first. */
export async function install(client: RestClient): Promise<void> {
  const rules = texts('rules');
  const types = texts('types').map((text) => parseJson(text) as { [key: string]: Json });
  for (const name of readdirSync(folder('rules'))) await client.send('DELETE', `/rules/${name.replace(/\.rule$/, '')}`);
  for (const { name } of types) await client.send('DELETE', `/types/${String(name)}`);
  for (const type of types) succeeded(await client.send('POST', '/types', { body: type }));
  for (const text of texts('procedures')) succeeded(await client.send('POST', '/procedures', { text }));
  for (const text of rules) succeeded(await client.send('POST', '/rules', { text }));
}

/**
 * Inserts each event with a request of its own, as many at once as the number of connections.
 * An event whose answer did not come (the service was killed) is sent again; its unique code tells whether it had been stored.
 * @param onStored told how many are stored after each
 */
export async function load(
  client: RestClient,
  features: readonly Feature[],
  connections: number,
  onStored: (count: number) => void = () => undefined,
): Promise<void> {
  const waiting = features.values();
  let stored = 0;
  const worker = async (): Promise<void> => {
    for (const feature of waiting) {
      await store(client, parseJson(JSON.stringify(toQuake(feature))));
      onStored(++stored);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
}

/** Waits until the rules have nothing more to do. @returns what the procedure says then */
export async function whenQuiet(client: RestClient): Promise<Summary> {
  let last = '';
  let since = performance.now();
  for (const until = since + QUIET_WITHIN_MS; performance.now() < until; await sleep(100)) {
    const { text } = succeeded(await client.send('POST', `/procedures/${PROCEDURE}`));
    if (text !== last) since = performance.now();
    last = text;
    const summary = JSON.parse(text) as Summary;
    const tallied = summary.networks.reduce((sum, { alerts }) => sum + alerts, 0);
    if (tallied === summary.alerts && performance.now() - since > QUIET_MS) return summary;
  }
  throw new Error(`the rules are still at work, or have lost something: ${last}`);
}

async function store(client: RestClient, quake: Json): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const reply = await client.send('POST', '/custom/Quake', { body: quake }).catch(() => undefined); // no answer: perhaps stored, perhaps not
    if (reply?.status === 200 || (reply?.status === 409 && attempt > 1)) return;
    if (reply && reply.status < 429) succeeded(reply);
    await sleep(Math.min(50 * attempt, 500));
  }
}

function succeeded(reply: Reply): Reply {
  if (reply.status >= 400) throw new Error(`the service refused: ${reply.status} ${reply.text}`);
  return reply;
}

function texts(kind: string): string[] {
  return readdirSync(folder(kind)).map((name) => readFileSync(join(folder(kind), name), 'utf8'));
}

/** Beside the source, whether this runs from there or from dist/. */
function folder(kind: string): string {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json'))) root = dirname(root);
  return join(root, 'examples', 'earthquakes', 'definitions', kind);
}
