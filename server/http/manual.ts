// Serves the documents of this version as plain text below /manual/, so that they are available wherever the service runs.
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiError } from '../../model/errors/index.ts';
import { MANUAL } from './routes.ts';
import type { HttpReply } from './types.ts';

/** @param folder the documents: those of the repository unless given */
export function openManual(folder = join(repository(), 'docs')): (path: string) => Promise<HttpReply> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^[\w-]+\.md$/.test(name)) : [];
  return async (path) => {
    const name = path.slice(MANUAL.length);
    if (name === '') return plainText(names.map((one) => `${MANUAL}${one}\n`).join(''));
    if (!names.includes(name)) throw apiError('cascade.resource.not.found', path);
    return plainText(await readFile(join(folder, name), 'utf8'));
  };
}

const plainText = (body: string): HttpReply => ({ status: 200, body, contentType: 'text/plain; charset=utf-8' });

/** The folder with package.json, whether this file runs from its source or from dist/. */
function repository(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
