// A service and the plain filter of section 3, asked the same.
import { readConfigureGlobal } from 'fast-check';
import { expect, test } from 'vitest';
import { RestClient, startService } from '../client/index.ts';
import { amount } from '../../scripts/testing/amount.ts';
import { differences } from './differences.ts';

const QUESTIONS = amount(200, 1_000);

// spec: resources-and-api.md 2.2 3.1 3.2 3.3
test('random conditions find over REST what the plain filter finds', { timeout: 600_000 }, async () => {
  await using service = await startService();
  const client = new RestClient(service.url);
  try {
    await client.login(service.user, service.password);
    expect(await differences(client, readConfigureGlobal().seed ?? 1, QUESTIONS)).toEqual([]);
  } finally {
    client.close();
  }
});
