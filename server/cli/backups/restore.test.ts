// What `cascade restore` says of a restore that the service refuses, and of one of which it does not know whether it is in force.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cascade } from '../../testing/fake-terminal.ts';

const HEAD = {
  cascade: 'backup',
  format: 1,
  service: '1',
  namespace: 'plant',
  at: '2031-02-03T04:05:06.000Z',
  properties: null,
  check: null,
};
const RECORDS = [HEAD, { in: 'resources', row: {} }, { end: { rows: 1 } }];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-restore-test-'));
  await writeFile(join(folder, 'plant.backup'), gzipSync(RECORDS.map((record) => `${JSON.stringify(record)}\n`).join('')));
});
afterAll(() => rm(folder, { recursive: true }));

/** Restores by a service that fails at one operation. @returns what is said of it */
async function refusedAt(refused: string, status: number): Promise<{ code: number; err: string }> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const op = body === '' ? '' : (JSON.parse(body) as { op: string }).op;
    response.statusCode = op === refused ? status : 200;
    response.end(op === refused ? '[{"code":"cascade.some","message":"some reason","params":[]}]' : '{"restore":"1"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return await cascade(['restore', 'plant', join(folder, 'plant.backup'), '--url', url, '--token', 'cst_of_a_test_0123456789']);
  } finally {
    server.close();
  }
}

const NOTHING = 'Nothing of it is in force.';

test.each<[string, number, boolean]>([
  ['beginRestore', 409, false],
  ['restore', 400, true],
  ['restore', 500, true],
  ['endRestore', 409, true],
])('refused at %s with %i, that nothing of it is in force is said: %s', async (op, status, isSaid) => {
  const { code, err } = await refusedAt(op, status);
  expect(code).toBe(1);
  expect(err).toContain('some reason');
  expect(err.includes(NOTHING)).toBe(isSaid);
});

test('where the service fails at the end, the restore may be in force', async () => {
  const { code, err } = await refusedAt('endRestore', 500);
  expect(code).toBe(1);
  expect(err).not.toContain(NOTHING);
  expect(err).toContain('Whether it is in force is not known: see what namespace plant has.');
});
