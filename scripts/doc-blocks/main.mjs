// `node scripts/doc-blocks/main.mjs [--here]`: runs every `sh` block of the documents in their order, as a newcomer would, from `npm start` in a
// fresh copy of the clone on (with --here in the folder itself, which bare-root.mjs does). Exit code 0 when each command has ended well and each
// answer is what the document shows. Plain JavaScript without packages, since the blocks install them.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blocksOf, DOCUMENTS, faultsOf, toScript } from './blocks.mjs';

const TIMEOUT_MS = 15 * 60_000;
const clone = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = mkdtempSync(join(tmpdir(), 'cascade-docs-'));
try {
  const copy = process.argv.includes('--here') ? clone : copyOf(join(folder, 'clone'));
  const blocks = DOCUMENTS.flatMap((name) => blocksOf(name, readFileSync(join(copy, name), 'utf8')));
  const port = await freePort();
  const { status, signal, error, stdout } = spawnSync('bash', ['-c', toScript(blocks, { whole: true })], {
    cwd: copy,
    env: {
      ...process.env,
      CASCADE_PORT: String(port),
      DOC_URL: `http://localhost:${port}`,
      CASCADE_URL: `http://localhost:${port}`,
      DOC_FOLDER: folder,
      CASCADE_SYSTEM_PASSWORD: randomBytes(12).toString('hex'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout: TIMEOUT_MS,
  });
  console.log(stdout.replaceAll('\x1e', '=== '));
  const faults = [...faultsOf(blocks, stdout), ...(status === 0 ? [] : [`the shell ended with ${error?.message ?? signal ?? status}`])];
  for (const fault of faults) console.error(`✗ ${fault}`);
  console.log(`${blocks.length} blocks, ${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** What git knows or would take up. */
function copyOf(target) {
  const files = execFileSync('git', ['-C', clone, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  for (const file of files.split('\0').filter((name) => name && existsSync(join(clone, name)))) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(clone, file), join(target, file));
  }
  return target;
}

/** Named before the service listens, since the blocks name it. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
