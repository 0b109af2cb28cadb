// What seeds a fault into a bundle: the text of one file is replaced by another one while it is read; nothing of it stays on the disk.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

export interface Fault {
  /** What then happens. */
  readonly what: string;
  readonly file: string;
  /** Stands once in the file. */
  readonly text: string;
  readonly replacement: string;
}

export function seeding({ file, text, replacement }: Fault, root: string): Plugin {
  return {
    name: 'seeded fault',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (path !== join(root, file)) return undefined;
        return { contents: (await readFile(path, 'utf8')).replace(text, () => replacement), loader: 'ts' };
      });
    },
  };
}
