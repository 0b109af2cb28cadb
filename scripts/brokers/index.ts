// Real brokers for tests, benchmarks and chaos, each a process of its own on a free port in a temporary folder. Installed by Debian's packages mosquitto, rabbitmq-server,
// nats-server; null where the program is not there.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Broker extends AsyncDisposable {
  readonly port: number;
  readonly process: ChildProcess;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Starts it again on its port and data. */
  restart(): Promise<void>;
}

type Launch = (folder: string, port: number) => Promise<ChildProcess>;

const STARTS_WITHIN_MS = 90_000;
const STOPS_WITHIN_MS = 30_000;
/** Debian's program on the path starts it as another user, without this environment. */
const RABBIT = '/usr/lib/rabbitmq/bin/rabbitmq-server';

export const startMosquitto = (): Promise<Broker | null> =>
  start('mosquitto', async (folder, port) => {
    const config = join(folder, 'mosquitto.conf');
    const lines = [
      `listener ${port} 127.0.0.1`,
      'allow_anonymous true',
      'persistence true',
      `persistence_location ${folder}/`,
      'autosave_interval 1',
      'max_queued_messages 0',
      'user root',
    ];
    await writeFile(config, lines.join('\n'));
    return spawn('mosquitto', ['-c', config], { stdio: 'ignore' });
  });

/** @param tls PEM texts: then every client has to speak TLS */
export const startNats = (tls?: { readonly cert: string; readonly key: string }): Promise<Broker | null> =>
  start('nats-server', async (folder, port) => {
    const files = { '--tlscert': 'cert.pem', '--tlskey': 'key.pem' };
    if (tls) await Promise.all([writeFile(join(folder, 'cert.pem'), tls.cert), writeFile(join(folder, 'key.pem'), tls.key)]);
    const secure = tls ? ['--tls', ...Object.entries(files).flatMap(([option, name]) => [option, join(folder, name)])] : [];
    return spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder, ...secure], { stdio: 'ignore' });
  });

/** With AMQP 1.0 beside 0-9-1; `host` is the virtual host, and the user's only one. */
export const startRabbit = ({ user = 'guest', password = 'guest', host = '/' } = {}): Promise<Broker | null> =>
  start('rabbitmq-server', async (folder, port) => {
    const enabled = join(folder, 'enabled_plugins');
    await writeFile(enabled, '[rabbitmq_amqp1_0].\n');
    const lines = [
      `listeners.tcp.1 = 127.0.0.1:${port}`,
      'loopback_users = none',
      `default_user = ${user}`,
      `default_pass = ${password}`,
      `default_vhost = ${host}`,
    ];
    await writeFile(join(folder, 'rabbitmq.conf'), `${lines.join('\n')}\n`);
    return spawn(RABBIT, [], {
      stdio: 'ignore',
      detached: true, // a shell script with children: all of them are ended together
      env: {
        ...process.env,
        HOME: folder,
        RABBITMQ_NODENAME: `cascade${port}@localhost`,
        RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
        RABBITMQ_ENABLED_PLUGINS_FILE: enabled,
        RABBITMQ_MNESIA_BASE: join(folder, 'data'),
        RABBITMQ_LOG_BASE: join(folder, 'log'),
        RABBITMQ_PID_FILE: join(folder, 'pid'),
        RABBITMQ_DIST_PORT: String(await freePort()),
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+sbwt none',
      },
    });
  });

async function start(program: string, launch: Launch): Promise<Broker | null> {
  const path = (process.env['PATH'] ?? '').split(':').concat('/usr/sbin');
  if (!path.some((folder) => existsSync(join(folder, program)))) return null;
  process.env['PATH'] = path.join(':');
  const folder = await mkdtemp(join(tmpdir(), `cascade-${program}-`));
  const port = await freePort();
  let child = await launch(folder, port);
  await answering(child, port);
  const kill = async (): Promise<void> => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
    killAll(child);
    await ended;
  };
  return {
    port,
    get process() {
      return child;
    },
    kill,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await Promise.race([ended, sleep(STOPS_WITHIN_MS)]);
      await kill();
    },
    async restart() {
      child = await launch(folder, port);
      await answering(child, port);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Also what it has started itself. */
function killAll(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  spawnSync('pkill', ['-KILL', '-P', String(pid)]);
  try {
    process.kill(child.spawnfile === RABBIT ? -pid : pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

async function answering(child: ChildProcess, port: number): Promise<void> {
  const until = Date.now() + STARTS_WITHIN_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    if (await answers(port)) return;
    if (Date.now() > until) throw new Error(`${child.spawnfile} does not answer`);
    await sleep(50);
  }
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
