// The embedded mongod from open to close: one service a folder, one mongod a folder, on the port the folder has always had;
// adopted when it lives already, started when not, started again when it dies under us, stopped at the end.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { chooseBinary, isFetched } from './binary.ts';
import { type DataFolder, inFolder, openDataFolder } from './data-folder.ts';
import { lockFolder } from './folder-lock.ts';
import { end, isAlive } from './processes.ts';
import { becomePrimary, compatibilityOf, endSessions } from './replica-set.ts';
import { answers, endOf, findLiving, type Running, start, startOn, stop } from './running.ts';
import { FETCHED_IS_FOR_TRYING } from './versions.ts';

const SET_NAME = 'cascade';
const GRACE_MS = 10_000;
const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 10_000;
/** How long mongods that nobody can adopt may have the files. */
const FILES_IN_USE_MS = 30_000;
const LOOK_AGAIN_MS = 250;
/** An adopted mongod is nobody's child that could tell us its end, so it is looked at. */
const LOOK_EVERY_MS = 500;

export interface EmbeddedMongodOptions {
  dataDir: string;
  log: Logger;
  /** Where CASCADE_MONGOD, PATH and XDG_CACHE_HOME are read; the process's own by default. */
  env?: NodeJS.ProcessEnv;
  /** How long a mongod that we find hung may take to answer, and then to end; 10,000 by default. */
  graceMs?: number;
}

export interface EmbeddedMongod extends AsyncDisposable {
  /** With user and password: not for logs. It stays the same while this is open, also when mongod has to be started again. */
  readonly uri: string;
  readonly port: number;
  /** Of the mongod of now; undefined between two. */
  readonly pid: number | undefined;
  /** Whether it was running when we came. */
  readonly isAdopted: boolean;
}

/** Throws when the folder is in use by another service, or no mongod can be found or started; leaves nothing behind then. */
export async function openEmbeddedMongod({
  dataDir,
  log,
  env = process.env,
  graceMs = GRACE_MS,
}: EmbeddedMongodOptions): Promise<EmbeddedMongod> {
  const folder = openDataFolder(dataDir);
  const lock = inFolder(dataDir, () => lockFolder(folder.path));
  let running: Running | undefined;
  try {
    const begun = performance.now();
    running = await adoptOrStart(folder, env, log, graceMs);
    await becomePrimary(running.port, SET_NAME, folder);
    if (!running.child) await endSessions(running.port, folder);
    const kept = folder.kept();
    if (kept) folder.keep({ ...kept, compatibility: await compatibilityOf(running.port, folder) });
    const how = running.child ? 'started' : 'adopted, as it was running';
    log.info({ port: running.port, pid: running.pid }, `the database is ready (${how}, ${Math.round(performance.now() - begun)} ms)`);
    if (kept && isFetched(kept.binary, env)) log.info(FETCHED_IS_FOR_TRYING);
    return supervise(running, folder, () => chooseBinary(folder.kept(), env, log), lock, log);
  } catch (error) {
    if (running) await stop(running, folder);
    lock[Symbol.dispose]();
    throw error;
  }
}

/**
 * Services that were killed while they started leave mongods that are on their way up or down: for a moment one of them has the files without
 * being seen, or is seen and ends. Who has the files is asked again until it is one that answers, or ourselves.
 */
async function adoptOrStart(folder: DataFolder, env: NodeJS.ProcessEnv, log: Logger, graceMs: number): Promise<Running> {
  for (const until = performance.now() + FILES_IN_USE_MS; ; await sleep(LOOK_AGAIN_MS)) {
    const running = (await adopt(folder, log, graceMs)) ?? (await startNew(folder, env, log));
    if (running) return running;
    if (performance.now() > until)
      throw new Error(`another mongod has the files in ${folder.database} and does not answer; end it, then start again`);
  }
}

/** The mongod that a service before us has left running; one that does not answer is ended. */
async function adopt(folder: DataFolder, log: Logger, graceMs: number): Promise<Running | undefined> {
  const living = findLiving(folder);
  if (!living) return undefined;
  if (await answers(living, SET_NAME, folder, graceMs, log)) return living;
  if (isAlive(living.pid)) log.warn({ pid: living.pid }, 'the database of an earlier service does not answer; ending it');
  await end(living.pid, graceMs);
  return undefined;
}

async function startNew(folder: DataFolder, env: NodeJS.ProcessEnv, log: Logger): Promise<Running | undefined> {
  const binary = await chooseBinary(folder.kept(), env, log);
  const running = await start(binary, folder.kept()?.port, SET_NAME, folder, log);
  // Kept before the set learns the address: should we die in between, the next start finds the set elsewhere and moves it here.
  if (running) folder.keep({ ...folder.kept(), port: running.port, setName: SET_NAME, binary });
  return running;
}

/** Keeps a mongod running until it is closed. */
function supervise(first: Running, folder: DataFolder, binary: () => Promise<string>, lock: Disposable, log: Logger): EmbeddedMongod {
  const { port } = first;
  const { name, password } = folder.user;
  const closing = new AbortController();
  let current: Running | undefined = first;

  /** On the same port only: the clients that are open know no other. */
  const startAgain = async (): Promise<Running> => {
    const started = await startOn(await binary(), port, SET_NAME, folder, log);
    if (!('child' in started)) throw new Error(endOf(started, folder));
    try {
      await becomePrimary(port, SET_NAME, folder);
    } catch (error) {
      await stop(started, folder);
      throw error;
    }
    return started;
  };
  const watch = async (): Promise<void> => {
    let pauseMs = RESTART_FIRST_MS;
    while (!closing.signal.aborted) {
      if (current) {
        const since = performance.now();
        await death(current, closing.signal);
        if (closing.signal.aborted) return;
        if (performance.now() - since > RESTART_LAST_MS) pauseMs = RESTART_FIRST_MS;
        current = undefined;
        log.error(`the database has ended; it is started again in ${pauseMs} ms`);
      }
      await sleep(pauseMs, undefined, { ref: false, signal: closing.signal }).catch(() => undefined); // aborted: seen below
      pauseMs = Math.min(pauseMs * 2, RESTART_LAST_MS);
      if (closing.signal.aborted) return;
      try {
        current = await startAgain();
        log.info({ port, pid: current.pid }, 'the database is back');
      } catch (error) {
        log.error({ err: error }, `the database did not start; again in ${pauseMs} ms`);
      }
    }
  };
  const watching = watch();
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    await watching; // a start that is under way is waited for, so that nothing appears after us
    if (current) await stop(current, folder);
    current = undefined;
    lock[Symbol.dispose]();
  };
  return {
    uri: `mongodb://${name}:${password}@127.0.0.1:${port}/?replicaSet=${SET_NAME}&authSource=admin`,
    port,
    get pid() {
      return current?.pid;
    },
    isAdopted: !first.child,
    [Symbol.asyncDispose]: () => (closed ??= close()),
  };
}

/** Until it is dead, or nobody wants to know any more. */
async function death({ child, pid }: Running, signal: AbortSignal): Promise<void> {
  if (child) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    await once(child, 'exit', { signal }).catch(() => undefined); // aborted: the caller sees it
    return;
  }
  while (!signal.aborted && isAlive(pid)) await sleep(LOOK_EVERY_MS, undefined, { ref: false, signal }).catch(() => undefined); // likewise
}
