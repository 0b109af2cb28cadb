// Kills (SIGKILL) the caller and the node in turns while rules write to the node through the outbox, then counts: each effect once.
// node scripts/federation/kills.mjs [--kills 30]; wants dist/ (scripts/build.mjs). Ends with 1 where an effect is missing or doubled.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '30' } } });
const kills = Number(values.kills);
const RULE = `RULE forward WHEN INSERT OCCURS ON Order AS o
INSERT Mark(k: o.k) AS r PROCESSED BY name == "far" { log.info("{}", [r.k]) } ON ERROR (e) { log.warn(e.error.code) }`;

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

class Installation {
  constructor(folder, port) {
    this.folder = folder;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.token = null;
    this.first = true;
  }

  async start() {
    const args = ['bin/cascade.js', 'serve', '--port', String(this.port), '--data', this.folder, '--outbound-addresses', '127.0.0.0/8'];
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    this.child.stdout.on('data', (chunk) => {
      text = (text + chunk).slice(-20_000);
      this.password ??= /password of user admin is (\S+)/.exec(text)?.[1];
    });
    for (;;) {
      const ready = await fetch(`${this.url}/readyz`).catch(() => null);
      if (ready?.ok) break;
      await sleep(100);
    }
    if (!this.token) await this.login();
  }

  async login() {
    const authorization = `Basic ${btoa(`admin:${this.password}`)}`;
    this.token = (await (await fetch(`${this.url}/authenticate`, { headers: { authorization } })).json()).accessToken;
  }

  async kill() {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }

  async call(method, path, body, type = 'application/json') {
    const reply = await fetch(`${this.url}/api/v1/resources${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': type },
      ...(body !== undefined && { body: type === 'application/json' ? JSON.stringify(body) : body }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 300)}`);
    return text === '' ? null : JSON.parse(text);
  }

  async stop() {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
  }
}

const folder = await mkdtemp(join(tmpdir(), 'cascade-kills-'));
const near = new Installation(join(folder, 'near'), await freePort());
const far = new Installation(join(folder, 'far'), await freePort());
await near.start();
await far.start();
await far.call('POST', '/types', { name: 'Mark', properties: { k: { type: 'Integer' } } });
const node = { name: 'far', uri: far.url, username: 'admin', password: far.password, deliveryMode: 'reliable', properties: {} };
await near.call('POST', '/nodes', node);
await near.call('POST', '/types', { name: 'Order', properties: { k: { type: 'Integer' } } });
await near.call('POST', '/rules', RULE, 'text/plain');

let asked = 0;
let goesOn = true;
const acknowledged = new Set();
const client = (async () => {
  while (goesOn) {
    const k = asked++;
    try {
      await near.call('POST', '/custom/Order', { k });
      acknowledged.add(k);
    } catch {
      await sleep(50); // the answer is not known: at most once
    }
    await sleep(20);
  }
})();
for (let i = 0; i < kills; i++) {
  await sleep(200 + Math.random() * 800);
  const victim = i % 2 === 0 ? near : far;
  await victim.kill();
  await victim.start();
  console.log(`${i + 1}: killed the ${victim === near ? 'caller' : 'node'}; ${acknowledged.size} orders acknowledged`);
}
goesOn = false;
await client;
for (let tries = 0; tries < 600; tries++) {
  const { waiting } = await near.call('GET', '/nodes/far/_status');
  const marks = await far.call('GET', '/custom/Mark?props=["k"]&limit=10000');
  if (waiting === 0 && new Set(marks.map(({ k }) => k)).size >= acknowledged.size) break;
  await sleep(200);
}
const counts = new Map();
for (const { k } of await far.call('GET', '/custom/Mark?props=["k"]&limit=10000')) counts.set(k, (counts.get(k) ?? 0) + 1);
const lost = [...acknowledged].filter((k) => !counts.has(k));
const doubled = [...counts].filter(([, count]) => count > 1).map(([k]) => k);
console.log(
  `${kills} kills: ${acknowledged.size} acknowledged, ${counts.size} on the node, lost ${lost.length}, doubled ${doubled.length}`,
);
if (lost.length + doubled.length > 0) console.log({ lost, doubled });
await near.stop();
await far.stop();
await rm(folder, { recursive: true, force: true });
process.exit(lost.length + doubled.length > 0 ? 1 : 0);
