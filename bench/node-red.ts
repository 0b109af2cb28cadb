// Node-RED with a flow to compare ours with. Installed once, by npm, into a cache of the user's.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './processes.ts';
import { progress } from './report/index.ts';

const run = promisify(execFile);
const VERSION = '5.0.7';
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cascade', `node-red-${VERSION}`);
const LONGEST_MS = 10 * 60_000;

export interface NodeRed extends AsyncDisposable {
  readonly process: ChildProcess;
  /** Where its `http in` nodes are. */
  readonly url: string;
}

/**
 * @param flow nodes of the tab `tab`
 * @throws when it cannot be fetched
 */
export async function startNodeRed(flow: readonly object[]): Promise<NodeRed> {
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
  await writeFile(join(folder, 'flows.json'), JSON.stringify([{ id: 'tab', type: 'tab', label: 'bench' }, ...flow]));
  await writeFile(
    join(folder, 'settings.js'),
    `module.exports = { flowFile: 'flows.json', uiHost: '127.0.0.1', httpAdminRoot: false, logging: { console: { level: 'error' } } }`,
  );
  const port = await freePort();
  const child = spawn(process.execPath, [program, '--userDir', folder, '--port', String(port)], { stdio: 'ignore' });
  return {
    process: child,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
