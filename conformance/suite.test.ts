// The whole suite against a service of its own: the front door held by `npm test`. All areas run at the same time, each in a test of its own.
import { fileURLToPath } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RestClient, type StartedService, startService } from './client/index.ts';
import { EXPECTED_ERRORS } from './expected-errors.ts';
import { type CaseFile, readCases, readKnownFailures, type Result, startSuite } from './runner/index.ts';

/** They wait more than they compute, so they come first. */
const PATIENT = ['topics', 'api', 'rules', 'sources', 'services'];

const files = readCases(fileURLToPath(new URL('./cases', import.meta.url)));
const known = readKnownFailures(fileURLToPath(new URL('./known-failures.yaml', import.meta.url)));
const areas = [...new Set([...PATIENT, ...files.map(areaOf)])];

let service: StartedService;
let client: RestClient;
let results: ReadonlyMap<CaseFile, Promise<Result>>;

beforeAll(async () => {
  service = await startService({ expects: EXPECTED_ERRORS });
  client = new RestClient(service.url);
  await client.login(service.user, service.password);
  const inOrder = areas.flatMap((area) => files.filter((file) => areaOf(file) === area));
  results = startSuite(client, inOrder, known);
  for (const result of results.values()) result.catch(() => undefined); // awaited by its test
});

afterAll(async () => {
  client.close();
  await service[Symbol.asyncDispose]();
});

function areaOf({ name }: CaseFile): string {
  return name.split('/')[0]!;
}

test.each(areas)('the cases of %s pass', async (area) => {
  const own = files.filter((file) => areaOf(file) === area);
  const ended = await Promise.all(own.map((file) => results.get(file)!));
  const failures = ended.flatMap(({ failed }) => failed.map(({ name, failure }) => `${name}\n  ${failure}`));
  expect(failures, failures.join('\n')).toEqual([]);
  const wanted = own.flatMap(({ cases }) => cases.flatMap(({ bindings }) => bindings)).length;
  expect(ended.reduce((sum, { passed, knownToFail }) => sum + passed + knownToFail, 0)).toBe(wanted);
  expect(wanted, 'an area without cases').toBeGreaterThan(0);
});

test('the cases that are known to fail exist', () => {
  const names = new Set(files.flatMap(({ name, cases }) => cases.map((one) => `${name}: ${one.name}`)));
  expect([...known.keys()].filter((name) => !names.has(name.replace(/ \(websocket\)$/, '')))).toEqual([]);
});

test('the description of the interface is valid OpenAPI', async () => {
  const { text } = await client.send('GET', '/api/v1/openapi.json');
  const described = await new Validator().validate(JSON.parse(text) as Record<string, unknown>);
  expect([described.valid, described.errors ?? []]).toEqual([true, []]);
});
