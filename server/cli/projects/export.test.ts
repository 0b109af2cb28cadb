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

test('an interface that follows from procedures is in no file, so that later procedures come to it', async () => {
  const services = [
    { name: 'Gauge', interface: ['parse', 'twice'] },
    { name: 'Depot', interface: ['open'] },
    { name: 'Told', interface: [{ name: 'a' }] },
    { name: 'None', interface: [] },
  ];
  const procedures = [
    ...['twice', 'parse'].map((name) => ({ name: `Gauge.${name}`, serviceName: 'Gauge', visibility: 'PUBLIC', ruleText: name })),
    { name: 'Gauge.inner', serviceName: 'Gauge', visibility: 'PRIVATE', ruleText: 'inner' },
    { name: 'Gauge.veiled', serviceName: 'Gauge', visibility: 'PUBLIC', hidden: true, ruleText: 'veiled' },
    ...['open', 'close'].map((name) => ({ name: `Depot.${name}`, serviceName: 'Depot', visibility: 'PUBLIC', ruleText: name })),
  ];
  const server = createServer(({ url = '' }, response) => {
    response.end(JSON.stringify(url.includes('/services?') ? services : url.includes('/procedures?') ? procedures : []));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const folder = await mkdtemp(join(tmpdir(), 'cascade-export-'));
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const terminal = { out: () => undefined, err: () => undefined, colors: false, env: {} };
  const options = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'cst_of_a_test' };
  expect(await exportProject(folder, options, terminal)).toBe(0);
  const written = await Promise.all(
    services.map(async ({ name }) => JSON.parse(await readFile(join(folder, 'services', `${name}.json`), 'utf8')) as unknown),
  );
  expect(written).toEqual([{ name: 'Gauge' }, services[1], services[2], { name: 'None' }]);
});
