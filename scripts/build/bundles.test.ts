import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeBundle } from './bundles.mjs';

test('a build keeps what the one before has made, for a service that runs, and removes what is older', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cascade-bundles-'));
  try {
    const out = join(root, 'dist');
    const write = (file: string, contents: Uint8Array | string): void => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, contents);
    };
    write(join(root, 'entry.ts'), "export const later = (): Promise<unknown> => import('./part.ts');");
    const bundle = { entry: 'entry.ts', file: 'all/main.js', options: { format: 'esm', splitting: true, chunkNames: '[name]-[hash]' } };
    const files = { 'entry.ts': { hash: '1' }, 'part.ts': { hash: '2' } };
    const builds: string[][] = [];
    for (const n of [1, 2, 3]) {
      write(join(root, 'part.ts'), `export const n: number = ${n};`);
      const { inputs, outputs } = await makeBundle(bundle, { write, files, before: builds.at(-1) ?? [], root, out });
      expect(inputs).toEqual({ 'entry.ts': '1', 'part.ts': '2' });
      builds.push(outputs);
    }
    const parts = builds.map((outputs) => outputs.find((name) => name !== 'all/main.js')!);
    expect(new Set(parts).size).toBe(3);
    expect(parts.map((name) => existsSync(join(out, name)))).toEqual([false, true, true]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
