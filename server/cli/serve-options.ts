// The options of `serve`. Each has an environment variable; an option has precedence over its variable. An empty variable counts as absent.
import { type Command, Option } from 'commander';
import type { CorsOrigins, TrustedProxies } from '../http/index.ts';
import type { Level } from '../../sandbox/index.ts';
import type { TransportKind } from '../transport/index.ts';
import type { LogFormat } from './log.ts';
import {
  bodyBytes,
  confinementLevel,
  documentBytes,
  networks,
  origins,
  packages,
  proxies,
  webAddress,
  wholeNumber,
} from './option-values.ts';

/** The place of the data; `admin` has these options, too. */
export interface StoreOptions {
  data?: string;
  mongo?: string;
  mongoFile?: string;
}

export interface ServeOptions extends StoreOptions {
  nats?: string;
  natsFile?: string;
  natsNkeyFile?: string;
  natsCaFile?: string;
  port: number;
  host?: string;
  http?: TransportKind;
  lanes?: number;
  requireSandbox?: Level;
  bodyLimit?: number;
  documentLimit?: number;
  corsOrigins?: CorsOrigins;
  idleTimeout?: number;
  trustProxy?: TrustedProxies;
  publicUrl?: string;
  logLevel: string;
  logFormat?: LogFormat;
  openEvaluations?: number;
  outboundAddresses?: string[];
  builtinPackageAliases?: string[];
  adminUsername?: string;
  adminPasswordFile?: string;
  systemPasswordFile?: string;
  passwordCost?: number;
  masterKeyFile?: string;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

const option = (flags: string, purpose: string, variable: string): Option => new Option(flags, purpose).env(`CASCADE_${variable}`);

export function addStoreOptions(command: Command): Command {
  return command
    .addOption(option('--data <dir>', 'folder of the embedded database', 'DATA').conflicts(['mongo', 'mongoFile']))
    .addOption(
      option('--mongo <uri>', 'a MongoDB replica set of your own, instead of the embedded database', 'MONGO').conflicts('mongoFile'),
    )
    .addOption(option('--mongo-file <file>', 'holds the URI for --mongo', 'MONGO_FILE'));
}

// oxlint-disable-next-line max-lines-per-function -- a table: the options with their texts
export function addServeOptions(command: Command): Command {
  const add = (one: Option): Command => command.addOption(one);
  add(option('--port <port>', 'to listen on; 0 takes any free one', 'PORT').argParser(wholeNumber(0, 65_535)).default(8080));
  add(option('--host <address>', 'to listen on; all addresses of this machine when absent', 'HOST'));
  addStoreOptions(command);
  add(
    option('--nats <url>', 'by which several processes on one database reach each other, such as nats://127.0.0.1:4222', 'NATS').conflicts([
      'data',
      'natsFile',
    ]),
  );
  add(option('--nats-file <file>', 'holds the URL for --nats', 'NATS_FILE').conflicts('data'));
  add(option('--nats-nkey-file <file>', 'holds the seed of the nkey that NATS knows this process by', 'NATS_NKEY_FILE'));
  add(option('--nats-ca-file <file>', 'certificates of who signs the one of NATS; those of the system when absent', 'NATS_CA_FILE'));
  add(
    option('--http <library>', 'who speaks HTTP: uWebSockets.js, or Node (slower); uws where it loads when absent', 'HTTP').choices([
      'uws',
      'node',
    ]),
  );
  add(option('--lanes <count>', 'worker threads for programs; one for each processor when absent', 'LANES').argParser(wholeNumber(1, 64)));
  add(
    option(
      '--require-sandbox [level]',
      'refuse to start where the system does not confine the sandbox: limits (preset), namespaces or filtered; none is required when absent',
      'REQUIRE_SANDBOX',
    )
      .preset('limits')
      .argParser(confinementLevel),
  );
  add(option('--body-limit <bytes>', 'of one request or message; 10M when absent', 'BODY_LIMIT').argParser(bodyBytes));
  add(option('--document-limit <bytes>', 'of one uploaded document; 100M when absent', 'DOCUMENT_LIMIT').argParser(documentBytes));
  add(
    option(
      '--cors-origins <origins>',
      'that browsers may call from: *, none, or a list with commas; * when absent',
      'CORS_ORIGINS',
    ).argParser(origins),
  );
  add(
    option('--idle-timeout <seconds>', 'after which a silent WebSocket is closed; 90 when absent', 'IDLE_TIMEOUT').argParser(
      wholeNumber(8, 960),
    ),
  );
  add(
    option(
      '--trust-proxy <proxies>',
      'how many proxies pass requests on, or their addresses and networks: X-Forwarded-For then tells the client',
      'TRUST_PROXY',
    ).argParser(proxies),
  );
  add(option('--public-url <url>', 'by which clients reach the service; its own when absent', 'PUBLIC_URL').argParser(webAddress));
  add(option('--log-level <level>', 'of the log on standard error', 'LOG_LEVEL').choices(LOG_LEVELS).default('info'));
  add(
    option(
      '--log-format <format>',
      'of the log: JSON, or text for people; text at a terminal and else json when absent',
      'LOG_FORMAT',
    ).choices(['json', 'text']),
  );
  add(
    option('--open-evaluations <count>', 'that one rule over several events may have; a million when absent', 'OPEN_EVALUATIONS').argParser(
      wholeNumber(1, 999_999_999),
    ),
  );
  add(
    option(
      '--outbound-addresses <networks>',
      'that sources may reach besides public addresses, such as 10.1.0.0/16; with commas; none when absent',
      'OUTBOUND_ADDRESSES',
    ).argParser(networks),
  );
  add(
    option(
      '--builtin-package-aliases <packages>',
      'under which the services of io.service can be reached, too; with commas',
      'BUILTIN_PACKAGE_ALIASES',
    ).argParser(packages),
  );
  add(option('--admin-username <name>', 'of the admin that the first start makes; admin when absent', 'ADMIN_USERNAME'));
  add(option('--admin-password-file <file>', 'holds its password; generated and printed once when absent', 'ADMIN_PASSWORD_FILE'));
  add(option('--system-password-file <file>', 'holds the password of the user system; likewise', 'SYSTEM_PASSWORD_FILE'));
  add(
    option(
      '--password-cost <bits>',
      'the binary logarithm of N in scrypt, by which passwords are hashed; 17 when absent',
      'PASSWORD_COST',
    ).argParser(wholeNumber(14, 20)),
  );
  add(option('--master-key-file <file>', 'holds the master key', 'MASTER_KEY_FILE'));
  return command;
}

/** Removes empty variables from the environment: Compose files and unit files set a variable to nothing where they mean none. */
export function dropEmptyVariables(command: Command, env: NodeJS.ProcessEnv): void {
  for (const { envVar } of command.options) if (envVar !== undefined && env[envVar] === '') delete env[envVar];
}
