// `npm run example inspection`: a service of its own, in which the strongest earthquakes of a week want to be inspected. Whoever opens the inbox as the
// inspector gets the forms; what is answered is printed, until Ctrl-C.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { type Feature, readFeatures } from '../earthquakes/quakes.ts';

const PASSWORD = 'look twice';
const SITES = 3;

interface Definitions {
  readonly types: Readonly<Record<string, object>>;
  readonly rules: readonly string[];
}

const { values } = parseArgs({ options: { once: { type: 'boolean' } } });

async function install({ types, rules }: Definitions): Promise<void> {
  for (const username of ['ann', 'chief']) await post('/users', { username, password: PASSWORD });
  await post('/sources', { name: 'inspections', type: 'PUSH_NOTIF', config: {} });
  for (const [name, type] of Object.entries(types)) await post('/types', { name, ...type });
  for (const text of rules) await post('/rules', text);
}

interface Site {
  readonly code: string;
  readonly place: string;
  readonly state?: string;
  readonly inspector: string;
  readonly damage?: string;
}

/** Prints what changes. @param isEnough whether that was all */
async function report(isEnough: (sites: readonly Site[]) => boolean): Promise<void> {
  const reported = new Map<string, string>();
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  while (!ending.signal.aborted) {
    const sites = JSON.parse((await client.send('GET', '/custom/Site')).text) as Site[];
    for (const { code, place, state, inspector, damage } of sites) {
      const line = `${place}: ${state} (${inspector})${damage === undefined ? '' : `, ${damage}`}`;
      if (reported.get(code) !== line && state !== undefined) console.log(line);
      reported.set(code, line);
    }
    if (isEnough(sites)) return;
    await sleep(200, undefined, { signal: ending.signal }).catch(() => undefined); // Ctrl-C: the loop ends
  }
}

async function post(path: string, body: object | string): Promise<void> {
  const isText = typeof body === 'string';
  const headers = { 'content-type': isText ? 'text/plain' : 'application/json' };
  const { status, text } = await client.send('POST', path, { text: isText ? body : JSON.stringify(body), headers });
  if (status >= 300) throw new Error(`the service refused ${path}: ${status} ${text}`);
}

const strongest = (count: number): Feature[] =>
  readFeatures()
    .sort((a, b) => b.properties.mag - a.properties.mag)
    .slice(0, count);

const siteOf = ({ id, properties, geometry }: Feature): object => ({
  code: id,
  place: properties.place,
  magnitude: properties.mag,
  location: geometry,
  inspector: 'ann',
});

/** The tests of the example hold them; beside the source, whether this runs from there or from dist/. */
function definitions(): Definitions {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json'))) root = dirname(root);
  return (parse(readFileSync(join(root, 'examples/inspection/inspection.yaml'), 'utf8'), { logLevel: 'silent' }) as { given: Definitions })
    .given;
}

await using service = await startService();
const client = new RestClient(service.url);
try {
  await client.login(service.user, service.password);
  await install(definitions());
  for (const quake of strongest(SITES)) await post('/custom/Site', siteOf(quake));
  console.log(`${SITES} sites wait at ${service.url}/ui/inbox: log in as ann, password '${PASSWORD}' (the chief is chief, with the same)`);
  // With --once the example ends when everybody has been asked.
  const isEnough = values.once ? (sites: readonly Site[]) => sites.every(({ state }) => state === 'asked') : () => false;
  await report(isEnough);
} finally {
  client.close();
}
