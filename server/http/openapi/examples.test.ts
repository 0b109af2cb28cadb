// The examples of the OpenAPI document: there is one wherever there can be, its schema allows it, and the service stores what it says.
import { randomBytes } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../../engine/testing/engine.ts';
import { type Listener, listen } from '../../listen.ts';
import { RECORDED } from './recorded.ts';

interface Place {
  readonly path: string;
  readonly value: Record<string, unknown>;
}

const username = `oa${randomBytes(6).toString('hex')}`;
const BASES = ['String', 'Integer', 'Real', 'Boolean', 'DateTime', 'Currency', 'GeoJSON', 'ResourceReference', 'Object'];
let t: TestEngine;
let listener: Listener;
let token: string;
let document: Record<string, unknown>;

async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const isText = typeof body === 'string';
  const headers = { authorization: `Bearer ${token}`, 'content-type': isText ? 'text/plain' : 'application/json' };
  const text = isText ? body : JSON.stringify(body);
  const response = await fetch(`${listener.url}${path}`, { method, headers, ...(body !== undefined && { body: text }) });
  return { status: response.status, body: await response.json() };
}

beforeAll(async () => {
  t = await openTestEngine();
  const { namespace } = t.identity;
  await t.engine.identity.createNamespace({ namespace, createdBy: 'ann' });
  await t.engine.identity.createUser({
    username,
    password: 'correct horse',
    namespace,
    profiles: ['admin', 'user__system'],
    createdBy: 'ann',
  });
  listener = await listen({ engine: t.engine, log: pino({ level: 'silent' }), port: 0, host: '127.0.0.1' });
  token = (await t.engine.identity.login(username, 'correct horse', 'here')).token;
  const all = BASES.flatMap((type) => [
    [`one${type}`, { type }],
    [`many${type}`, { type, multi: true }],
  ]);
  await t.type('Every', { ...Object.fromEntries(all), short: { type: 'String', maxLength: 2 } });
  await t.program('procedures', 'PROCEDURE called(a Integer, b DateTime, c Real): String\nreturn "" + a');
  document = (await ask('GET', '/api/v1/openapi.json')).body as Record<string, unknown>;
});
afterAll(async () => {
  await listener[Symbol.asyncDispose]();
  await t[Symbol.asyncDispose]();
});

/** All objects with a schema: media types, parameters, headers. */
function placesIn(value: unknown, path = ''): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value).filter(([name]) => name !== 'schema' && name !== 'schemas' && name !== 'example');
  const below = members.flatMap(([name, member]) => placesIn(member, `${path}/${name}`));
  return Object.hasOwn(value, 'schema') ? [{ path, value: value as Record<string, unknown> }, ...below] : below;
}

/** Bytes and headers have no example. */
const WITHOUT = /\/headers\/|\*\/\*$/;
/** Answers of third parties, and of commands that answer with a stored object or nothing. */
const WITHOUT_ANSWER = ['/sources/{id}/channels/get', '/deadletters/{id}/post', '/documents/{id}/post', '/namespaces/{id}/post'];

test('each body, answer and parameter has an example', () => {
  const missing = placesIn(document)
    .filter(
      ({ path, value }) => !Object.hasOwn(value, 'example') && !WITHOUT.test(path) && value['in'] !== 'path' && value['in'] !== 'header',
    )
    .map(({ path }) => path.replace('/paths//api/v1/resources', '').replace('/responses/200/content/application/json', ''));
  expect(missing).toEqual(WITHOUT_ANSWER);
});

test('the schema of each place allows its example', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: 'doc', components: document['components'] });
  const places = placesIn(document).filter(({ value }) => Object.hasOwn(value, 'example'));
  const faulty = places.flatMap(({ path, value }) => {
    const schema = JSON.parse(JSON.stringify(value['schema']).replaceAll('"#/components/', '"doc#/components/')) as object;
    return ajv.validate(schema, value['example']) ? [] : [`${path}: ${JSON.stringify(value['example'])} ${ajv.errorsText()}`];
  });
  expect(faulty).toEqual([]);
  expect(places.length).toBeGreaterThan(500);
});

/** Without what differs in each run: ids, times, tokens, who and where. */
const lasting = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/"[0-9a-f]{24}"/g, '"id"')
      .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"time"')
      .replaceAll(/"c[a-z]{2}_[\w-]+"/g, '"token"')
      .replaceAll(`"${username}"`, '"ann"')
      .replaceAll(`"${t.identity.namespace}"`, '"main"'),
  );

test('what the service stores of the recorded examples is what is recorded', async () => {
  for (const [resource, { created, stored }] of Object.entries(RECORDED)) {
    const { status, body } = await ask('POST', `/api/v1/resources/${resource}`, created);
    expect(status, `${resource}: ${JSON.stringify(body)}`).toBe(200);
    expect(lasting(body), resource).toEqual(lasting(stored));
  }
});

test('documents are uploaded as multipart', () => {
  const paths = document['paths'] as Record<string, { post: { requestBody: { content: object } } }>;
  expect(Object.keys(paths['/api/v1/resources/documents']!.post.requestBody.content)).toEqual(['multipart/form-data', 'application/json']);
});

test('an example of a type is an instance of it', async () => {
  const paths = document['paths'] as Record<string, { post: { requestBody: { content: { 'application/json': { example: object } } } } }>;
  const { example } = paths['/api/v1/resources/custom/Every']!.post.requestBody.content['application/json'];
  expect(Object.keys(example)).toHaveLength(2 * BASES.length + 1);
  expect(await ask('POST', '/api/v1/resources/custom/Every', example)).toMatchObject({
    status: 200,
    body: [{ oneInteger: 3, short: 'no' }],
  });
});
