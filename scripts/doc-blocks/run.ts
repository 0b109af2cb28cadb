// The blocks against a service that is there, as a test runs them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Block, blocksOf, DOCUMENTS, faultsOf, toScript } from './blocks.mjs';

export const readBlocks = (root: string): Block[] => DOCUMENTS.flatMap((name) => blocksOf(name, readFileSync(join(root, name), 'utf8')));

/**
 * @param service whose user admin has that password
 * @returns what is wrong (faultsOf in blocks.mjs), what the shell wrote to standard error, and its exit code
 */
export async function runBlocks(
  blocks: readonly Block[],
  service: { readonly url: string; readonly password: string },
): Promise<{ faults: string[]; errors: string; status: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-docs-'));
  try {
    const env = {
      ...process.env,
      ...{ DOC_URL: service.url, CASCADE_URL: service.url, DOC_PASSWORD: service.password },
      ...{ DOC_FOLDER: folder, DOC_CLONE: join(import.meta.dirname, '../..') },
    };
    const shell = spawn('bash', ['-c', toScript(blocks, { whole: false })], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [output, errors, [status]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
    return { faults: faultsOf(blocks, output), errors, status: status as number };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
