import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { exportProject } from './index.ts';

test('an export tells of a document that cannot be a file here, and writes the others', async () => {
  const long = 'x'.repeat(256);
  const documents = [{ name: long }, { name: 'a' }, { name: 'a/b.txt' }];
  const rules = [{ name: 'low:1.0', version: '1.0', ruleText: 'RULE low:1.0' }];
  const server = createServer(({ url = '' }, response) => {
    const isDocument = url.startsWith('/docs/');
    const rows = url.includes('/documents?') ? documents : url.includes('/rules?') ? rules : [];
    response.end(isDocument ? `of ${url}` : JSON.stringify(rows));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const folder = await mkdtemp(join(tmpdir(), 'cascade-export-'));
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  let [out, err] = ['', ''];
  const terminal = { out: (text: string) => void (out += text), err: (text: string) => void (err += text), colors: false, env: {} };
  const options = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'cst_of_a_test' };
  expect(await exportProject(folder, options, terminal)).toBe(1);
  expect([out, err]).toEqual(['3 files, 1 failed\n', `documents/${long}: ENAMETOOLONG: its name is too long for a file\n`]);
  expect(await readFile(join(folder, 'rules', 'low%3A1.0.rule'), 'utf8')).toBe('RULE low:1.0');
  expect(await readFile(join(folder, 'documents', 'a'), 'utf8')).toBe('of /docs/a');
  expect(await readFile(join(folder, 'documents', 'a%2Fb.txt'), 'utf8')).toBe('of /docs/a/b.txt');
});
