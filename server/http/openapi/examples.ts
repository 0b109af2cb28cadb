// Examples of requests and answers. Those of the service's own resources are recorded, those of types follow the properties that a type has.
import type { DescribedProcedure, DescribedResource } from '../../../resources/api.ts';
import { isObject, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { ParameterName } from '../parameters.ts';
import type { Action } from '../routes.ts';
import { RECORDED } from './recorded.ts';
import { propertiesOf, sample } from './sample.ts';

const SYSTEM: ObjectValue = {
  ars_namespace: 'main',
  ars_version: 1,
  ars_createdAt: '2026-11-21T04:03:26.033Z',
  ars_createdBy: 'ann',
};

/** The body of an insert; a text for programs. */
const createdOf = ({ name, custom, schema }: DescribedResource): ObjectValue | string =>
  (custom ? undefined : RECORDED[name]?.created) ?? propertiesOf(schema);

const storedOf = ({ name, custom, schema }: DescribedResource): ObjectValue =>
  (custom ? undefined : RECORDED[name]?.stored) ?? { _id: '6b01180ea1fc451960000000', ...propertiesOf(schema), ...SYSTEM };

/** A change of one property. */
function changeOf(resource: DescribedResource): ObjectValue | string {
  const created = createdOf(resource);
  return isObject(created) ? Object.fromEntries(Object.entries(created).slice(-1)) : created;
}

function patchOf(resource: DescribedResource): Value {
  const change = changeOf(resource);
  if (!isObject(change)) return [{ op: 'replace', path: '/active', value: false }];
  return Object.entries(change).map(([name, value]): Value => ({ op: 'replace', path: `/${name}`, value }));
}

const COUNTED: readonly Value[] = [{ $group: { _id: null, found: { $count: {} } } }];
const BY_ANN: ObjectValue = { ars_createdBy: 'ann' };

const COMMANDS: Readonly<Record<string, Value>> = {
  rename: { newName: 'Count' },
  why: { path: '/types/Pump/insert', value: { site: 'south', rate: 12 } },
  deploy: { errorsOnly: true },
  export: {},
  duplicate: { duplicateName: 'copy' },
  authorizeUser: { username: 'ben', profiles: ['user', 'user__system'] },
  submit: { values: { amount: 21 } },
};

/** The command of the example. */
const commandOf = (commands: readonly string[]): string => commands.find((name) => Object.hasOwn(COMMANDS, name)) ?? commands[0] ?? '';

/** @param commands that the resource has. Undefined: the action has no body, or one of which there is no example */
export function bodyExample(resource: DescribedResource, action: Action, commands: readonly string[]): Value | undefined {
  switch (action) {
    case 'insert':
      return createdOf(resource);
    case 'update':
      return changeOf(resource);
    case 'patch':
      return patchOf(resource);
    case 'aggregate':
      return [...COUNTED];
    case 'selectByBody':
      return BY_ANN;
    case 'execute':
      return [21];
    case 'publish':
      return { silo: 3 };
    case 'query':
      return { path: '/now' };
    case 'replaceMembers':
      return { members: ['ann', 'ben'] };
    case 'submit':
      return { deviceId: 'phone', submitValue: 1, values: { amount: 21 } };
    case 'read':
    case 'dismiss':
      return { sentAt: '2031-05-17T12:30:00.000Z' };
    case 'command': {
      const op = commandOf(commands);
      return { op, ...(Object.hasOwn(COMMANDS, op) && { data: COMMANDS[op]! }) };
    }
    default:
      return undefined;
  }
}

const STATUSES: Readonly<Record<string, Value>> = {
  nodes: { name: 'self', state: 'unknown', latencyMs: null, waiting: 0 },
  services: { health: 'healthy', metrics: { procedures: 0 }, stateInitialized: false, scheduledProcedures: {} },
  sources: {
    name: 'weather',
    type: 'REMOTE',
    health: 'inactive',
    message: null,
    active: false,
    state: 'inactive',
    since: '2026-11-21T04:03:26.033Z',
    error: null,
    attempts: 0,
    nextAttemptAt: null,
    isUnavailable: false,
    mockMode: false,
    consumers: [],
    received: 0,
    published: 0,
    dropped: 0,
    failed: 0,
    lastMessageAt: null,
  },
};

const SUBMITTED: Value = {
  responseTopic: '/v/answered',
  submitValue: 1,
  username: 'ann',
  deviceId: 'phone',
  deviceName: null,
  values: { amount: 21 },
  state: 'k',
};
const COMMAND_ANSWERS: Readonly<Record<string, Value>> = {
  rename: { ...RECORDED['types']!.stored, name: 'Count' },
  why: {
    path: '/types/Pump/insert',
    value: { site: 'south', rate: 12 },
    rules: [
      { rule: 'tooFast', kind: 'WHEN', outcome: 'condition', term: { operator: '>', path: 'rate', left: 12, right: 80, result: false } },
    ],
  },
  deploy: [],
  export: { files: { 'projects/plant.json': { name: 'plant', resources: [{ resourceReference: '/types/Pump' }] } } },
  submit: SUBMITTED,
};

const USERS: readonly Value[] = [
  { username: 'ann', preferredUsername: 'ann', profiles: ['admin', 'admin__system'], home: false },
  { username: 'ben', preferredUsername: 'ben', profiles: ['user', 'user__system'], home: true },
];

/** Undefined: the answer has no body, or there is no example of it. */
export function answerExample(resource: DescribedResource, action: Action, commands: readonly string[]): Value | undefined {
  switch (action) {
    case 'select':
    case 'selectByBody':
      return [storedOf(resource)];
    case 'selectOne':
      return storedOf(resource);
    case 'insert':
    case 'update':
    case 'patch':
      return resource.answers === 'array' ? [storedOf(resource)] : storedOf(resource);
    case 'aggregate':
      return [{ _id: null, found: 1 }];
    case 'getAuthorizedUsers':
      return [...USERS];
    case 'publish':
      return {};
    case 'schema':
      return {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: 'Pump',
        type: 'object',
        properties: { site: { type: 'string' } },
      };
    case 'status':
      return STATUSES[resource.name];
    case 'execute':
      return 42;
    case 'query':
      return { temperature: 21.5 };
    case 'replaceMembers':
      return { ...storedOf(resource), members: ['ann', 'ben'] };
    case 'submit':
      return SUBMITTED;
    case 'preview':
      return { fields: [{ type: 'inputInteger', id: 'amount' }] };
    case 'command':
      return COMMAND_ANSWERS[commandOf(commands)];
    default:
      return undefined;
  }
}

/** The arguments of a procedure by name, and its value. */
export const callExample = ({ parameters }: DescribedProcedure): ObjectValue =>
  Object.fromEntries(parameters.map(({ name, schema }): [string, Value] => [name, sample(schema)]));
export const valueExample = ({ returns }: DescribedProcedure): Value => sample(returns);

/** @param properties of the resource */
export function parameterExample(name: ParameterName, properties: readonly string[]): Value {
  const property = properties[0] ?? '_id';
  const examples: Record<ParameterName, Value> = {
    where: BY_ANN,
    props: [property],
    sort: { [property]: 1 },
    page: 1,
    limit: 100,
    count: true,
    pipeline: [...COUNTED],
    upsert: true,
    active: false,
    stream: true,
    maxBufferSize: 65_536,
    maxFlushInterval: 1_000,
  };
  return examples[name];
}
