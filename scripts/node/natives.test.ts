// Machine code is loaded only when it is the file that we know.
import { appendFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { faultsOfInstalled } from './natives.mjs';

const root = dirname(dirname(import.meta.dirname));

test('what is installed is what we know, and loads', () => {
  expect(faultsOfInstalled(root)).toEqual({ 'isolated-vm': null, 'uWebSockets.js': null });
});

test('another binary is refused before it is loaded, a missing one named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-natives-'));
  try {
    await mkdir(join(folder, 'node_modules'));
    for (const name of ['isolated-vm', 'node-gyp-build'])
      await cp(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true, dereference: true });
    await writeFile(join(folder, 'package.json'), '{}');
    expect(faultsOfInstalled(folder)).toEqual({
      'isolated-vm': null,
      'uWebSockets.js': { text: expect.stringContaining('uWebSockets.js has no binary for Node v'), isForeign: true },
    });

    const libc = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    const name =
      process.platform === 'linux'
        ? `isolated-vm.abi${process.versions.modules}.${libc.header.glibcVersionRuntime ? 'glibc' : 'musl'}.node`
        : `isolated-vm.abi${process.versions.modules}.node`;
    await appendFile(join(folder, 'node_modules/isolated-vm/prebuilds', `${process.platform}-${process.arch}`, name), 'x');
    await writeFile(join(folder, 'node_modules/.package-lock.json'), '{}'); // what npm writes when it has installed
    expect(faultsOfInstalled(folder)['isolated-vm']).toEqual({
      text: expect.stringMatching(
        /is not the file that Cascade was tested with and is not loaded: its SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}\.$/,
      ),
      isForeign: true,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
