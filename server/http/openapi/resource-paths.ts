// The operations of resources: the route gives the address, the action the operation, and its reading the parameters and body.
import { type ApiDescription, type DescribedProcedure, type DescribedResource, OPERATIONS } from '../../../resources/api.ts';
import { getOwn, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { ParameterName } from '../parameters.ts';
import { AGGREGATE_BY_GET, operationOf, type Reading, READINGS } from '../resources.ts';
import { type Action, type Address, addressesOf, RESOURCES } from '../routes.ts';
import type { Method } from '../types.ts';
import { content, errorResponses, json } from './components.ts';
import { answerExample, bodyExample, callExample, valueExample } from './examples.ts';
import { queryParameter } from './query-parameters.ts';
import { newSchema, readSchema, schemaRef } from './schemas.ts';

export function* resourcePaths({ resources, procedures }: ApiDescription): Generator<[string, Value]> {
  for (const resource of resources) {
    const below = `${RESOURCES}${resource.custom ? 'custom/' : ''}${resource.name}`;
    for (const address of addressesOf(resource.name, resource.custom)) {
      const item = pathItem(resource, address);
      if (Object.keys(item).length > 0) yield [`${below}${address.suffix}`, item];
    }
  }
  const owner = resources.find(({ name, custom }) => name === 'procedures' && !custom);
  const instance = owner && addressesOf('procedures', false).find(({ suffix }) => suffix === '/{id}');
  if (owner && instance)
    for (const procedure of procedures)
      yield [`${RESOURCES}procedures/${procedure.name}`, pathItem(owner, { ...instance, suffix: '' }, procedure)];
  yield* Object.entries(publicPaths());
}

function pathItem(resource: DescribedResource, { suffix, methods }: Address, procedure?: DescribedProcedure): ObjectValue {
  const item: ObjectValue = {};
  const variables = [...suffix.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  for (const [method, action] of Object.entries(methods) as [Method, Action][]) {
    if (!isOffered(resource, action)) continue;
    const reading = action === 'aggregate' && method === 'GET' ? AGGREGATE_BY_GET : READINGS[action];
    const words = procedure && action === 'execute' ? calling(procedure) : {};
    const id = [
      action,
      resource.name,
      procedure?.name,
      suffix.replace(/\W+/g, '-'),
      method === 'GET' && action === 'aggregate' ? 'get' : null,
    ];
    const body = bodyOf(resource, action, reading);
    item[method.toLowerCase()] = {
      operationId: id.filter(Boolean).join('.').replaceAll('.-', '-'),
      summary: `${SUMMARIES[action]}: ${procedure?.name ?? resource.name}`,
      tags: [resource.name],
      parameters: [
        ...variables.map(pathParameter),
        ...parametersOf(resource, action, reading, variables.length > 0),
        ...headersOf(action, variables.length > 0),
      ],
      ...(body && { requestBody: body }),
      responses: { ...successOf(resource, action), ...errorResponses() },
      ...words,
    };
  }
  return item;
}

const NAMED_COMMANDS: ReadonlySet<Action> = new Set(['retry', 'submit', 'read', 'dismiss', 'preview']);

/** Whether the engine would accept the action. */
function isOffered({ name, operations, commands }: DescribedResource, action: Action): boolean {
  if (action === 'execute' && name === 'services') return true; // an alternative address of procedures
  if (action === 'command') return commands.length > 0;
  if (NAMED_COMMANDS.has(action)) return commands.includes(action);
  const op = operationOf(action);
  if (op === 'getAuthorizedUsers') return true; // only namespaces have this address
  return operations.has(op === 'selectOne' ? 'select' : op);
}

const SUMMARIES: Record<Action, string> = {
  select: 'SELECT many',
  selectByBody: 'SELECT many, the condition as body',
  selectOne: 'SELECT one',
  insert: 'INSERT, or UPSERT',
  update: 'UPDATE: what is named is changed',
  updateWhere: 'UPDATE of what a condition names, by another installation',
  delete: 'DELETE',
  patch: 'PATCH',
  aggregate: 'AGGREGATE',
  publish: 'PUBLISH',
  execute: 'EXECUTE',
  query: 'QUERY',
  schema: 'JSON Schema',
  status: 'Health',
  channels: 'Channels that a chatbot is in',
  getAuthorizedUsers: 'Who may enter',
  redeem: 'Redeem an invitation',
  retry: 'Deliver once more',
  submit: 'Answer a form',
  read: 'Note that a form was opened',
  dismiss: 'Take a form out of the inbox without an answer',
  preview: 'A form as its recipients see it; a page for browsers',
  replaceMembers: 'Make, or replace the members',
  command: 'Command',
};

const pathParameter = (name: string): ObjectValue => ({ name, in: 'path', required: true, schema: { type: 'string', minLength: 1 } });

/** @param isOne an id names the instance, so there is no condition */
const propertyNames = ({ schema }: DescribedResource): string[] =>
  Object.keys(Object.hasOwn(schema, 'properties') ? Object(getOwn(schema, 'properties')) : {});

function parametersOf(resource: DescribedResource, action: Action, { parameters }: Reading, isOne: boolean): ObjectValue[] {
  const names: readonly ParameterName[] = resource.isProgram && action === 'insert' ? [...parameters, 'active'] : parameters;
  return names.filter((name) => !(isOne && name === 'where')).map((name) => queryParameter(name, propertyNames(resource)));
}

const header = (name: string, description: string): ObjectValue => ({ name, in: 'header', description, schema: { type: 'string' } });
export const REQUEST_ID = header('X-Cascade-Request-Id', 'The same one within a day gets the stored answer');

function headersOf(action: Action, isOne: boolean): ObjectValue[] {
  if (action === 'selectOne') return [header('If-None-Match', 'A version in quotes: 304 when it still is that')];
  if (action === 'update' || action === 'patch' || (action === 'delete' && isOne))
    return [header('If-Match', 'A version in quotes: 409 when it is another')];
  if (action === 'insert' || action === 'execute' || action === 'publish' || action === 'submit') return [REQUEST_ID];
  return [];
}

const PATCH_OPERATION: ObjectValue = {
  type: 'object',
  required: ['op', 'path'],
  properties: {
    op: { enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
    path: { type: 'string' },
    from: { type: 'string' },
    value: {},
  },
};

/** The bytes of documents by their names; JSON makes copies. */
const UPLOAD: ObjectValue = content(
  'multipart/form-data',
  { type: 'object', minProperties: 1, additionalProperties: { type: 'string', format: 'binary' } },
  { 'manuals/silo.txt': 'Level below 5: call the depot.' },
);

/** Which of the messages of one id is meant: it may have been replaced. */
const SEEN: ObjectValue = { sentAt: { type: 'string', format: 'date-time' } };

const orSeveral = (schema: ObjectValue): ObjectValue => ({ oneOf: [schema, { type: 'array', items: schema }] });

function bodyOf(resource: DescribedResource, action: Action, reading: Reading): ObjectValue | null {
  if (reading.body === 'none') return null;
  const required = reading.body === 'required';
  const example = bodyExample(resource, action, commandNames(resource));
  if (resource.isProgram && (action === 'insert' || action === 'update'))
    return {
      required,
      content: {
        ...content('text/plain', { type: 'string' }, example),
        ...json({ oneOf: [{ type: 'string' }, { type: 'object' }] }, example),
      },
    };
  const whole = json(bodySchema(resource, action), example);
  return { required, content: resource.name === 'documents' && action === 'insert' ? { ...UPLOAD, ...whole } : whole };
}

function bodySchema(resource: DescribedResource, action: Action): ObjectValue {
  switch (action) {
    case 'insert':
      return orSeveral(newSchema(resource));
    case 'update':
      return readSchema(resource);
    case 'patch':
      return orSeveral(PATCH_OPERATION);
    case 'aggregate':
      return { type: 'array', maxItems: 50, items: { type: 'object' } };
    case 'execute':
      return { oneOf: [{ type: 'array' }, { type: 'object' }] };
    case 'selectByBody':
    case 'query':
    case 'replaceMembers':
      return { type: 'object' };
    case 'submit':
      return {
        type: 'object',
        properties: {
          deviceId: { type: 'string' },
          submitValue: { type: 'integer', default: 0 },
          values: { type: 'object' },
          location: { type: 'object', properties: { longitude: { type: 'number' }, latitude: { type: 'number' } } },
          ...SEEN,
        },
      };
    case 'read':
    case 'dismiss':
      return { type: 'object', properties: SEEN };
    case 'command':
      return { type: 'object', required: ['op'], properties: { op: { enum: commandNames(resource) }, data: { type: 'object' } } };
    default:
      return {};
  }
}

const commandNames = ({ commands }: DescribedResource): string[] =>
  commands.filter((name) => !(OPERATIONS as readonly string[]).includes(name));

const COUNTED: ObjectValue = { 'X-Total-Count': { description: 'With count=true', schema: { type: 'integer' } } };

function successOf(resource: DescribedResource, action: Action): ObjectValue {
  const one = readSchema(resource);
  const many: ObjectValue = { type: 'array', items: one };
  const example = answerExample(resource, action, commandNames(resource));
  const ok = (schema: ObjectValue, headers?: ObjectValue): ObjectValue => ({
    '200': { description: 'Done', ...(headers && { headers }), content: json(schema, example) },
  });
  const dropped: ObjectValue = { '204': { description: 'A BEFORE rule has dropped the change' } };
  switch (action) {
    case 'select':
    case 'selectByBody':
      return ok(many, { ...COUNTED, 'X-Result-Truncated': { description: 'There was more', schema: { type: 'string' } } });
    case 'selectOne': {
      const version: ObjectValue = { ETag: { description: 'The version', schema: { type: 'string' } } };
      return { ...ok(one, version), '304': { description: 'Still that version', headers: version } };
    }
    case 'insert': {
      const several: ObjectValue = { type: 'array', items: { anyOf: [one, schemaRef('-Outcome'), { type: 'null' }] } };
      const partial: ObjectValue = { 'X-Partial-Result': { description: 'Some failed', schema: { type: 'string' } } };
      return { ...ok(resource.answers === 'array' ? several : { anyOf: [one, several] }, { ...COUNTED, ...partial }), ...dropped };
    }
    case 'update':
    case 'patch':
      return { ...ok(resource.answers === 'array' ? many : one), ...dropped };
    case 'delete':
      return { '204': { description: 'Done', headers: COUNTED } };
    case 'aggregate':
    case 'getAuthorizedUsers':
      return ok({ type: 'array', items: { type: 'object' } });
    case 'publish':
    case 'schema':
    case 'status':
      return ok({ type: 'object' });
    case 'read':
    case 'dismiss':
    case 'retry':
      return { '204': { description: 'Done' } };
    case 'preview':
      return {
        '200': { description: 'Done', content: { ...json({}, example), ...content('text/html', { type: 'string' }, '<!doctype html>…') } },
      };
    default:
      return ok({});
  }
}

/** A call of a procedure: its arguments in order, or by name. */
function calling(procedure: DescribedProcedure): ObjectValue {
  const { description, parameters, returns } = procedure;
  const orNull = (schema: ObjectValue): ObjectValue => (Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] });
  const described = (one: DescribedProcedure['parameters'][number]): ObjectValue => ({
    ...orNull(one.schema),
    ...(one.description !== null && { description: one.description }),
  });
  const byName: ObjectValue = {
    type: 'object',
    properties: Object.fromEntries(parameters.map((one): [string, Value] => [one.name, described(one)])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
  const lastRequired = parameters.findLastIndex(({ required }) => required);
  const inOrder: ObjectValue = {
    type: 'array',
    prefixItems: parameters.map(described),
    maxItems: parameters.length,
    minItems: lastRequired + 1,
  };
  if (parameters.length === 0) delete inOrder['prefixItems']; // an empty list would be an invalid schema
  return {
    ...(description !== null && { description }),
    requestBody: { required: lastRequired >= 0, content: json({ oneOf: [inOrder, byName] }, callExample(procedure)) },
    responses: {
      '200': { description: 'The value', content: json(returns ? orNull(returns) : {}, valueExample(procedure)) },
      ...errorResponses(),
    },
  };
}

/** Paths of instances that their owner has made public (`ars_public`). */
function publicPaths(): ObjectValue {
  const open = (summary: string, more: ObjectValue = {}): ObjectValue => ({
    summary,
    tags: ['service'],
    security: [],
    parameters: ['namespace', 'id'].map(pathParameter),
    responses: { '200': { description: 'Done', content: json({}, 42) }, '304': { description: 'Still that version' }, ...errorResponses() },
    ...more,
  });
  const body: ObjectValue = { required: false, content: json({ oneOf: [{ type: 'array' }, { type: 'object' }] }, [21]) };
  return {
    [`${RESOURCES}public/{namespace}/procedures/{id}`]: {
      get: open('SELECT one that is open to everybody', { operationId: 'publicProcedure' }),
      post: open('EXECUTE one that is open to everybody', { operationId: 'publicExecute', requestBody: body }),
    },
    [`${RESOURCES}public/{namespace}/{resource}/{id}`]: {
      get: open('SELECT one that is open to everybody', {
        operationId: 'publicInstance',
        parameters: ['namespace', 'resource', 'id'].map(pathParameter),
      }),
    },
  };
}
