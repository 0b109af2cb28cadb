// The whole suite against a service of its own: the front door held by `npm test`.
import { fileURLToPath } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { RestClient, startService } from './client/index.ts';
import { EXPECTED_ERRORS } from './expected-errors.ts';
import { readCases, readKnownFailures, runSuite } from './runner/index.ts';

test('the suite passes against this service', async () => {
  await using service = await startService({ expects: EXPECTED_ERRORS });
  const client = new RestClient(service.url);
  try {
    await client.login(service.user, service.password);
    const files = readCases(fileURLToPath(new URL('./cases', import.meta.url)));
    const known = readKnownFailures(fileURLToPath(new URL('./known-failures.yaml', import.meta.url)));
    const { passed, failed } = await runSuite(client, files, known, () => undefined);
    expect(failed.map(({ name, failure }) => `${name}\n  ${failure}`)).toEqual([]);
    const wanted = files.flatMap(({ cases }) => cases.flatMap(({ bindings }) => bindings));
    expect(passed).toBe(wanted.length - known.size);
    const described = await new Validator().validate(
      JSON.parse((await client.send('GET', '/api/v1/openapi.json')).text) as Record<string, unknown>,
    );
    expect([described.valid, described.errors ?? []]).toEqual([true, []]);
  } finally {
    client.close();
  }
});
