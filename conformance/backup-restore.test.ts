// `cascade backup` and `cascade restore` against a real service: what comes back is what was there, in a namespace of the same name and of another;
// and what is refused, with which words.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { cascade as command, type Outcome } from '../server/testing/fake-terminal.ts';
import { RestClient, type StartedService, startService } from './client/index.ts';

const PASSWORD = 'a-long-way-from-here';
const PASSPHRASE = 'one that only operators know';
const SECRETS = ['behind-seven-seals', 'hush-hush-hush', 'of-the-other-installation', 'kept-for-a-source'];

let service: StartedService;
let folder: string;
let file: string;
/** Everything of the namespace, by its address, as its admin sees it. */
let before: Map<string, unknown>;
const clients: RestClient[] = [];

const TYPES = [
  {
    name: 'Pump',
    naturalKey: ['code'],
    groupEnabled: true,
    indexes: [{ keys: ['code'], options: { unique: true } }],
    properties: {
      code: { type: 'String', required: true },
      big: { type: 'Integer' },
      real: { type: 'Real' },
      price: { type: 'Decimal', scale: 2 },
      money: { type: 'Currency', scale: 2 },
      since: { type: 'DateTime' },
      at: { type: 'GeoJSON' },
      free: { type: 'Object' },
      tags: { type: 'String', multi: true },
      on: { type: 'Boolean' },
      pin: { type: 'String', encrypted: true },
    },
  },
  { name: 'Alarm', properties: { text: { type: 'String' } } },
  { name: 'Pair', properties: { n: { type: 'Integer' } } },
];
const PUMPS = [
  `{"code": "a", "big": 1152921504606846977, "real": 5.0, "price": "12.50", "money": "USD:3.1000", "since": "2026-03-07T01:02:03.004Z",
    "at": {"type": "Point", "coordinates": [8.5, 47.3]}, "free": {"$deep.er": {"n": 5, "r": 5.0, "list": [null, true, "x"]}}, "tags": ["t", "u"], "on": true,
    "pin": "${SECRETS[0]}"}`,
  '{"code": "b", "real": 0.1, "ars_public": true, "ars_group": "crew"}',
];
const DEFINITIONS: [resource: string, body: object | string][] = [
  ['scalars', { name: 'Celsius', baseType: 'Real' }],
  ['groups', { name: 'crew', members: ['admin__plant'] }],
  ['profiles', { name: 'reader', dml: { Pump: { select: null } }, description: 'reads' }],
  ['topics', { name: '/plant/door', description: 'opens' }],
  ['secrets', { name: 'door', secret: SECRETS[1] }],
  [
    'nodes',
    {
      name: 'far',
      uri: 'https://far.example',
      deliveryMode: 'bestEffort',
      properties: { region: 'north' },
      credentialType: 'userpass',
      username: 'ann',
      password: SECRETS[2],
    },
  ],
  [
    'sources',
    { name: 'tanks', type: 'REMOTE', active: false, config: { uri: 'https://tanks.example/', username: 'ann', password: SECRETS[3] } },
  ],
  ['procedures', 'PROCEDURE Plant.twice(n Integer): Integer\nreturn n * 2'],
  ['rules', 'RULE notes WHEN INSERT OCCURS ON Pump AS p INSERT Alarm(text: "pump " + p.code + " " + Plant.twice(21))'],
  ['scheduledevents', { name: 'rounds', periodic: true, interval: 86_400_000, topic: '/plant/rounds', message: { check: 'oil' } }],
  ['scheduledevents', { name: 'dawn', periodic: true, cron: '0 6 * * MON-FRI', zone: 'Europe/Berlin', topic: '/plant/rounds' }],
  ['configurations', { name: 'mill', resources: [] }],
  ['projects', { name: 'all', resources: [{ resourceReference: '/types/Pump' }] }],
];
const CONTENT = randomBytes(600_000);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-backup-'));
  file = join(folder, 'plant.backup');
  service = await startService();
  const system = await logIn('system', service.password);
  await ok(system, 'POST', '/namespaces', { namespace: 'plant', username: 'admin__plant', password: PASSWORD });
  const admin = await logIn('admin__plant', PASSWORD);
  for (const type of TYPES) await ok(admin, 'POST', '/types', type);
  for (const [resource, body] of DEFINITIONS) await ok(admin, 'POST', `/${resource}`, body);
  for (const pump of PUMPS) await ok(admin, 'POST', '/custom/Pump', pump, 'application/json');
  await ok(admin, 'PUT', '/custom/Pump/b', { on: false });
  await upload(admin, 'reports/today.bin', CONTENT);
  await vi.waitUntil(async () => (JSON.parse(await ok(admin, 'GET', '/custom/Alarm')) as unknown[]).length === 2, { timeout: 60_000 });
  before = await allOf(admin);
  const shown = JSON.stringify([...before]);
  for (const secret of SECRETS.slice(1)) expect(shown).not.toContain(secret);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function logIn(user: string, password: string): Promise<RestClient> {
  const client = new RestClient(service.url);
  clients.push(client);
  await client.login(user, password);
  return client;
}

async function ok(client: RestClient, method: string, path: string, body?: object | string, type?: string): Promise<string> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'content-type': type ?? (typeof body === 'string' ? 'text/plain' : 'application/json') };
  const reply = await client.send(method, path, text === undefined ? {} : { text, headers });
  expect(reply.status, `${path}: ${reply.text}`).toBe(200);
  return reply.text;
}

async function tokenOf(client: RestClient, user: string, password: string): Promise<string> {
  const answer = await fetch(`${service.url}/authenticate`, {
    headers: { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
  });
  return ((await answer.json()) as { accessToken: string }).accessToken;
}

async function upload(client: RestClient, name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const form = new FormData();
  form.append(name, new Blob([bytes]), 'a.bin');
  const headers = { Authorization: `Bearer ${await tokenOf(client, 'admin__plant', PASSWORD)}` };
  expect((await fetch(`${service.url}/api/v1/resources/documents`, { method: 'POST', headers, body: form })).status).toBe(200);
}

/** With numbers as they are written: a Real of 5 is no Integer. */
const exact = (text: string): unknown =>
  JSON.parse(text, ((_key: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' ? `number ${source}` : value) as never);

async function allOf(client: RestClient): Promise<Map<string, unknown>> {
  const all = new Map<string, unknown>();
  for (const resource of [
    'types',
    ...new Set(DEFINITIONS.map(([name]) => name)),
    'services',
    'documents',
    'custom/Pump',
    'custom/Alarm',
    'custom/Pair',
  ])
    all.set(resource, exact(await ok(client, 'GET', `/${resource}`)));
  return all;
}

async function cascade(args: string[], env: Record<string, string> = {}, user = 'system', password = service.password): Promise<Outcome> {
  return command([...args, '--url', service.url, '--user', user, '--password', password], env);
}

const WITH = { CASCADE_BACKUP_PASSPHRASE: PASSPHRASE };

/** Of a namespace that a restore has made: its admin's password is shown once. */
function passwordIn(out: string): string {
  const password = /is (\S+) \(it is not shown again\)/.exec(out)?.[1];
  expect(password, out).toBeDefined();
  return password as string;
}

test('a backup is made by the system admin alone, writes over nothing, and asks for a passphrase where there are secrets', async () => {
  const mine = join(folder, 'mine.backup');
  expect(await cascade(['backup', 'plant', mine], WITH, 'admin__plant', PASSWORD)).toMatchObject({
    code: 1,
    err: expect.stringContaining('cascade.authorization.denied') as string,
  });
  expect(await cascade(['backup', 'plant', mine])).toMatchObject({
    code: 1,
    err: expect.stringContaining('cascade.backup.key.required') as string,
  });
  expect(await cascade(['backup', 'nowhere', mine])).toMatchObject({
    code: 1,
    err: expect.stringContaining('cascade.resource.not.found') as string,
  });
  expect(existsSync(mine)).toBe(false);
  expect(await cascade(['backup', 'main', mine])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+ rows of main, \d+ bytes\n$/) as string,
  });
  expect(await cascade(['backup', 'main', mine])).toMatchObject({ code: 2, err: expect.stringContaining('is there already') as string });
});

test('what is encrypted is so in the file, too', async () => {
  expect(await cascade(['backup', 'plant', file], WITH)).toMatchObject({ code: 0 });
  const text = gunzipSync(await readFile(file)).toString();
  for (const secret of SECRETS) expect(text).not.toContain(secret);
  const [head, ...rest] = text.trim().split('\n');
  expect(JSON.parse(head!)).toMatchObject({ cascade: 'backup', format: 1, namespace: 'plant', passphrase: { N: 131_072 } });
  expect(JSON.parse(rest.at(-1)!)).toEqual({ end: { rows: rest.length - 1 } });
});

test('restored under another name everything is the same but for that name', async () => {
  const { code, out, err } = await cascade(['restore', 'plant2', file], WITH);
  expect([code, err]).toEqual([0, '']);
  const admin = await logIn('admin__plant2', passwordIn(out));
  const after = await allOf(admin);
  const named = JSON.parse(JSON.stringify([...before]).replaceAll('"ars_namespace":"plant"', '"ars_namespace":"plant2"')) as unknown;
  expect(JSON.parse(JSON.stringify([...after]))).toEqual(named);
  expect(await ok(admin, 'POST', '/procedures/Plant.twice', '[4]', 'application/json')).toBe('8');
  expect((await cascade(['restore', 'plant2', file], WITH)).err).toContain(
    'cascade.backup.namespace.used: Namespace plant2 is not empty: it has definitions.',
  );
});

test('restored under its own name it is what it was, and goes on', async () => {
  const owner = await logIn('admin__plant', PASSWORD);
  expect((await owner.send('DELETE', '/namespaces/plant', {})).status).toBe(204);
  const { code, out, err } = await cascade(['restore', 'plant', file], WITH);
  expect([code, err]).toEqual([0, '']);
  const password = passwordIn(out);
  const admin = await logIn('admin__plant', password);
  expect(Object.fromEntries(await allOf(admin))).toEqual(Object.fromEntries(before));
  const headers = { Authorization: `Bearer ${await tokenOf(admin, 'admin__plant', password)}` };
  const content = await fetch(`${service.url}/docs/reports/today.bin`, { headers });
  expect(Buffer.from(await content.arrayBuffer()).equals(CONTENT)).toBe(true);

  // Keys hold, rules run, secrets open.
  expect((await admin.send('POST', '/custom/Pump', { body: { code: 'a' } as never })).status).toBe(409);
  await ok(admin, 'POST', '/custom/Pump', { code: 'c', pin: 'new' });
  const texts = async (): Promise<string[]> =>
    (JSON.parse(await ok(admin, 'GET', '/custom/Alarm')) as { text: string }[]).map(({ text }) => text);
  await expect.poll(texts).toContain('pump c 42');
  expect(await texts()).toHaveLength(3); // what was restored has started none
  const again = join(folder, 'again.backup');
  expect(await cascade(['backup', 'plant', again], WITH)).toMatchObject({ code: 0 });
});

test('a backup of a namespace in use has whole commits', async () => {
  const system = await logIn('system', service.password);
  await ok(system, 'POST', '/namespaces', { namespace: 'busy', username: 'admin__busy', password: PASSWORD });
  const admin = await logIn('admin__busy', PASSWORD);
  await ok(admin, 'POST', '/types', TYPES[2]);
  let isOver = false;
  const inserting = (async () => {
    for (let n = 0; !isOver; n++) await ok(admin, 'POST', '/custom/Pair', [{ n }, { n }]);
  })();
  const busy = join(folder, 'busy.backup');
  await expect.poll(async () => (JSON.parse(await ok(admin, 'GET', '/custom/Pair')) as unknown[]).length).toBeGreaterThan(20);
  const { code } = await cascade(['backup', 'busy', busy]);
  isOver = true;
  await inserting;
  expect(code).toBe(0);
  const rows = gunzipSync(await readFile(busy))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { row?: { n?: { $numberLong: string } } });
  const counts = new Map<string, number>();
  for (const { row } of rows) if (row?.n) counts.set(row.n.$numberLong, (counts.get(row.n.$numberLong) ?? 0) + 1);
  expect(counts.size).toBeGreaterThan(10);
  expect([...counts].filter(([, count]) => count !== 2)).toEqual([]);
});

test('a file that is none, cut off, changed, of another format or another passphrase restores nothing', async () => {
  const whole = gunzipSync(await readFile(file))
    .toString()
    .trim()
    .split('\n');
  const packed = async (lines: string[]): Promise<string> => {
    const name = join(folder, `${randomBytes(4).toString('hex')}.backup`);
    await writeFile(name, gzipSync(`${lines.join('\n')}\n`));
    return name;
  };
  const refused = async (name: string, env: Record<string, string> = WITH): Promise<string> => {
    const { code, err } = await cascade(['restore', 'plant3', name], env);
    expect(code).toBe(1);
    return err;
  };
  const cut = join(folder, 'cut.backup');
  await writeFile(cut, (await readFile(file)).subarray(0, 20_000));
  expect(await refused(cut)).toContain('is cut off');
  expect(await refused(await packed(whole.slice(0, -1)))).toContain('is cut off');
  expect(await refused(await packed(whole.filter((_, at) => at !== 3)))).toMatch(/was changed: it has \d+ rows, and its end tells of \d+/);
  expect(await refused(await packed([whole[0]!.replace('"format":1', '"format":9'), ...whole.slice(1)]))).toContain('is of format 9');
  expect(await refused(await packed(['{"a": 1}']))).toContain('is no backup');
  await writeFile(cut, 'no gzip at all');
  expect(await refused(cut)).toContain('is no backup');
  expect(await refused(file, { CASCADE_BACKUP_PASSPHRASE: 'another one' })).toContain('cascade.backup.key.invalid');
  expect(await cascade(['restore', 'plant3', file])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--passphrase-file') as string,
  });
  expect(await cascade(['restore', 'plant3', join(folder, 'none')], WITH)).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no such file') as string,
  });
  expect((await cascade(['restore', 'plant2', file], WITH, 'admin', service.password)).code).toBe(1);

  const inner = await packed(whole.map((line) => line.replace('"in":"t.', '"in":"t.x')));
  expect(await refused(inner)).toMatch(/cascade\.backup\.invalid: .*no type of it has the collection t\.x.* Nothing of it is in force/);
  const ofService = whole.findLast((line) => line.startsWith('{"in":"t.Ars'))!;
  const end = JSON.stringify({ end: { rows: whole.length - 1 } });
  expect(await refused(await packed([...whole.slice(0, -1), ofService, end]))).toMatch(
    /cascade\.backup\.invalid: .*a row of t\.Ars.* twice/,
  );
  const system = await logIn('system', service.password);
  const begin = { op: 'beginRestore', data: { head: { ...JSON.parse(whole[0]!), check: null, passphrase: undefined } } };
  const { restore: first } = JSON.parse(await ok(system, 'POST', '/backups/plant3', begin)) as { restore: string };
  await ok(system, 'POST', '/backups/plant3', begin);
  expect((await system.send('GET', '/backups/plant3', {})).status).toBe(405);
  const late = await system.send('POST', '/backups/plant3', { body: { op: 'restore', data: { restore: first, rows: [] } } as never });
  expect([late.status, late.text]).toEqual([400, expect.stringContaining('another restore')]);
  // After all of these it still takes a whole one.
  expect(await cascade(['restore', 'plant3', file], WITH)).toMatchObject({ code: 0, err: '' });
});
