import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import type { ApiDescription } from '../../../resources/api.ts';
import { parseType, typeToSchema } from '../../../model/types/index.ts';
import { openApiTexts } from './index.ts';

const BASES = ['String', 'Integer', 'Real', 'Boolean', 'DateTime', 'Currency', 'GeoJSON', 'ResourceReference', 'Object'];
const properties = Object.fromEntries([
  ...BASES.map((type) => [`one${type}`, { type, required: type === 'String' }] as const),
  ...BASES.map((type) => [`many${type}`, { type, multi: true }] as const),
]);
const schema = typeToSchema(parseType({ name: 'All', properties }, { types: new Map(), scalars: new Map() }));
const ALL = new Set([
  'select',
  'aggregate',
  'insert',
  'update',
  'upsert',
  'patch',
  'delete',
  'publish',
  'execute',
  'query',
  'schema',
  'status',
]);
const described = { operations: ALL, commands: ['rename'], isProgram: false, schema };
const DESCRIPTION: ApiDescription = {
  namespace: 'main',
  resources: [
    { ...described, name: 'All', custom: true, answers: 'array' },
    { ...described, name: 'Packed.All', custom: true, answers: 'array', operations: new Set(['select']), commands: [] },
    { ...described, name: 'ArsPayloadMessage', custom: true, answers: 'array', commands: ['submit', 'read', 'dismiss', 'preview'] },
    ...['types', 'services', 'topics', 'sources', 'namespaces', 'groups'].map((name) => ({
      ...described,
      name,
      custom: false,
      answers: 'object' as const,
    })),
    ...['rules', 'procedures'].map((name) => ({ ...described, name, custom: false, answers: 'object' as const, isProgram: true })),
  ],
  procedures: [
    { name: 'plain', description: null, parameters: [], returns: null },
    {
      name: 'Service.called',
      description: 'calls',
      parameters: [
        { name: 'a', required: true, description: 'the first', schema: { type: 'integer' } },
        { name: 'b', required: false, description: null, schema: {} },
      ],
      returns: { type: 'array', items: { type: 'string' } },
    },
  ],
};

interface Operation {
  operationId: string;
  requestBody?: { required: boolean; content: Record<string, { schema: unknown }> };
  parameters?: { name: string; in: string }[];
}
const document = JSON.parse((await openApiTexts(DESCRIPTION)).join('')) as { paths: Record<string, Record<string, Operation>> };
const R = '/api/v1/resources';

test('the document is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
});

test('each resource has the addresses and methods that the routes support and the resource offers', () => {
  expect(Object.keys(document.paths[`${R}/custom/All`]!)).toEqual(['get', 'post', 'delete']);
  expect(Object.keys(document.paths[`${R}/custom/All/{id}`]!)).toEqual(['get', 'post', 'put', 'patch', 'delete']);
  expect(Object.keys(document.paths[`${R}/custom/Packed.All`]!)).toEqual(['get']);
  expect(Object.keys(document.paths[`${R}/custom/Packed.All/{id}`]!)).toEqual(['get']);
  expect(document.paths[`${R}/custom/Packed.All/aggregate`]).toBeUndefined();
  expect(Object.keys(document.paths[`${R}/types/{id}/_schema`]!)).toEqual(['get']);
  expect(Object.keys(document.paths[`${R}/services/{id}/{member}`]!).sort()).toEqual(['post', 'put']);
  expect(Object.keys(document.paths[`${R}/sources/{id}/query`]!)).toEqual(['post']);
});

test('the parameters of an operation are those that it reads', () => {
  const names = (path: string, method: string): string[] => document.paths[path]![method]!.parameters!.map(({ name }) => name);
  expect(names(`${R}/custom/All`, 'get')).toEqual(['where', 'props', 'sort', 'page', 'limit', 'count']);
  expect(names(`${R}/custom/All`, 'delete')).toEqual(['where', 'count']);
  expect(names(`${R}/custom/All/{id}`, 'delete')).toEqual(['id', 'count', 'If-Match']);
  expect(names(`${R}/rules`, 'post')).toEqual(['count', 'upsert', 'active', 'X-Cascade-Request-Id']);
  expect(names('/api/v1/batch', 'post')).toEqual(['X-Cascade-Request-Id']);
});

test('an answer to a form tells which form it answers', () => {
  const { post } = document.paths[`${R}/custom/ArsPayloadMessage/{id}/submit`]!;
  const [body] = Object.values(post!.requestBody!.content as Record<string, { schema: { properties: object } }>);
  expect(body!.schema.properties).toMatchObject({
    deviceId: {},
    submitValue: {},
    values: {},
    location: {},
    sentAt: { format: 'date-time' },
  });
});

test('the contents of documents have their addresses, with ranges and what has not changed', () => {
  for (const path of ['/docs/{name}', '/ui/docs/NS/{namespace}/{path}']) {
    const responses = Object.keys((document.paths[path]!.get as unknown as { responses: object }).responses);
    expect(responses).toEqual(expect.arrayContaining(['200', '206', '304', '404', '416']));
  }
});

test('an instance that has not changed is answered with its version, too', () => {
  const { responses } = document.paths[`${R}/custom/All/{id}`]!.get as unknown as { responses: Record<string, { headers?: object }> };
  expect(['200', '304'].map((status) => Object.keys(responses[status]?.headers ?? {}))).toEqual([['ETag'], ['ETag']]);
});

test('a procedure of the namespace has an address with its own parameters', () => {
  const { post, get } = document.paths[`${R}/procedures/Service.called`]!;
  expect(get).toBeDefined();
  expect(post!.requestBody!.required).toBe(true);
  expect(JSON.stringify(post!.requestBody!.content)).toContain('"required":["a"]');
  expect(document.paths[`${R}/procedures/plain`]!.post!.requestBody!.required).toBe(false);
});

test('the ids of operations are unique', () => {
  const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});
