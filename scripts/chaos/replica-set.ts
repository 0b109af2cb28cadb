// A replica set of three members without users, each a mongod of its own behind a proxy: its primary is killed, made to step down, stands still for longer
// than an election takes, or can be reached by nobody.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Document, MongoClient } from 'mongodb';
import { pino } from 'pino';
import { FaultyProxy } from '../../conformance/federation/proxy.ts';
import { findMongod } from '../../platform/mongod/index.ts';
import { signal } from './disturb.ts';

const SET = 'chaos';
const MEMBERS = 3;
const ELECTION_MS = 2_000;
/** Longer than an election: who wakes is no primary any more, and has to find that out. */
const STAND_MS = 6_000;
const ANSWERS_WITHIN_MS = 60_000;

interface Member {
  readonly port: number;
  /** By which the service and the other members reach it. */
  readonly proxy: FaultyProxy;
  child: ChildProcess;
}

export interface ReplicaSetOptions {
  readonly members?: number;
  /** Options of the members, besides the usual ones. */
  readonly args?: readonly string[];
  /** Of the members' processes, besides ours. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ReplicaSet extends AsyncDisposable {
  readonly uri: string;
  /** With the data of all. */
  readonly folder: string;
  /** All members end at once, and are started again. */
  kill(): Promise<void>;
  launch(): Promise<void>;
  /** It ends at once, and is started again. */
  killPrimary(): Promise<void>;
  killSecondary(): Promise<void>;
  /** It stands still while another is elected, and goes on. */
  freezePrimary(): Promise<void>;
  stepDown(): Promise<void>;
  /** Nobody can reach it, though it lives and reaches the others: another is elected, and for a while both take themselves for the primary. */
  partitionPrimary(): Promise<void>;
}

// oxlint-disable-next-line max-lines-per-function -- an object with what its members share as closures
export async function openReplicaSet({ members: count = MEMBERS, args = [], env = {} }: ReplicaSetOptions = {}): Promise<ReplicaSet> {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-members-'));
  const binary = await findMongod(process.env, pino({ level: 'silent' }));
  const members: Member[] = [];
  const launch = (port: number): ChildProcess => {
    const path = join(folder, String(port));
    mkdirSync(path, { recursive: true });
    const options = {
      '--dbpath': path,
      '--port': String(port),
      '--replSet': SET,
      '--bind_ip': '127.0.0.1',
      '--wiredTigerCacheSizeGB': '0.25',
      '--logpath': join(folder, `${port}.log`),
    };
    return spawn(binary, [...Object.entries(options).flat(), '--logappend', '--nounixsocket', ...args], {
      stdio: 'ignore',
      env: { ...process.env, ...env },
    });
  };
  const close = async (): Promise<void> => {
    for (const { child, proxy } of members) {
      child.kill('SIGKILL');
      await proxy[Symbol.asyncDispose]();
    }
    await sleep(200);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    for (let n = 0; n < count; n++) {
      const port = await freePort();
      members.push({ port, proxy: await FaultyProxy.open(port), child: launch(port) });
    }
    const hosts = members.map(({ proxy }) => `127.0.0.1:${proxy.port}`);
    const settings = { electionTimeoutMillis: ELECTION_MS, heartbeatIntervalMillis: 500 };
    const config = { _id: SET, members: hosts.map((host, _id) => ({ _id, host })), settings };
    await until(() => command(members[0]!.port, { replSetInitiate: config }));
    const primary = async (): Promise<Member> => {
      for (const end = performance.now() + ANSWERS_WITHIN_MS; performance.now() < end; await sleep(50))
        for (const member of members) {
          const hello = await command(member.port, { hello: 1 }).catch(() => null);
          if (hello?.['isWritablePrimary'] === true) return member;
        }
      throw new Error('no member became primary');
    };
    const killed = async (member: Member): Promise<void> => {
      member.child.kill('SIGKILL');
      await sleep(500);
      member.child = launch(member.port);
      await until(() => command(member.port, { hello: 1 }));
    };
    await primary();
    return {
      uri: `mongodb://${hosts.join(',')}/?replicaSet=${SET}`,
      folder,
      async kill() {
        await Promise.all(
          members.map(({ child }) => {
            const ended = once(child, 'exit');
            child.kill('SIGKILL');
            return ended;
          }),
        );
      },
      async launch() {
        for (const member of members) member.child = launch(member.port);
        await primary();
      },
      killPrimary: async () => killed(await primary()),
      async killSecondary() {
        const { port } = await primary();
        await killed(members.find((one) => one.port !== port)!);
      },
      async freezePrimary() {
        const { child } = await primary();
        signal(child.pid as number, 'SIGSTOP');
        await sleep(STAND_MS);
        signal(child.pid as number, 'SIGCONT');
      },
      async stepDown() {
        const { port } = await primary();
        await command(port, { replSetStepDown: 5, secondaryCatchUpPeriodSecs: 2 }).catch(() => undefined); // it may hang up instead of answering
      },
      async partitionPrimary() {
        const { proxy } = await primary();
        await proxy.become('silent');
        await sleep(STAND_MS);
        proxy.cut(); // what was on its way is lost
        await proxy.become('open');
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function command(port: number, asked: Document): Promise<Document> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 2_000,
    socketTimeoutMS: 20_000,
  });
  try {
    return await client.db('admin').command(asked);
  } finally {
    await client.close();
  }
}

async function until(work: () => Promise<unknown>): Promise<void> {
  for (const end = performance.now() + ANSWERS_WITHIN_MS; ; await sleep(100))
    try {
      await work();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
