// Makes a mongod that accepts connections the primary of a replica set of one, at the address where it is now, with our user in it.
// Each step may have been done before, by a service that was killed right after it.
import { type Db, MongoClient, MongoServerError } from 'mongodb';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataFolder } from './data-folder.ts';

/** At a new address a mongod first asks the old one whether it is itself; a stranger there that keeps silent costs 30 s. */
const ANSWER_WITHIN_MS = 60_000;
const PRIMARY_WITHIN_MS = 90_000;
const USER_EXISTS = 51003;
const ALREADY_INITIALIZED = 23;
const NOT_YET_INITIALIZED = 94;

/** Speaks to the mongod on a port as a member of its set: possible at any time, without a primary and without a user. */
export async function asMember<T>(port: number, key: string, work: (admin: Db) => Promise<T>, withinMs = ANSWER_WITHIN_MS): Promise<T> {
  // A client whose first attempt failed is closed for good, so each use has a client of its own.
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    auth: { username: '__system', password: key },
    authSource: 'local',
    serverSelectionTimeoutMS: withinMs,
    connectTimeoutMS: withinMs,
    socketTimeoutMS: withinMs,
    maxPoolSize: 2,
  });
  try {
    await client.connect();
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}

/** @returns when the mongod takes writes and our user may log in */
export async function becomePrimary(port: number, setName: string, folder: DataFolder): Promise<void> {
  await asMember(port, folder.key, async (admin) => {
    const host = `127.0.0.1:${port}`;
    for (const until = performance.now() + PRIMARY_WITHIN_MS; ; await sleep(20)) {
      const hello = await admin.command({ hello: 1 });
      if (hello.isWritablePrimary && hello.me === host) break;
      if (performance.now() > until)
        throw new Error(`mongod on port ${port} did not become primary: ${hello.info ?? JSON.stringify(hello.hosts ?? [])}`);
      if (!hello.setName) await configure(admin, host, setName);
    }
    await createUser(admin, folder.user);
  });
}

/**
 * Aborts what a service that was killed has left open. Its transactions would keep their documents locked for a minute,
 * and nobody else can have one: the folder is ours alone.
 */
export async function endSessions(port: number, folder: DataFolder): Promise<void> {
  await asMember(port, folder.key, (admin) => admin.command({ killAllSessions: [] }));
}

/** The featureCompatibilityVersion of the files (`6.0`): what decides which mongod may open them later. */
export async function compatibilityOf(port: number, folder: DataFolder): Promise<string> {
  const reply = await asMember(port, folder.key, (admin) => admin.command({ getParameter: 1, featureCompatibilityVersion: 1 }));
  return (reply as { featureCompatibilityVersion: { version: string } }).featureCompatibilityVersion.version;
}

/** Initiates a set that does not exist; one that is configured for another address gets the new one. */
async function configure(admin: Db, host: string, setName: string): Promise<void> {
  const config = await readConfig(admin);
  if (!config) {
    await unless(ALREADY_INITIALIZED, admin.command({ replSetInitiate: { _id: setName, members: [{ _id: 0, host }] } }));
    return;
  }
  const [member] = config.members;
  if (member?.host === host) return; // still reading its own configuration: asked again soon
  await admin.command({ replSetReconfig: { ...config, version: config.version + 1, members: [{ ...member, host }] }, force: true });
}

interface Config {
  version: number;
  members: { _id: number; host: string }[];
}

async function readConfig(admin: Db): Promise<Config | undefined> {
  const reply = await unless(NOT_YET_INITIALIZED, admin.command({ replSetGetConfig: 1 }));
  return reply?.config as Config | undefined;
}

/** All rights, as it is the only user and the database is its own. */
async function createUser(admin: Db, user: DataFolder['user']): Promise<void> {
  const roles = ['root'];
  await unless(USER_EXISTS, admin.command({ createUser: user.name, pwd: user.password, roles, writeConcern: { w: 'majority' } }));
}

async function unless<T>(code: number, reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === code) return undefined;
    throw error;
  }
}
