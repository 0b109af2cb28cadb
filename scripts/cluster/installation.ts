// Several processes on one database and one NATS, each a real one, for tests: killed, stopped, continued and started again as they like.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { pino } from 'pino';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { type Broker, startNats } from '../brokers/index.ts';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';

const PASSWORD = 'correct horse battery';

export interface Installation extends AsyncDisposable {
  readonly services: readonly StartedService[];
  /** One a service, logged in as admin of namespace main. */
  readonly clients: readonly RestClient[];
  readonly nats: Broker;
  readonly mongoUri: string;
  readonly mongodPid: number;
  readonly client: MongoClient;
  /** Which of the services owns a namespace. */
  ownerOf(namespace: string): Promise<number>;
}

/**
 * @param prepare what the database gets before the first process is there
 * @returns null where nats-server is not installed
 */
export async function openInstallation(
  count: number,
  expects: 'any' | readonly RegExp[] = [],
  prepare: (mongoUri: string) => Promise<void> = async () => undefined,
): Promise<Installation | null> {
  const nats = await startNats();
  if (!nats) return null;
  const opened: AsyncDisposable[] = [nats];
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
  };
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'cascade-cluster-'));
    opened.push({ [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) });
    const mongod = await openEmbeddedMongod({ dataDir, log: pino({ level: 'silent' }) });
    opened.push(mongod);
    await prepare(mongod.uri);
    const client = new MongoClient(mongod.uri);
    opened.push({ [Symbol.asyncDispose]: () => client.close() });
    const args = ['--mongo', mongod.uri, '--nats', `nats://127.0.0.1:${nats.port}`, '--lanes', '1', '--outbound-addresses', '127.0.0.1'];
    const env = { CASCADE_ADMIN_PASSWORD: PASSWORD, CASCADE_SYSTEM_PASSWORD: PASSWORD };
    // All at once, on an empty database.
    const starting = await Promise.allSettled(Array.from({ length: count }, () => startService({ args, env, expects })));
    for (const one of starting) if (one.status === 'fulfilled') opened.push(one.value);
    const failed = starting.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    const services = starting.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const clients = services.map(({ url }) => new RestClient(url, 64));
    for (const [at, one] of clients.entries()) await one.login(services[at]!.user, PASSWORD);
    opened.push({ [Symbol.asyncDispose]: async () => clients.forEach((one) => one.close()) });
    return {
      services,
      clients,
      nats,
      mongoUri: mongod.uri,
      mongodPid: mongod.pid ?? 0,
      client,
      async ownerOf(namespace) {
        const cascade = client.db('cascade');
        const owner = await cascade.collection<{ _id: string; process: number }>('owners').findOne({ _id: namespace });
        const process = await cascade.collection<{ _id: number; pid: number }>('processes').findOne({ _id: owner?.process ?? 0 });
        return services.findIndex((one) => one.process.pid === process?.pid);
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Runs `cascade serve` to its end. @returns what it said, and its exit code */
export async function serveOnce(args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const program = join(import.meta.dirname, '..', '..', 'bin', 'cascade.js');
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve)); // behind its last line
  return { code, said };
}
