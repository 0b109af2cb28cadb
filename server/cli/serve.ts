// `cascade serve`: the service in this process, until it is told to stop.
import { pino } from 'pino';
import { parseMasterKey } from '../../runtime/keys/index.ts';
import { aliasBuiltinPackage } from '../../stdlib/builtins/index.ts';
import { openService } from '../service.ts';
import { type Terminal, UsageError } from './terminal.ts';

export interface ServeOptions {
  port: number;
  host?: string;
  data?: string;
  mongo?: string;
}

/**
 * Returns when the service has stopped after SIGTERM or SIGINT. A second signal, a second later or more, ends the process at once.
 * @returns 0, or 1 when the service could not start
 */
export async function serve({ port, host, data, mongo }: ServeOptions, terminal: Terminal): Promise<number> {
  if (data === undefined && mongo === undefined)
    throw new UsageError('Either a folder for the data (--data DIR) or a database (--mongo URI) is needed.');
  // Standard output is for people: the address, and the passwords of a first start. The log goes to standard error.
  const log = pino({ level: terminal.env.CASCADE_LOG_LEVEL ?? 'info' }, pino.destination({ dest: 2, sync: true }));
  const stopped = untilSignal();
  const { CASCADE_ADMIN_USERNAME, CASCADE_ADMIN_PASSWORD, CASCADE_SYSTEM_PASSWORD, CASCADE_MASTER_KEY, CASCADE_PUBLIC_URL } = terminal.env;
  aliasBuiltinPackage(packagesIn(terminal.env.CASCADE_BUILTIN_PACKAGE_ALIASES));
  const masterKey = CASCADE_MASTER_KEY ? parseMasterKey(CASCADE_MASTER_KEY) : undefined;
  const mostOpenEvaluations = countIn('CASCADE_OPEN_EVALUATIONS', terminal.env.CASCADE_OPEN_EVALUATIONS);
  if (masterKey === null) throw new UsageError('CASCADE_MASTER_KEY is no key of 32 bytes (64 hexadecimal digits, or base64).');
  try {
    const service = await openService(
      {
        port,
        host,
        dataDir: data,
        measuresProcess: true,
        mongoUri: mongo,
        ...(masterKey && { masterKey }),
        ...(mostOpenEvaluations === undefined ? {} : { mostOpenEvaluations }),
        ...(CASCADE_PUBLIC_URL && { publicUrl: CASCADE_PUBLIC_URL }),
        firstStart: {
          adminUsername: CASCADE_ADMIN_USERNAME || undefined,
          adminPassword: CASCADE_ADMIN_PASSWORD || undefined,
          systemPassword: CASCADE_SYSTEM_PASSWORD || undefined,
        },
        announce: (generated) => {
          for (const { username, password } of generated)
            terminal.out(`First start: the password of user ${username} is ${password} (it is not shown again)\n`);
        },
      },
      log,
    );
    terminal.out(`Cascade serves on ${service.url}\n`);
    const signal = await stopped;
    log.info({ signal }, 'stopping');
    await service[Symbol.asyncDispose]();
    return 0;
  } catch (error) {
    log.debug({ err: error }, 'the service did not start');
    terminal.err(`Cascade could not start: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

/** Names of packages, with commas between them. */
function packagesIn(text: string | undefined): string[] {
  const packages = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const wrong = packages.find((name) => !/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(name));
  if (wrong !== undefined) throw new UsageError(`CASCADE_BUILTIN_PACKAGE_ALIASES: '${wrong}' is no name of a package.`);
  return packages;
}

function countIn(name: string, text: string | undefined): number | undefined {
  if (!text) return undefined;
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new UsageError(`${name} is no whole number above 0.`);
  return Number(text);
}

/** One press of Ctrl-C reaches a process more than once: from the terminal, from npm, from whoever forwards what it gets itself. */
const SAME_SIGNAL_MS = 1_000;

function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const hear = (signal: NodeJS.Signals): void => {
      first ??= performance.now();
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
      resolve(signal);
    };
    process.on('SIGTERM', hear);
    process.on('SIGINT', hear);
  });
}
