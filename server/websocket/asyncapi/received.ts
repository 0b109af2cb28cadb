// The messages of clients: one for each operation. An operation without an entry does not compile.
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import { COMMAND, type LOGINS, type Own, READINGS, UPDATE_WHERE } from '../operations.ts';
import { CANCELLATION, CREDENTIALS, loginRequest, resourceRequest, subscriptionRequest } from './schemas.ts';
import type { SentKind } from './sent.ts';

export interface Described {
  readonly summary: string;
  readonly payload: ObjectValue;
  readonly examples: readonly Value[];
}

/** A message of a client, with the kinds of messages that may answer it. */
export interface DescribedRequest extends Described {
  readonly answers: readonly SentKind[];
}

/** `updateWhere` and `command` stand for an `update` without an id, and for operations of any other name. */
export type ReceivedKind = (typeof LOGINS)[number] | Own | keyof typeof READINGS | 'updateWhere' | 'command';

const LOGIN = ['session', 'loginRefused'] as const;
const USUAL = ['answer', 'refusal'] as const;
const SUBSCRIPTION_NAME: ObjectValue = { type: 'string', description: 'Of a persistent subscription' };

const request = (op: keyof typeof READINGS, summary: string, ...examples: Value[]): DescribedRequest => ({
  summary,
  payload: resourceRequest({ const: op }, READINGS[op]),
  examples,
  answers: USUAL,
});

type Requests<K extends ReceivedKind> = Readonly<Record<K, DescribedRequest>>;

const LOGIN_REQUESTS: Requests<(typeof LOGINS)[number]> = {
  authenticate: {
    summary: 'Log in with a name and password',
    payload: loginRequest('authenticate', CREDENTIALS),
    examples: [{ op: 'authenticate', resourceName: 'system.credentials', object: { username: 'ann', password: 'correct horse' } }],
    answers: LOGIN,
  },
  validate: {
    summary: 'Log in with a token',
    payload: loginRequest('validate', { type: 'string' }),
    examples: [{ op: 'validate', resourceName: 'system.credentials', object: 'css_6rSxwKz0bH2q' }],
    answers: LOGIN,
  },
};

const RESOURCE_REQUESTS: Requests<keyof typeof READINGS | 'updateWhere'> = {
  insert: request('insert', 'INSERT of one instance or several', {
    op: 'insert',
    resourceName: 'Meter',
    object: { code: 'w1', n: 1 },
    parameters: { requestId: 1 },
  }),
  upsert: request('upsert', 'UPSERT: an instance with the same natural key is changed', {
    op: 'upsert',
    resourceName: 'Meter',
    object: { code: 'w2', n: 6 },
    parameters: { requestId: 2, count: true },
  }),
  select: request(
    'select',
    'SELECT of all that meet a condition, or of one by its id',
    { op: 'select', resourceName: 'Meter', resourceId: 'w1', parameters: { requestId: 3 } },
    {
      op: 'select',
      resourceName: 'Meter',
      parameters: { requestId: 4, where: { n: { $gt: 0 } }, props: ['n'], sort: { n: 1 }, page: 1, limit: 10, count: true },
    },
  ),
  selectOne: request('selectOne', 'SELECT of the only one that meets a condition', {
    op: 'selectOne',
    resourceName: 'Meter',
    parameters: { requestId: 5, where: { code: 'w2' } },
  }),
  update: request('update', 'UPDATE: the named properties are changed', {
    op: 'update',
    resourceName: 'Meter',
    resourceId: 'w1',
    object: { n: 2 },
    parameters: { requestId: 6 },
  }),
  updateWhere: {
    summary: 'UPDATE of all that meet a condition, by another installation',
    payload: resourceRequest({ const: 'update' }, UPDATE_WHERE, ['X-Cascade-Federation']),
    examples: [
      {
        op: 'update',
        resourceName: 'Meter',
        object: { n: 3 },
        parameters: { requestId: 7, where: { n: 2 }, 'X-Cascade-Federation': '1', 'X-Cascade-Hop': 1 },
      },
    ],
    answers: USUAL,
  },
  patch: request('patch', 'PATCH: operations of RFC 6902', {
    op: 'patch',
    resourceName: 'Meter',
    resourceId: 'w1',
    object: [{ op: 'replace', path: '/n', value: 4 }],
    parameters: { requestId: 8 },
  }),
  aggregate: request('aggregate', 'AGGREGATE: the pipeline is the object or a parameter', {
    op: 'aggregate',
    resourceName: 'Meter',
    parameters: { requestId: 9, pipeline: [{ $group: { _id: null, most: { $max: '$n' } } }] },
  }),
  publish: request('publish', 'PUBLISH on a topic, or to a source', {
    op: 'publish',
    resourceName: 'topics',
    resourceId: '/meter/told',
    object: { code: 'w1' },
    parameters: { requestId: 10 },
  }),
  execute: request('execute', 'EXECUTE of a procedure, its arguments in order or by name', {
    op: 'execute',
    resourceName: 'procedures',
    resourceId: 'doubled',
    object: [21],
    parameters: { requestId: 11, 'X-Cascade-Request-Id': 'order-4711' },
  }),
  query: request('query', 'SELECT from a source outside', {
    op: 'query',
    resourceName: 'sources',
    resourceId: 'weather',
    object: { path: '/now' },
    parameters: { requestId: 12 },
  }),
  deleteOne: request('deleteOne', 'DELETE of one by its id', {
    op: 'deleteOne',
    resourceName: 'Meter',
    resourceId: 'w2',
    parameters: { requestId: 14 },
  }),
  delete: request('delete', 'DELETE of all that meet a condition', {
    op: 'delete',
    resourceName: 'Meter',
    parameters: { requestId: 15, where: { n: { $gt: 0 } }, count: true },
  }),
};

const command = (names: readonly string[]): DescribedRequest => ({
  summary: 'A command of a resource: any other operation',
  payload: resourceRequest({ enum: [...names] }, COMMAND),
  examples: [
    {
      op: 'why',
      resourceName: 'rules',
      resourceId: '*',
      object: { path: '/types/Meter/insert', value: { code: 'w3', n: 1 } },
      parameters: { requestId: 13 },
    },
  ],
  answers: USUAL,
});

const CONNECTION_REQUESTS: Requests<Own> = {
  subscribe: {
    summary:
      'Events of a path from now on: /types/<Type>/insert, /topics/<topic>, /sources/<name>, /services/<service>/<event>, /logs and others. ' +
      'With `persistent` the subscription outlives the socket, and its name comes before the answer.',
    payload: subscriptionRequest('subscribe', 'required', {
      eventFilter: { type: ['object', 'null'], description: 'Values that the payload of an event must have' },
      persistent: { type: ['boolean', 'null'] },
      subscriptionName: { ...SUBSCRIPTION_NAME, description: 'The persistent subscription to go on with' },
    }),
    examples: [
      {
        op: 'subscribe',
        resourceName: 'events',
        resourceId: '/types/Meter/insert',
        parameters: { requestId: 'meters', eventFilter: { n: 5 } },
      },
      { op: 'subscribe', resourceName: 'events', resourceId: '/topics/meter/kept', parameters: { requestId: 'kept', persistent: true } },
    ],
    answers: ['subscribed', 'subscriptionNamed', 'refusal'],
  },
  acknowledge: {
    summary: 'An event of a persistent subscription is handled: it does not come again. It is not answered.',
    payload: subscriptionRequest(
      'acknowledge',
      undefined,
      {
        subscriptionName: SUBSCRIPTION_NAME,
        subscriptionId: { ...SUBSCRIPTION_NAME, description: 'The same' },
        partitionId: { type: ['integer', 'string'] },
        sequenceId: { type: ['integer', 'string'] },
      },
      ['partitionId', 'sequenceId'],
    ),
    examples: [
      {
        op: 'acknowledge',
        resourceName: 'events',
        resourceId: '/topics/meter/kept',
        parameters: { subscriptionName: '6b011c65a1fc568ea1000000', partitionId: 4, sequenceId: 17 },
      },
    ],
    answers: [],
  },
  unsubscribe: {
    summary: 'Ends the subscription with this path and request id, or the persistent one of this name',
    payload: subscriptionRequest('unsubscribe', 'required', { subscriptionName: SUBSCRIPTION_NAME }),
    examples: [{ op: 'unsubscribe', resourceName: 'events', resourceId: '/types/Meter/insert', parameters: { requestId: 'meters' } }],
    answers: USUAL,
  },
  cancel: {
    summary: 'Another installation waits for its `execute` no more. It is not answered.',
    payload: CANCELLATION,
    examples: [{ op: 'cancel', resourceId: '11', parameters: { 'X-Cascade-Federation': '1' } }],
    answers: [],
  },
};

/** @param commands the names of the commands of the namespace's resources */
export const received = (commands: readonly string[]): Requests<ReceivedKind> => ({
  ...LOGIN_REQUESTS,
  ...RESOURCE_REQUESTS,
  command: command(commands),
  ...CONNECTION_REQUESTS,
});
