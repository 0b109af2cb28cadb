// What the crash test must notice: the service without one of the things that make it safe. Each is a text that stands once in its file,
// and what it is replaced by, in a copy of the build; nothing of it can be reached in the service itself.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transform } from 'esbuild';

export interface ChaosFault {
  readonly name: 'marks' | 'journal' | 'versions';
  /** What the checker must report. */
  readonly reported: 'doubled' | 'lost' | 'wrong';
  readonly changes: readonly { readonly file: string; readonly text: string; readonly replacement: string }[];
}

export const CHAOS_FAULTS: readonly ChaosFault[] = [
  {
    name: 'marks',
    reported: 'doubled',
    changes: [
      {
        file: 'runtime/transactions/transaction.ts',
        text: 'const stored = await writeOverflow(db, session, row);',
        replacement: 'const stored = await writeOverflow(db, session, { ...row, done: [] });',
      },
      {
        file: 'runtime/transactions/transaction.ts',
        text: 'documents: [{ document: storedRow(row), mostBytes: ROW_BYTES }] },',
        replacement: 'documents: [{ document: storedRow({ ...row, done: [] }), mostBytes: ROW_BYTES }] },',
      },
      {
        file: 'runtime/transactions/journal.ts',
        text: 'for (const run of row.done) {\n      this.#open.delete(run);',
        replacement: 'for (const run of row.done) {',
      },
    ],
  },
  {
    name: 'journal',
    reported: 'lost',
    changes: [
      {
        file: 'runtime/transactions/transaction.ts',
        text: 'const stored = await writeOverflow(db, session, row);',
        replacement: 'const stored = await writeOverflow(db, session, { ...row, events: [] });',
      },
      {
        file: 'runtime/transactions/transaction.ts',
        text: 'documents: [{ document: storedRow(row), mostBytes: ROW_BYTES }] },',
        replacement: 'documents: [{ document: storedRow({ ...row, events: [] }), mostBytes: ROW_BYTES }] },',
      },
    ],
  },
  {
    name: 'versions',
    reported: 'wrong',
    changes: [
      {
        file: 'runtime/transactions/transaction.ts',
        text: '({ _id: write.id, ars_version: Long.fromBigInt(write.version) });',
        replacement: '({ _id: write.id });',
      },
      {
        file: 'runtime/transactions/committer.ts',
        text: 'if (version === undefined || version === write.version) continue;',
        replacement: 'if (version !== null) continue;',
      },
    ],
  },
];

/** A build with the fault in it: the path of its command `cascade`. It goes with what is returned. */
export async function buildWith({ changes }: ChaosFault, root: string): Promise<Disposable & { readonly program: string }> {
  const folder = mkdtempSync(join(root, 'node_modules/.chaos-')); // beside the packages that it imports
  const gone = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    for (const part of ['bin', 'dist', 'package.json', 'scripts/node']) cpSync(join(root, part), join(folder, part), { recursive: true });
    const files = new Map<string, string>();
    for (const { file, text, replacement } of changes) {
      const source = files.get(file) ?? readFileSync(join(root, file), 'utf8');
      if (source.split(text).length !== 2) throw new Error(`${file} does not hold once: ${text}`);
      files.set(
        file,
        source.replace(text, () => replacement),
      );
    }
    for (const [file, source] of files) {
      const { code } = await transform(source.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"), { loader: 'ts', target: 'es2022' });
      writeFileSync(join(folder, 'dist', file.replace(/\.ts$/, '.js')), code);
    }
  } catch (error) {
    gone();
    throw error;
  }
  return { program: join(folder, 'bin', 'cascade.js'), [Symbol.dispose]: gone };
}

/** The folder with package.json, whether this file runs from its source or from dist/. */
export function repository(): string {
  const here = dirname(new URL(import.meta.url).pathname);
  return here.includes('/dist/') ? here.slice(0, here.lastIndexOf('/dist/')) : join(here, '../..');
}
