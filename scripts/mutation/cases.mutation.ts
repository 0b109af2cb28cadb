// The conformance cases about programs as tests of one process, a file of cases a test, so that StrykerJS sees which of them run a mutant.
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NEEDS_MORE, RestClient } from '../../conformance/client/index.ts';
import { readCases, runSuite } from '../../conformance/runner/index.ts';
import { programsServer } from '../programs/server.ts';

const AREAS = ['expressions', 'builtins', 'language', 'statements', 'procedures', 'rules'];

const server = programsServer();
let client: RestClient;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = new RestClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await client.login('', '');
});
afterAll(() => {
  client.close();
  server.close();
});

test.each(AREAS.flatMap((area) => readCases('conformance/cases', area).map((file) => ({ name: file.name, file }))))(
  '$name',
  async ({ file }) => {
    const { failed } = await runSuite(client, [file], new Map(), () => undefined);
    expect(failed.filter(({ failure }) => !failure?.includes(NEEDS_MORE))).toEqual([]);
  },
);
