// Node-RED with one flow: MQTT in, a function, MQTT out. Installed once, by npm, into a cache of the user's.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../processes.ts';
import { progress } from '../report.ts';

const run = promisify(execFile);
const VERSION = '5.0.7';
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cascade', `node-red-${VERSION}`);
const LONGEST_MS = 10 * 60_000;

export interface NodeRed extends AsyncDisposable {
  readonly process: ChildProcess;
}

/** @throws when it cannot be fetched */
export async function startNodeRed(brokerPort: number): Promise<NodeRed> {
  const program = join(CACHE, 'node_modules', 'node-red', 'red.js');
  if (!existsSync(program)) {
    progress(`Node-RED ${VERSION} is fetched`);
    await mkdir(CACHE, { recursive: true });
    await writeFile(join(CACHE, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev', `node-red@${VERSION}`], {
      cwd: CACHE,
      timeout: LONGEST_MS,
    });
  }
  const folder = await mkdtemp(join(tmpdir(), 'cascade-node-red-'));
  await writeFile(join(folder, 'flows.json'), JSON.stringify(flows(brokerPort)));
  await writeFile(
    join(folder, 'settings.js'),
    `module.exports = { flowFile: 'flows.json', uiHost: '127.0.0.1', httpAdminRoot: false, logging: { console: { level: 'error' } } }`,
  );
  const child = spawn(process.execPath, [program, '--userDir', folder, '--port', String(await freePort())], { stdio: 'ignore' });
  return {
    process: child,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A flow for each level. */
function flows(port: number): object[] {
  const broker = {
    id: 'broker',
    type: 'mqtt-broker',
    broker: '127.0.0.1',
    port: String(port),
    autoConnect: true,
    protocolVersion: '4',
    keepalive: '60',
    cleansession: true,
  };
  const flow = (qos: 0 | 1): object[] => [
    {
      id: `in${qos}`,
      type: 'mqtt in',
      z: 'tab',
      topic: `node-red/${qos}/in`,
      qos: String(qos),
      datatype: 'json',
      broker: 'broker',
      wires: [[`f${qos}`]],
    },
    {
      id: `f${qos}`,
      type: 'function',
      z: 'tab',
      func: 'msg.payload = { n: msg.payload.n, at: msg.payload.at }; delete msg.topic; return msg;',
      outputs: 1,
      wires: [[`out${qos}`]],
    },
    {
      id: `out${qos}`,
      type: 'mqtt out',
      z: 'tab',
      topic: `node-red/${qos}/out`,
      qos: String(qos),
      retain: 'false',
      broker: 'broker',
      wires: [],
    },
  ];
  return [{ id: 'tab', type: 'tab', label: 'bench' }, broker, ...flow(0), ...flow(1)];
}
