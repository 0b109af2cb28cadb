// The whole service: its parts open in order and close in reverse. The command line and each test of the whole hold one.
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock/index.ts';
import type { FirstStart, FirstStartOptions } from '../identity/index.ts';
import { openEngine, readBuild } from '../engine/index.ts';
import { type NatsOptions, openNats } from '../platform/bus/index.ts';
import type { Level } from '../sandbox/index.ts';
import type { Counters } from '../resources/counters.ts';
import { openMasterKey } from '../platform/keys/index.ts';
import { openEmbeddedMongod } from '../platform/mongod/index.ts';
import { type ListenOptions, listen } from './listen.ts';
import { requireFreePort } from './transport/index.ts';

/** The way to the other processes on the same database. */
export type NatsConfig = Omit<NatsOptions, 'log'>;

export interface ServiceConfig extends Omit<ListenOptions, 'engine' | 'log'> {
  /** Where the embedded database lives; may be absent with `mongoUri`. */
  dataDir?: string | undefined;
  /** A replica set of the user's own, instead of the embedded one. */
  mongoUri?: string;
  /** Several processes on one database reach each other by it; without it this one has to be the only one. */
  nats?: NatsConfig | undefined;
  /** Another process has taken over what this one did: it serves nobody any more. */
  onFenced?: () => void;
  /** Seals what is encrypted (platform/keys); with an embedded database it is made and kept in the data folder when none is given. */
  masterKey?: Uint8Array | undefined;
  /** What time it is for rules; the machine's clock when absent. */
  clock?: Clock;
  /** Evaluations that one rule may have open; a million when absent. */
  mostOpenEvaluations?: number;
  /** Worker threads for programs. */
  lanes?: number;
  /** How far the operating system has to confine the sandbox, or the start is refused. */
  requireSandbox?: Level;
  /** The address by which clients reach the service; its own where none is given. */
  publicUrl?: string;
  /** Networks that sources may reach besides public addresses. */
  outboundAddresses?: readonly string[] | undefined;
  firstStart: FirstStartOptions;
  /** Told of the accounts as soon as there are any: what fails after that must not lose the passwords of a first start. */
  announce(first: FirstStart): void;
}

export interface Service extends AsyncDisposable {
  readonly url: string;
  /** What it has counted and measured of its work. */
  readonly counters: Counters;
  /** Resolves when everything that was set going has come to rest. */
  settled(): Promise<void>;
}

/** @throws Error with a reason for people when a part cannot be opened; nothing is left open then */
export async function openService(config: ServiceConfig, log: Logger): Promise<Service> {
  const {
    dataDir,
    mongoUri,
    nats,
    onFenced,
    masterKey,
    clock,
    mostOpenEvaluations,
    lanes,
    requireSandbox,
    publicUrl,
    outboundAddresses,
    firstStart,
    announce,
    ...listening
  } = config;
  const opened: AsyncDisposable[] = [];
  const service = { url: '' };
  const keep = <T extends AsyncDisposable>(part: T): T => {
    opened.push(part);
    return part;
  };
  const close = async (): Promise<void> => {
    for (const part of opened.splice(0).reverse())
      try {
        await part[Symbol.asyncDispose]();
      } catch (err) {
        log.error({ err }, 'a part did not close');
      }
  };
  try {
    await requireFreePort(listening.host, listening.port);
    const uri = mongoUri ?? keep(await openEmbeddedMongod({ dataDir: required(dataDir), log })).uri;
    const bus = nats && keep(await openNats({ ...nats, log }));
    const engine = keep(
      await openEngine({
        mongoUri: uri,
        exclusive: mongoUri === undefined,
        needsBus: true,
        ...(bus && { bus }),
        ...(onFenced && { onFenced }),
        masterKey: masterKey ?? (mongoUri === undefined ? openMasterKey(required(dataDir)) : null),
        ...(clock && { clock }),
        ...(mostOpenEvaluations === undefined ? {} : { mostOpenEvaluations }),
        ...(lanes === undefined ? {} : { lanes }),
        ...(requireSandbox && { requireSandbox }),
        about: { serverUri: () => (publicUrl ?? service.url).replace(/\/+$/, ''), build: readBuild() },
        ...(outboundAddresses && { outboundAddresses }),
        log,
      }),
    );
    announce(await engine.identity.ensureFirstStart(firstStart));
    const { url } = keep(await listen({ engine, log, ...listening }));
    service.url = url;
    return { url, counters: engine.counters, settled: () => engine.settled(), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close(); // half open belongs to nobody: undo it, then tell
    throw mongoUri !== undefined && isOfDriver(error)
      ? new Error(`the MongoDB that --mongo names cannot be used: ${error.message}`, { cause: error })
      : error;
  }
}

const isOfDriver = (error: unknown): error is Error => error instanceof Error && /^Mongo[A-Z]/.test(error.name);

function required(dataDir: string | undefined): string {
  if (dataDir === undefined) throw new Error('Either a folder for the data (--data DIR) or a database (--mongo URI) is needed.');
  return dataDir;
}
