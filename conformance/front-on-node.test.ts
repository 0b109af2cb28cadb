// What is visible from outside once more with Node's own HTTP server in front of the same service: it must not depend on who speaks HTTP.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { amount } from '../scripts/testing/amount.ts';
import { RestClient, startService } from './client/index.ts';
import { readCases, readKnownFailures, runSuite } from './runner/index.ts';

const AREAS = ['websocket', 'surface', 'rest'].slice(0, amount(1, 3));

test('what clients see passes on Node, too', async () => {
  await using service = await startService({ env: { CASCADE_HTTP: 'node' } });
  const client = new RestClient(service.url);
  try {
    await client.login(service.user, service.password);
    const folder = fileURLToPath(new URL('./cases', import.meta.url));
    const known = readKnownFailures(fileURLToPath(new URL('./known-failures.yaml', import.meta.url)));
    const files = AREAS.flatMap((area) => readCases(folder, area));
    const { passed, failed } = await runSuite(client, files, known, () => undefined);
    expect(failed.map(({ name, failure }) => `${name}\n  ${failure}`)).toEqual([]);
    expect(passed).toBeGreaterThan(amount(50, 150));
    expect((await client.send('GET', '/healthz')).headers['keep-alive']).toBe('timeout=10'); // the other library does not say so
  } finally {
    client.close();
  }
});
