// What `npm start` makes of arguments and variables; that it serves is held by scripts/bare-root.mjs.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'cascade-start-'));
const file = join(folder, 'no-folder');
writeFileSync(file, 'not-a-uri\n');
afterAll(() => rmSync(folder, { recursive: true }));

const start = (args: string[], env: Record<string, string>): Promise<{ code: unknown; err: string }> =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, CASCADE_PORT: '0', CASCADE_DATA: '', ...env } };
    execFile(process.execPath, [join(import.meta.dirname, 'start.mjs'), ...args], options, (error, _out, err) =>
      resolve({ code: error?.code, err }),
    );
  });

// Its own --data is added only where nobody says where the data is: with it the URI would be a contradiction, and the file not be looked at.
const rows: [string[], Record<string, string>, number, RegExp][] = [
  [[], { CASCADE_DATA: file }, 1, /no-folder cannot be the folder of the data: a file has that name/],
  [[`--data=${file}`], {}, 1, /a file has that name/],
  [[], { CASCADE_MONGO: 'not-a-uri' }, 2, /^--mongo takes a connection string/m],
  [['--mongo-file', file], {}, 2, /^--mongo takes a connection string/m],
  [[], { CASCADE_DATA: file, CASCADE_PORT: 'abc' }, 2, /from env 'CASCADE_PORT' is invalid/],
];
test.concurrent.for(rows)('npm start -- %j with %j ends with %d', async ([args, env, code, words], { expect }) => {
  const { code: ended, err } = await start(args, env);
  expect(err).toMatch(words);
  expect(ended).toBe(code);
});
