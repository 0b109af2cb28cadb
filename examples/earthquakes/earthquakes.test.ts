// The example against a service of its own: what the rules have made of the file is what is computed from the file.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RestClient, type StartedService, startService } from '../../conformance/client/index.ts';
import { readBlocks, runBlocks } from '../../scripts/doc-blocks/run.ts';
import { expectedAlerts, expectedSummary } from './expected.ts';
import { install, load, whenQuiet } from './load.ts';
import { type Feature, readFeatures, shuffled } from './quakes.ts';
import { amount } from '../../scripts/testing/amount.ts';

const features = readFeatures();
let service: StartedService;
let client: RestClient;

beforeAll(async () => {
  service = await startService();
  client = new RestClient(service.url, 32);
  await client.login(service.user, service.password);
});

afterAll(async () => {
  client?.close();
  await service?.[Symbol.asyncDispose]();
});

async function outcomeOf(rows: readonly Feature[]) {
  await install(client);
  await load(client, rows, 32);
  const summary = await whenQuiet(client);
  const { text } = await client.send('GET', '/custom/Alert?limit=10000');
  const alerts = (JSON.parse(text) as Record<string, unknown>[]).map(({ quake, network, magnitude, level, region, at }) => ({
    quake,
    network,
    magnitude,
    level,
    region,
    at,
  }));
  return { summary, alerts: alerts.sort((a, b) => (String(a.quake) < String(b.quake) ? -1 : 1)) };
}

test('the computation from the file knows the week', () => {
  // Reckoned once more by hand, with another tool.
  const { quakes, alerts, networks } = expectedSummary(features);
  expect([quakes, alerts, networks.length]).toEqual([1707, 297, 10]);
  expect(networks.find(({ network }) => network === 'US')).toEqual({
    network: 'US',
    alerts: 158,
    strongest: 6.4,
    total: '699.80',
    mean: '4.43',
  });
});

test('every alert is there once and every tally is right', async () => {
  expect(await outcomeOf(features)).toEqual({ summary: expectedSummary(features), alerts: expectedAlerts(features) });
});

test('the order of the rows does not matter', async () => {
  const some = features.slice(0, amount(150, 400));
  expect(await outcomeOf(shuffled(some, 7))).toEqual({ summary: expectedSummary(some), alerts: expectedAlerts(some) });
});

test('what the loader has sent is normalised', async () => {
  const [quake] = JSON.parse((await client.send('GET', '/custom/Quake?where={"code":"ci37868143"}')).text) as [Record<string, unknown>];
  expect(quake).toMatchObject({
    network: 'CI',
    place: '4km W of Castaic, CA',
    region: 'CA',
    depthKm: 26.49,
    at: '2018-02-07T01:26:13.840Z',
  });
});

test('every sh block of the documents runs against the service, and is answered as the document shows', async () => {
  const blocks = readBlocks(join(import.meta.dirname, '../..'));
  expect(blocks.length).toBeGreaterThan(12);
  expect(await runBlocks(blocks, service)).toEqual({ faults: [], errors: '', status: 0 });
});
