// The service of programs alone gives the same verdicts as the whole one: `--in-process` and the seeded faults lean on it.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { NEEDS_MORE, RestClient, startPrograms } from './client/index.ts';
import { readCases, runSuite } from './runner/index.ts';

test('cases of programs pass without a store', async () => {
  await using service = await startPrograms();
  const client = new RestClient(service.url);
  try {
    await client.login('', '');
    const cases = fileURLToPath(new URL('./cases', import.meta.url));
    const files = [
      'expressions/references',
      'expressions/literals',
      'statements/execute',
      'statements/try',
      'procedures',
      'builtins/log',
    ].flatMap((area) => readCases(cases, area));
    const { passed, failed } = await runSuite(client, files, new Map(), () => undefined);
    expect(failed.filter(({ failure }) => !failure?.includes(NEEDS_MORE))).toEqual([]);
    expect(passed).toBeGreaterThan(60);
  } finally {
    client.close();
  }
});
