// `cascade serve`: runs the service in this process until a signal stops it.
import { isCheap, passwordCostOf } from '../../identity/index.ts';
import { parseMasterKey } from '../../platform/keys/index.ts';
import { aliasBuiltinPackage } from '../../stdlib/builtins/index.ts';
import { type NatsConfig, openService } from '../service.ts';
import { openLog } from './log.ts';
import { mongoUriOf, secret } from './secrets.ts';
import type { ServeOptions } from './serve-options.ts';
import { type Terminal, UsageError } from './terminal.ts';

const PING_MS = 30_000;
/** Variables that may hold a secret; the URI of a database may contain its password, and the URL of NATS a token. */
const SECRETS = [
  'CASCADE_ADMIN_PASSWORD',
  'CASCADE_SYSTEM_PASSWORD',
  'CASCADE_MASTER_KEY',
  'CASCADE_MONGO',
  'CASCADE_NATS',
  'CASCADE_NATS_NKEY',
] as const;
/** The exit code of a process that was declared dead: it did nothing for longer than its lease. */
const FENCED = 3;

/**
 * Returns when the service has stopped after SIGTERM or SIGINT. A second signal, a second later or more, ends the process at once.
 * @returns 0, or 1 when the service could not start, or 3 when another process has taken over from it
 */
export async function serve(options: ServeOptions, terminal: Terminal): Promise<number> {
  const { env } = terminal;
  const { data, adminUsername, adminPasswordFile, systemPasswordFile, masterKeyFile, idleTimeout } = options;
  const mongo = mongoUriOf(options);
  if (data === undefined && mongo === undefined)
    throw new UsageError(
      'Either a folder for the data (--data DIR, CASCADE_DATA) or a database (--mongo URI, CASCADE_MONGO, CASCADE_MONGO_FILE) is needed.',
    );
  const nats = natsOf(options, env);
  const adminPassword = secret(env, 'CASCADE_ADMIN_PASSWORD', adminPasswordFile);
  const systemPassword = secret(env, 'CASCADE_SYSTEM_PASSWORD', systemPasswordFile);
  const keyText = secret(env, 'CASCADE_MASTER_KEY', masterKeyFile);
  const masterKey = keyText === undefined ? undefined : parseMasterKey(keyText);
  if (masterKey === null) throw new UsageError('CASCADE_MASTER_KEY is no key of 32 bytes (64 hexadecimal digits, or base64).');
  for (const name of SECRETS) delete env[name]; // child processes do not inherit the secrets
  aliasBuiltinPackage(options.builtinPackageAliases ?? []);
  // Standard output is for people: the address, and the passwords of a first start. The log goes to standard error.
  const log = openLog(options.logLevel, options.logFormat);
  const passwordCost = options.passwordCost === undefined ? undefined : passwordCostOf(options.passwordCost);
  if (passwordCost && isCheap(passwordCost))
    log.warn('passwords are hashed at less than the usual cost, which is for trying and tests: --password-cost');
  const stopped = untilSignal();
  let fenced!: (reason: 'fenced') => void;
  const untilFenced = new Promise<'fenced'>((resolve) => (fenced = resolve));
  try {
    const service = await openService(
      {
        port: options.port,
        host: options.host,
        http: options.http,
        trustedProxies: options.trustProxy,
        corsOrigins: options.corsOrigins,
        bodyLimitBytes: options.bodyLimit,
        documentLimitBytes: options.documentLimit,
        ...(idleTimeout !== undefined && {
          webSocket: { silenceSeconds: idleTimeout, pingMs: Math.min(PING_MS, (idleTimeout * 1_000) / 3) },
        }),
        dataDir: data,
        measuresProcess: true,
        mongoUri: mongo,
        nats,
        onFenced: () => fenced('fenced'),
        masterKey,
        lanes: options.lanes,
        requireSandbox: options.requireSandbox,
        ...(passwordCost && { passwordCost }),
        mostOpenEvaluations: options.openEvaluations,
        publicUrl: options.publicUrl,
        outboundAddresses: options.outboundAddresses,
        firstStart: { adminUsername, adminPassword, systemPassword },
        announce: ({ generated, isFirst }) => {
          for (const { username, password } of generated)
            terminal.out(`First start: the password of user ${username} is ${password} (it is not shown again)\n`);
          const ignored = isFirst ? [] : namesGiven({ adminUsername, adminPassword, systemPassword });
          if (ignored.length === 0) return;
          const text = `ignored, since there are accounts already: ${ignored.join(', ')}. A password is changed by \`cascade admin reset NAME\``;
          log.warn({ ignored }, text);
          terminal.out(`Note: ${text}.\n`);
        },
        onFallback: (text) => terminal.out(`Note: ${text}.\n`),
      },
      log,
    );
    terminal.out(`Cascade serves on ${service.url}\n`);
    const signal = await Promise.race([stopped, untilFenced]);
    log.info({ signal }, 'the service stops after a signal');
    await service[Symbol.asyncDispose]();
    return signal === 'fenced' ? FENCED : 0;
  } catch (error) {
    log.debug({ err: error }, 'the service did not start');
    terminal.err(`Cascade could not start: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

/** @throws UsageError when options of NATS are given without its address */
function natsOf(options: ServeOptions, env: Terminal['env']): NatsConfig | undefined {
  const url = options.nats ?? secret({}, 'CASCADE_NATS', options.natsFile);
  const nkeySeed = secret(env, 'CASCADE_NATS_NKEY', options.natsNkeyFile);
  const caFile = options.natsCaFile;
  if (url !== undefined) return { url, nkeySeed, caFile };
  if (nkeySeed !== undefined || caFile !== undefined)
    throw new UsageError('What NATS is to be reached with is given, but not where it is: --nats URL (CASCADE_NATS, CASCADE_NATS_FILE).');
  return undefined;
}

const NAMES = {
  adminUsername: 'CASCADE_ADMIN_USERNAME',
  adminPassword: 'CASCADE_ADMIN_PASSWORD',
  systemPassword: 'CASCADE_SYSTEM_PASSWORD',
} as const;

const namesGiven = (given: Partial<Record<keyof typeof NAMES, string | undefined>>): string[] =>
  (Object.keys(NAMES) as (keyof typeof NAMES)[]).filter((key) => given[key] !== undefined).map((key) => NAMES[key]);

/** One press of Ctrl-C may reach a process more than once: from the terminal, from npm, from any parent that forwards signals. */
const SAME_SIGNAL_MS = 1_000;

function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = (signal: NodeJS.Signals): void => {
      first ??= performance.now();
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
