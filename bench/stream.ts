// What a slow reader costs: 200 MB are asked for over REST and over WebSocket and read at 1 MB/s. How much more memory does the process take
// at its highest? Beside it a bare handler that answers with the driver's array as JSON.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import pino from 'pino';
import { RestClient, startService } from '../conformance/client/index.ts';
import { openEmbeddedMongod } from '../platform/mongod/index.ts';
import { frameOf, httpRequest, webSocket } from './load.ts';
import { type Baseline, expectOk, forgetPeak, memory, startBaseline, tokenOf } from './processes.ts';
import { type Figure, progress } from './report/index.ts';

const INSTANCES = 10_000;
const TEXT_BYTES = 20_000;
const AT_ONCE = 200;
const SECONDS = 20;
const BYTES_A_SECOND = 1_000_000;
const STEP_MS = 50;

export async function stream(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const mongod = await openEmbeddedMongod({ dataDir: folder, log: pino({ level: 'silent' }) });
  const service = await startService({ args: ['--mongo', mongod.uri] });
  let baseline: Baseline | undefined;
  try {
    const client = new RestClient(service.url);
    await client.login(service.user, service.password);
    await expectOk(client, 'POST', '/types', {
      body: { name: 'BenchLarge', properties: { n: { type: 'Integer' }, text: { type: 'String' } } },
    });
    await using store = await new MongoClient(mongod.uri, { writeConcern: { w: 'majority' } }).connect();
    for (let n = 0; n < INSTANCES; n += AT_ONCE) {
      progress(`storing ${n} of ${INSTANCES}`);
      const some = Array.from({ length: AT_ONCE }, (_, i) => ({ n: n + i, text: randomBytes(TEXT_BYTES / 2).toString('hex') }));
      await expectOk(client, 'POST', '/custom/BenchLarge', { text: JSON.stringify(some), headers: { 'Content-Type': 'application/json' } });
      await store.db('bench_api_baseline').collection('readings').insertMany(some);
    }
    const token = await tokenOf(service.url, service.user, service.password);
    baseline = await startBaseline(new URL('./api-baseline.js', import.meta.url), [mongod.uri, 'bare']);
    const pid = service.process.pid ?? 0;
    const raised: Record<string, number[]> = {
      'cascade, REST': [await slowly(pid, 'REST', () => asked(service.url, restSelect(token)))],
      'cascade, WebSocket': [await slowly(pid, 'WebSocket', () => askedBySocket(service.url, token))],
      'bare handler': [await slowly(baseline.process.pid ?? 0, 'bare', () => asked(baseline?.url ?? '', httpRequest('GET', '/all', {})))],
    };
    return [{ name: `A result of 200 MB read at 1 MB/s for ${SECONDS} s`, unit: 'MB of memory more, at most', rounds: raised }];
  } finally {
    baseline?.process.kill('SIGKILL');
    await service[Symbol.asyncDispose]();
    await mongod[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

const restSelect = (token: string): string =>
  httpRequest('GET', '/api/v1/resources/custom/BenchLarge', { Authorization: `Bearer ${token}` });

/** A connection on which the request was sent and nothing was read. */
async function asked(url: string, request: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.pause();
  socket.write(request);
  return socket;
}

async function askedBySocket(url: string, token: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const login = JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: token });
  await webSocket('/api/v1/wsock/websocket', login).open(socket);
  socket.pause();
  socket.write(frameOf('{"op":"select","resourceName":"BenchLarge"}'));
  return socket;
}

/** Reads at the given rate and gives the megabytes that the process took more, at its highest. */
async function slowly(pid: number, name: string, open: () => Promise<Socket>): Promise<number> {
  await forgetPeak(pid);
  const { now: before } = await memory(pid);
  const socket = await open();
  let bytes = 0;
  let isEnded = false;
  socket.on('data', (data: Buffer) => {
    bytes += data.length;
    socket.pause();
  });
  socket.once('close', () => (isEnded = true));
  const begun = performance.now();
  let reported = 0;
  for (let passed = 0; passed < SECONDS * 1_000 && !isEnded; passed = performance.now() - begun) {
    if (bytes < (passed / 1_000) * BYTES_A_SECOND) socket.resume();
    if (passed >= reported + 1_000) {
      reported = passed;
      progress(`${name}: ${Math.round(bytes / 1e6)} MB read in ${Math.round(passed / 1_000)} s`);
    }
    await sleep(bytes < (passed / 1_000) * BYTES_A_SECOND ? 1 : STEP_MS);
  }
  const { peak } = await memory(pid);
  if (isEnded || bytes < 0.5 * SECONDS * BYTES_A_SECOND)
    throw new Error(`${name}: the connection ended or stood still after ${bytes} bytes`);
  socket.destroy();
  return peak - before;
}
