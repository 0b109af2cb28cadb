// `node scripts/compose.mjs`: the example of compose.yaml as it is written, in containers: three processes, a replica set and NATS. Clients insert
// through each process while the owner of their namespace is stopped in order and another one is killed; then all is stopped in order. Anything
// lost or doubled, or that does not end with 0 within its time, ends it with 1.
// It needs root on a Debian, whose packages (podman and what it wants) it installs. Images come from no registry of images: the base images that
// the files name are made here, of Debian's packages, the Node and npm of the package registry, and this machine's own mongod. All that it makes is
// in a folder of its own, which is removed at the end.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { makeImage } from './base-images.mjs';
import { openPodman } from './podman.mjs';

const START_MS = 180_000;
/** A killed process is taken for dead after 35 s; the rest is for a busy machine. */
const TAKE_OVER_MS = 90_000;
const PASSWORD = 'correct horse battery';
const RULE = 'RULE confirm\nWHEN INSERT OCCURS ON Order AS o\n\nINSERT Confirmation(number: o.number)\n';

const clone = dirname(dirname(fileURLToPath(import.meta.url)));
const compose = parse(readFileSync(join(clone, 'compose.yaml'), 'utf8'), { merge: true });
const processes = Object.entries(compose.services)
  .filter(([, { build }]) => build)
  .map(([name, { ports }]) => ({ name, url: `http://${ports[0].replace(/:\d+$/, '')}` }));
const graceSeconds = Math.max(...Object.values(compose.services).map((one) => Number.parseInt(one.stop_grace_period ?? '10s', 10)));

const secrets = {
  NATS_TOKEN: randomBytes(16).toString('hex'),
  CASCADE_MASTER_KEY: randomBytes(32).toString('hex'),
  CASCADE_ADMIN_PASSWORD: PASSWORD,
  CASCADE_SYSTEM_PASSWORD: PASSWORD,
};
const engine = openPodman(clone, secrets);
if (engine.obstacle) {
  console.error(engine.obstacle);
  process.exit(2);
}
const { podman } = engine;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    engine.remove();
    process.exit(1);
  });
try {
  for (const image of baseImages()) {
    const seconds = timed(() => makeImage(image, engine.folder, podman));
    console.log(`· made ${image} in ${seconds} s`);
  }
  await tryOut();
} catch (error) {
  console.error(`FAILED: ${error.message}`);
  process.exitCode = 1;
} finally {
  engine.remove();
}

async function tryOut() {
  engine.compose('up', '--build', '--detach');
  for (const { name } of processes) await healthy(name);
  const token = await login();
  await post('types', { name: 'Order', properties: { number: { type: 'Integer' } } }, token);
  await post('types', { name: 'Confirmation', properties: { number: { type: 'Integer' } } }, token);
  await post('rules', RULE, token);

  const load = startLoad(token);
  await load.more();
  const first = await owner();
  const stopped = timed(() => podman('stop', '--time', String(graceSeconds), containerOf(first)));
  expect(inspect(first, '{{.State.ExitCode}}') === '0', `${first}, stopped, ended with 0 after ${stopped} s`);
  await load.more();
  podman('start', containerOf(first));
  await healthy(first);

  const second = await owner();
  const killedAt = performance.now();
  process.kill(Number(inspect(second, '{{.State.Pid}}')), 'SIGKILL');
  await load.more();
  expect(true, `${second}, killed, was taken over from after ${tenths(performance.now() - killedAt)} s`);
  await healthy(second);
  expect(Number(inspect(second, '{{.RestartCount}}')) > 0, `${second} was started again`);
  await load.more();

  const promised = await load.end();
  for (const { name, url } of processes) {
    const numbers = await until(`all confirmations at ${name}`, START_MS, async () => {
      const found = await confirmations(url, token);
      return found.length >= promised.length && found;
    });
    const isExact = numbers.sort((a, b) => a - b).every((number, at) => number === promised[at]) && numbers.length === promised.length;
    expect(isExact, `${name}: ${promised.length} orders, ${numbers.length} confirmations, none lost or doubled`);
    const log = podman('logs', containerOf(name));
    expect(
      log.includes('Cascade serves on') && log.includes('"confinement":"filtered"'),
      `${name} says that it serves, with its sandbox confined`,
    );
  }
  const since = new Date().toISOString();
  const seconds = timed(() => engine.compose('down', '--timeout', String(graceSeconds), '--volumes'));
  const format = ['--format', '{{.Name}} {{.ContainerExitCode}}'];
  const ends = podman('events', '--stream=false', '--since', since, '--filter', 'event=died', ...format);
  const codes = ends.split('\n').map((line) => line.split(' '));
  expect(
    codes.length === processes.length + 2 && codes.every(([, code]) => code === '0'),
    `down ended all after ${seconds} s: ${ends.replaceAll('\n', ', ')}`,
  );
}

/** Clients that insert through each of the processes, one order at a time each, and repeat at the next one what they got no answer to. */
function startLoad(token) {
  const promised = [];
  let number = 0;
  let isOver = false;
  const client = async (at) => {
    while (!isOver) {
      const mine = ++number;
      await insertSomewhere(mine, at, token);
      promised.push(mine);
      await sleep(20);
    }
  };
  const clients = Promise.all(processes.map((_one, at) => client(at)));
  const failed = clients.then(() => new Promise(() => undefined));
  return {
    /** Waits until more orders have been answered. */
    async more() {
      const goal = number + 50;
      await Promise.race([failed, until('answers to clients', TAKE_OVER_MS, () => promised.length >= goal)]);
    },
    async end() {
      isOver = true;
      await clients;
      return promised.sort((a, b) => a - b);
    },
  };
}

async function insertSomewhere(number, at, token) {
  const limit = performance.now() + TAKE_OVER_MS;
  for (let attempt = at; ; attempt++) {
    const answer = await send(processes[attempt % processes.length].url, 'custom/Order', { number }, token, `order-${number}`).catch(
      () => null,
    );
    if (answer?.ok) return;
    if (answer && answer.status < 500 && answer.status !== 409 && answer.status !== 429)
      throw new Error(`order ${number} was refused: ${answer.status} ${await answer.text()}`);
    if (performance.now() > limit)
      throw new Error(`order ${number} was not taken for ${TAKE_OVER_MS / 1000} s, last: ${answer?.status ?? 'no answer'}`);
    await sleep(200);
  }
}

async function login() {
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
  const tokens = [];
  for (const { url } of processes) {
    const answer = await fetch(`${url}/authenticate`, { headers: { authorization } });
    expect(answer.ok, `a login at ${url}`);
    tokens.push((await answer.json()).accessToken);
  }
  return tokens[0];
}

async function post(resource, body, token) {
  const answer = await send(processes[0].url, resource, body, token);
  if (!answer.ok) throw new Error(`${resource}: ${answer.status} ${await answer.text()}`);
}

function send(url, resource, body, token, requestId) {
  const isText = typeof body === 'string';
  return fetch(`${url}/api/v1/resources/${resource}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': isText ? 'text/plain' : 'application/json',
      ...(requestId && { 'x-cascade-request-id': requestId }),
    },
    body: isText ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(TAKE_OVER_MS),
  });
}

async function confirmations(url, token) {
  const answer = await fetch(`${url}/api/v1/resources/custom/Confirmation?limit=10000`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`confirmations: ${answer.status} ${await answer.text()}`);
  return (await answer.json()).map(({ number }) => number);
}

/** @returns the service whose process owns namespace main: a container's name for itself is the begin of its id */
async function owner() {
  const question = `const held = db.owners.findOne({ _id: 'main' }).process; print(db.processes.findOne({ _id: held ?? 0 })?.host ?? '')`;
  const host = await until('an owner of namespace main', TAKE_OVER_MS, () =>
    podman('exec', containerOf('mongo'), 'mongosh', '--quiet', 'mongodb://mongo/cascade?replicaSet=rs0', '--eval', question),
  );
  return processes.find(({ name }) => inspect(name, '{{.Id}}').startsWith(host)).name;
}

/** Asks by the health check of the file, which an engine without systemd does not do by itself. */
async function healthy(service) {
  const begun = performance.now();
  await until(`${service} to be healthy`, START_MS, () => {
    if (inspect(service, '{{.State.Status}}') !== 'running') return false;
    return engine.isFine('healthcheck', 'run', containerOf(service));
  });
  expect(true, `${service} is healthy after ${tenths(performance.now() - begun)} s`);
}

function containerOf(service) {
  return `${engine.project}_${service}_1`;
}

function inspect(service, format) {
  return podman('inspect', '--format', format, containerOf(service));
}

/** The images that the files name and nobody builds, with the names that they have there. */
function baseImages() {
  const built = [...readFileSync(join(clone, 'Dockerfile'), 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, name]) => name);
  return new Set([...built, ...Object.values(compose.services).flatMap(({ build, image }) => (build ? [] : [image]))]);
}

/** Looks again and again until there is an answer. */
async function until(what, ms, look) {
  const limit = performance.now() + ms;
  for (;;) {
    const answer = await look();
    if (answer) return answer;
    if (performance.now() > limit) throw new Error(`waited ${ms / 1000} s for ${what}`);
    await sleep(200);
  }
}

function expect(isGood, what) {
  if (!isGood) throw new Error(`not so: ${what}`);
  console.log(`✓ ${what}`);
}

/** @returns how many seconds it took */
function timed(act) {
  const begun = performance.now();
  act();
  return tenths(performance.now() - begun);
}

function tenths(ms) {
  return Math.round(ms / 100) / 10;
}
