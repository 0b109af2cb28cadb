// The messages of the service.
import { apiError, type CascadeError } from '../../../model/errors/index.ts';
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import { errorExample } from '../../http/index.ts';
import type { Described } from './received.ts';
import { ANSWER, answerSchema, EVENT_BODY, noticeSchema, refusalSchema, schemaRef } from './schemas.ts';

export type SentKind =
  | 'session'
  | 'loginRefused'
  | 'answer'
  | 'refusal'
  | 'subscribed'
  | 'subscriptionNamed'
  | 'event'
  | 'subscriptionEnded';

const TEXT: ObjectValue = { type: 'string' };
const JSON_TYPE = 'application/json';
const refused = (error: CascadeError): ObjectValue => {
  const errors: Value[] = [errorExample(error)];
  return { status: error.status, contentType: JSON_TYPE, body: errors, errors };
};

export const SENT: Readonly<Record<SentKind, Described>> = {
  session: {
    summary: 'The login holds; it has no headers',
    payload: answerSchema({ const: 200 }, schemaRef('-Session'), false),
    examples: [
      {
        status: 200,
        contentType: JSON_TYPE,
        body: {
          accessToken: 'css_6rSxwKz0bH2q',
          idToken: 'css_6rSxwKz0bH2q',
          expiresAt: '2026-11-22T04:03:26.057Z',
          username: 'ann',
          preferredUsername: null,
          namespace: 'main',
          profiles: ['admin'],
        },
      },
    ],
  },
  loginRefused: {
    summary: 'The login is refused; one before it still holds',
    payload: refusalSchema(false),
    examples: [refused(apiError('io.service.security.authentication.failed'))],
  },
  answer: {
    summary: 'The answer to a request. With `count` the number is the first element of the body; a long one comes in fragments.',
    payload: ANSWER,
    examples: [
      { status: 200, headers: { 'X-Request-Id': 11 }, contentType: JSON_TYPE, body: 42 },
      {
        status: 200,
        headers: { 'X-Request-Id': 4 },
        contentType: JSON_TYPE,
        body: [{ count: 2 }, { _id: '6b011c65a1fc568ea1000000', n: 1 }, { _id: '6b011c65a1fc568ea1000001', n: 6 }],
      },
      { status: 204, headers: { 'X-Request-Id': 'meters' } },
    ],
  },
  refusal: {
    summary: 'A request is refused, or a subscription has ended with what it was about; without X-Request-Id: a message could not be read',
    payload: refusalSchema(true),
    examples: [{ headers: { 'X-Request-Id': 3 }, ...refused(apiError('cascade.resource.not.found', '/Meter/w1')) }],
  },
  subscribed: {
    summary: 'The subscription has begun: events follow',
    payload: answerSchema(
      { const: 200 },
      { type: 'object', required: ['namespace', 'topic'], properties: { name: TEXT, namespace: TEXT, topic: TEXT } },
      true,
    ),
    examples: [
      {
        status: 200,
        headers: { 'X-Request-Id': 'meters' },
        contentType: JSON_TYPE,
        body: { namespace: 'main', topic: '/types/Meter/insert' },
      },
    ],
  },
  subscriptionNamed: {
    summary: 'The name of a persistent subscription, before its answer',
    payload: noticeSchema(['subscriptionName', 'requestId'], { subscriptionName: TEXT, requestId: { type: ['string', 'number', 'null'] } }),
    examples: [
      {
        status: 100,
        headers: { 'X-Request-Id': 'kept' },
        contentType: JSON_TYPE,
        body: { subscriptionName: '6b011c65a1fc568ea1000000', requestId: 'kept' },
      },
    ],
  },
  event: {
    summary: 'An event of a subscription, with the request id of that',
    payload: noticeSchema(['path', 'value', 'createdAt', 'namespace', 'username'], EVENT_BODY),
    examples: [
      {
        status: 100,
        headers: { 'X-Request-Id': 'kept' },
        contentType: JSON_TYPE,
        body: {
          path: '/topics/meter/kept/publish',
          value: { code: 'w1' },
          createdAt: 1795234917575,
          namespace: 'main',
          username: 'ann',
          partitionId: 4,
          sequenceId: 17,
          redelivered: false,
        },
      },
    ],
  },
  subscriptionEnded: {
    summary: 'A subscription goes on at another socket, or its right has been withdrawn',
    payload: noticeSchema(['op', 'path', 'namespace'], {
      op: { const: 'unsubscribe' },
      path: TEXT,
      namespace: TEXT,
      subscriptionName: TEXT,
    }),
    examples: [
      {
        status: 100,
        headers: { 'X-Request-Id': 'kept' },
        contentType: JSON_TYPE,
        body: { op: 'unsubscribe', path: '/topics/meter/kept', namespace: 'main', subscriptionName: '6b011c65a1fc568ea1000000' },
      },
    ],
  },
};
