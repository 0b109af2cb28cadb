// The whole service: its parts open in order and close in reverse. The command line and each test of the whole service hold one.
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock/index.ts';
import type { FirstStart, FirstStartOptions, PasswordCost } from '../identity/index.ts';
import { openEngine, readBuild } from '../engine/index.ts';
import type { NatsOptions } from '../platform/bus/index.ts';
import type { Level } from '../sandbox/index.ts';
import type { Counters } from '../resources/counters.ts';
import { MasterKeyError, openMasterKey } from '../platform/keys/index.ts';
import { openEmbeddedMongod } from '../platform/mongod/index.ts';
import { type ListenOptions, listen } from './listen.ts';
import { requireFreePort } from './transport/index.ts';

/** The connection to the other processes on the same database. */
export type NatsConfig = Omit<NatsOptions, 'log'>;

export interface ServiceConfig extends Omit<ListenOptions, 'engine' | 'log'> {
  /** The folder of the embedded database; may be absent with `mongoUri`. */
  dataDir?: string | undefined;
  /** A replica set of the user's own, instead of the embedded one. */
  mongoUri?: string;
  /** The connection between processes on one database; without it this process has to be the only one. */
  nats?: NatsConfig | undefined;
  /** Called when another process has taken over: this one serves nobody any more. */
  onFenced?: () => void;
  /**
   * The key that seals encrypted values (platform/keys); with an embedded database it is generated and kept in the data folder when none is
   * given.
   */
  masterKey?: Uint8Array | undefined;
  /** The clock of rules; the machine's when absent. */
  clock?: Clock;
  /** Bound of the open evaluations of one rule; a million when absent. */
  mostOpenEvaluations?: number;
  /** Number of worker threads for programs. */
  lanes?: number;
  /** The confinement of the sandbox without which the start is refused. */
  requireSandbox?: Level;
  /** The cost of new hashes of passwords. */
  passwordCost?: PasswordCost;
  /** The address by which clients reach the service; its own by default. */
  publicUrl?: string;
  /** Networks that sources may reach besides public addresses. */
  outboundAddresses?: readonly string[] | undefined;
  firstStart: FirstStartOptions;
  /** Called with the accounts as soon as they exist: a later failure must not lose the passwords of a first start. */
  announce(first: FirstStart): void;
}

export interface Service extends AsyncDisposable {
  readonly url: string;
  /** The counters and measurements of its work. */
  readonly counters: Counters;
  /** Resolves when no run and no follow-up work is in progress. */
  settled(): Promise<void>;
}

/** @throws Error with a reason for people when a part cannot be opened; all parts are closed then */
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
    passwordCost,
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
        log.error({ err }, 'a part of the service could not be closed');
      }
  };
  try {
    await requireFreePort(listening.host, listening.port);
    const uri = mongoUri ?? keep(await openEmbeddedMongod({ dataDir: required(dataDir), log })).uri;
    const bus = nats && keep(await (await import('../platform/bus/index.ts')).openNats({ ...nats, log }));
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
        ...(passwordCost && { passwordCost }),
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
    await close(); // close the parts that are open, then report
    if (error instanceof MasterKeyError && masterKey === undefined && mongoUri === undefined)
      throw new Error(
        `${error.message}. It stands in ${required(dataDir)}/master.key, where the one belongs that was kept apart from a copy`,
        {
          cause: error,
        },
      );
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
