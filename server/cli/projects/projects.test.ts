import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { diffProject, importProject } from './index.ts';

/** A server that records its requests, and answers as the test says. */
let server: Server;
let asked: { path: string; body: string }[] = [];
let answer: { status: number; body: unknown } = { status: 200, body: {} };
let folder: string;
let out = '';
let err = '';
const terminal = { out: (text: string) => void (out += text), err: (text: string) => void (err += text), colors: false, env: {} };
const options = () => ({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'cst_of_a_test' });

beforeAll(async () => {
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      asked.push({ path: `${request.method} ${request.url}`, body: Buffer.concat(pieces).toString('latin1') });
      const isImport = request.url?.endsWith('/projects/*') === true;
      response
        .writeHead(isImport ? answer.status : request.method === 'HEAD' ? 404 : 200)
        .end(isImport ? JSON.stringify(answer.body) : '{}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(() => void server.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-project-'));
  [asked, out, err] = [[], '', ''];
  answer = { status: 200, body: { loaded: [], unchanged: [], skipped: ['types/x.txt'], warnings: ['a remark'] } };
  return () => rm(folder, { recursive: true });
});

async function files(contents: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

const sentFiles = (): unknown => (JSON.parse(asked.at(-1)?.body ?? '{}') as { data: { files: unknown } }).data.files;

test('an import is one request with all files; numbers keep their digits, a document is sent as Base64', async () => {
  await files({
    'types/T.json': '\uFEFF{"name":"T","foreignKeys":null,"properties":{"n":{"type":"Integer","default":9007199254740993}}}',
    'types/x.txt': 'x',
    'rules/r.vail': 'RULE r',
    'documents/a/b.bin': Buffer.from([0, 1, 2]),
    'data/T.json': '[{"n":9007199254740993}]',
    'other/x.json': '{}',
    'types/.hidden.json': '{}',
  });
  expect(await importProject(folder, options(), terminal)).toBe(0);
  expect(asked.map(({ path }) => path)).toEqual(['POST /api/v1/resources/projects/*']);
  expect(Object.keys(sentFiles() as object)).toEqual(['data/T.json', 'documents/a/b.bin', 'rules/r.vail', 'types/T.json', 'types/x.txt']);
  expect(asked[0]?.body.match(/9007199254740993/g)).toHaveLength(2);
  expect(sentFiles()).toMatchObject({ 'documents/a/b.bin': { base64: 'AAEC' }, 'rules/r.vail': 'RULE r', 'types/x.txt': null });
  expect(err).toBe(`skipped: other\nskipped: ${join(folder, 'types')}/.hidden.json\nskipped: types/x.txt\na remark\n`);
});

test('refusals are reported file by file, and a file that cannot be read prevents the import', async () => {
  await files({ 'types/T.json': '{"name":"T","properties":{}}' });
  answer = { status: 400, body: [{ file: 'types/T.json', code: 'cascade.x', message: 'no.', params: [] }] };
  expect(await importProject(folder, options(), terminal)).toBe(1);
  expect([out, err]).toEqual(['1 files failed\n', 'types/T.json: cascade.x: no.\n']);
  asked = [];
  await files({ 'types/U.json': '{', 'data/T.json': '{}' });
  expect(await importProject(folder, options(), terminal)).toBe(1);
  expect(asked).toEqual([]);
  expect(err).toContain('data/T.json: no JSON array\n');
  expect(err).toContain('types/U.json: ');
});

test('a large document is sent before the request, surplus instances after it', async () => {
  await files({
    'documents/large.bin': Buffer.alloc(1_048_577),
    'documents/small.bin': Buffer.alloc(3),
    'data/T.json': JSON.stringify(Array.from({ length: 10_001 }, (_, n) => ({ n }))),
  });
  expect(await importProject(folder, options(), terminal)).toBe(0);
  expect(asked.map(({ path }) => path)).toEqual([
    'HEAD /docs/large.bin',
    'POST /api/v1/resources/documents',
    'POST /api/v1/resources/projects/*',
    'GET /api/v1/resources/types/T',
    ...Array.from({ length: 3 }, () => 'POST /api/v1/resources/custom/T'),
  ]);
});

test('a comparison names each resource with its sign', async () => {
  await files({ 'documents/a.txt': 'a', 'topics/plant/empty.json': '{"name":"/plant/empty"}', 'data/T.json': '[]' });
  answer = {
    status: 200,
    body: [
      { resource: '/documents/a.txt', change: 'changed' },
      { resource: '/topics//plant/empty', change: 'added' },
      { resource: '/types/T', change: 'removed' },
    ],
  };
  expect(await diffProject(folder, options(), terminal)).toBe(1);
  expect(out).toBe('~ documents/a.txt\n+ topics/plant/empty\n- types/T\n');
  const digest = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb';
  expect(sentFiles()).toEqual({ 'documents/a.txt': { digest }, 'topics/plant/empty.json': { name: '/plant/empty' } });
  answer = { status: 200, body: [] };
  expect(await diffProject(folder, options(), terminal)).toBe(0);
});
