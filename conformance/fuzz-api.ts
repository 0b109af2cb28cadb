// `npm run fuzz:api -- [--minutes N] [--seed N] [SCHEMATHESIS OPTIONS after --]`: starts a service, makes a namespace with types, rules and
// procedures of its own, and lets schemathesis (https://schemathesis.readthedocs.io) try everything that its OpenAPI document promises.
// Schemathesis is a Python program: it is installed once from the Python index, into a folder of the cache.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Json, RestClient, startService } from './client/index.ts';

const VERSION = '4.32.5';
const NAMESPACE = 'fuzzed';
const PASSWORD = 'fuzzed-by-the-minute';

/**
 * Checks that are left out: bodies and conditions may have more forms than a schema tells (values are converted), and less (whether a condition
 * fits its type, whether a text is a program, is not a matter of JSON Schema); and what is wrong with a body is told before that the resource
 * does not offer what it was sent for.
 */
const EXCLUDED = 'negative_data_rejection,positive_data_acceptance,unsupported_method';

const USAGE = 'usage: npm run fuzz:api -- [--minutes N] [--seed N]   (5 minutes without; 0 for the examples alone)';

const property = (type: string, more: { [key: string]: Json } = {}): Json => ({ type, ...more });
const DEFINITIONS: [path: string, body: Json][] = [
  [
    '/types',
    {
      name: 'Pump',
      properties: {
        site: property('String', { required: true }),
        code: property('String'),
        on: property('Boolean'),
        since: property('DateTime'),
        cost: property('Currency'),
        tags: property('String', { multi: true }),
        place: property('GeoJSON'),
        details: property('Object'),
        rate: property('Real'),
        count: property('Integer'),
      },
      naturalKey: ['site'],
      indexes: [{ keys: ['site'], options: { unique: true } }],
    },
  ],
  ['/types', { name: 'Alarm', properties: { text: property('String'), pump: property('ResourceReference') } }],
  ['/topics', { name: '/pump/told' }],
  ['/procedures', 'PROCEDURE plain() return "plain"'],
  ['/procedures', 'PROCEDURE added(a Integer REQUIRED, b Integer DEFAULT 1): Integer return a + b'],
  ['/procedures', 'PROCEDURE Pumps.sited(site String): Object return SELECT ONE FROM Pump AS p WHERE p.site == site'],
  ['/procedures', 'PROCEDURE opened(a) WITH ars_public = true, profiles = ["user"] return [a]'],
  ['/rules', 'RULE told WHEN INSERT OCCURS ON Pump AS p INSERT Alarm(text: p.site)'],
  ['/rules', 'RULE heard WHEN EVENT OCCURS ON "/topics/pump/told" AS e INSERT Alarm(text: "told")'],
  ['/custom/Pump', [{ site: 'north', on: true }, { site: 'south' }]],
];

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    allowPositionals: true,
    options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string' }, help: { type: 'boolean' } },
  });
  const minutes = Number(values.minutes);
  if (values.help || !(minutes > 0)) {
    console.error(USAGE);
    return values.help ? 0 : 2;
  }
  const schemathesis = installed();
  await using service = await startService();
  const token = await makeNamespace(service.url, service.user, service.password);
  const folder = await mkdtemp(join(tmpdir(), 'cascade-fuzz-'));
  const options = [
    '--max-time',
    String(Math.round(minutes * 60)),
    '--exclude-checks',
    EXCLUDED,
    '--continue-on-failure',
    '--no-shrink',
    '--request-timeout',
    '60',
  ];
  const all = ['run', `${service.url}/api/v1/openapi.json`, ...options, '--header', `Authorization: Bearer ${token}`];
  try {
    const status = await run(schemathesis, [...all, ...(values.seed === undefined ? [] : ['--seed', values.seed])], folder);
    if (service.process.exitCode !== null) console.error('THE SERVICE HAS ENDED');
    return service.process.exitCode === null ? status : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The program's file; installs it when it is not there. */
function installed(): string {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cascade', `schemathesis-${VERSION}`);
  const program = join(folder, 'bin', 'schemathesis');
  if (existsSync(program)) return program;
  console.log(`· schemathesis ${VERSION} is installed into ${folder}`);
  step('python3', ['-m', 'venv', folder]);
  step(join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`]);
  return program;
}

function step(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''} (Python 3.10 or newer is needed)`);
}

/** It writes a folder of examples where it runs, hence one of its own. */
function run(command: string, args: string[], cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** A namespace with something of everything. @returns the token of its admin */
async function makeNamespace(url: string, user: string, password: string): Promise<string> {
  const first = new RestClient(url);
  const client = new RestClient(url);
  try {
    await first.login(user, password);
    const username = `admin__${NAMESPACE}`;
    await wanted(first.send('POST', '/namespaces', { body: { namespace: NAMESPACE, username, password: PASSWORD } }));
    await client.login(username, PASSWORD);
    for (const [path, body] of DEFINITIONS) await wanted(client.send('POST', path, typeof body === 'string' ? { text: body } : { body }));
    return client.token ?? '';
  } finally {
    first.close();
    client.close();
  }
}

async function wanted(sent: ReturnType<RestClient['send']>): Promise<void> {
  const { status, text } = await sent;
  if (status !== 200) throw new Error(`the namespace could not be made: ${status} ${text}`);
}
