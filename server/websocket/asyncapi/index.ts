// The WebSocket of one namespace as an AsyncAPI 3 document, beside the OpenAPI document of its REST API.
import { toJson } from '../../../model/values/index.ts';
import { type ApiDescription, OPERATIONS } from '../../../resources/api.ts';
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import { SHARED_SCHEMAS } from '../../http/index.ts';
import { COMMAND, isOwn, readingOf } from '../operations.ts';
import { type Described, type DescribedRequest, received } from './received.ts';
import { resourceNames } from './schemas.ts';
import { SENT } from './sent.ts';
import { FRAMES } from './frames.ts';

type Messages = readonly (readonly [name: string, message: Described & { contentType?: string }])[];

const CLOSING = {
  '1001, 3000 (SockJS)': 'the service stops',
  '1002': 'a broken frame of SockJS',
  '1008': 'more than 16 KiB, or 300 messages without an answer, before the login',
  '1009': 'a message above the limit',
  '1011': 'an answer could not be finished',
  '1013': 'the client has not read 16 MiB, or too many sockets have no login',
  '4401': 'no login within 30 seconds, or the token was ended',
  '4429': 'the namespace has as many sockets as its quota allows',
} as const;

const DESCRIPTION =
  'A client logs in first, then sends requests and subscribes to events. Its messages are JSON, as text or binary frames; the service sends JSON in ' +
  'binary frames, and in SockJS’s framing all frames are text. A binary frame without JSON is a sign of life and not answered. Answers may come in ' +
  'another order: `requestId` of a request comes back as `X-Request-Id`. The service pings every 30 seconds. The schemas of types stand in ' +
  '/api/v1/openapi.json. The service closes a socket with: ' +
  Object.entries(CLOSING)
    .map(([code, why]) => `${code}: ${why}`)
    .join('; ');

/** As JSON. @param host of the request, since the document must name one */
export function asyncApiText({ namespace, resources }: ApiDescription, host: string): string {
  const commands = resources.flatMap((resource) => resource.commands).filter(isCommand);
  const requests = Object.entries(received([...new Set(commands)].sort()));
  const sent = Object.entries(SENT);
  const frames = Object.entries(FRAMES);
  return toJson({
    asyncapi: '3.0.0',
    info: { title: `Cascade, namespace ${namespace}, over WebSocket`, version: '1', description: DESCRIPTION },
    defaultContentType: 'application/json',
    servers: {
      plain: { host, protocol: 'ws' },
      secure: { host, protocol: 'wss', description: 'Behind a proxy that speaks TLS' },
    },
    channels: {
      raw: channel('/api/v1/wsock/websocket', 'A message is a WebSocket message.', [...requests, ...sent]),
      sockjs: {
        ...channel(
          '/api/v1/wsock/{server}/{session}/websocket',
          'A text frame of the client holds an array of messages as texts, one of the service `a` and such an array. The messages are those of `raw`.',
          frames,
        ),
        parameters: {
          server: { description: 'Up to 32 characters of the client’s choice' },
          session: { description: 'Up to 64 characters of the client’s choice' },
        },
      },
    },
    operations: Object.fromEntries([
      ...requests.map(([name, message]): [string, Value] => [name, requestOperation(name, message)]),
      ...['event', 'subscriptionEnded', 'refusal'].map((name): [string, Value] => [name, operation('send', 'raw', name)]),
      ...frames.map(([name, { action }]): [string, Value] => [name, operation(action, 'sockjs', name)]),
    ]),
    components: {
      messages: Object.fromEntries(
        [...requests, ...sent, ...frames].map(([name, message]): [string, Value] => [name, component(name, message)]),
      ),
      schemas: { ...SHARED_SCHEMAS, ResourceName: resourceNames(resources.map(({ name }) => name)) },
    },
  });
}

/** Commands that are no operations of the same name. */
const isCommand = (name: string): boolean =>
  readingOf(name) === COMMAND && !isOwn(name) && !(OPERATIONS as readonly string[]).includes(name);

const channel = (address: string, description: string, messages: Messages): ObjectValue => ({
  address,
  description,
  messages: Object.fromEntries(messages.map(([name]): [string, Value] => [name, { $ref: `#/components/messages/${name}` }])),
  bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
});

const inChannel = (of: string, name: string): Value => ({ $ref: `#/channels/${of}/messages/${name}` });

const operation = (action: 'send' | 'receive', of: string, name: string): ObjectValue => ({
  action,
  channel: { $ref: `#/channels/${of}` },
  messages: [inChannel(of, name)],
});

function requestOperation(name: string, { summary, answers }: DescribedRequest): ObjectValue {
  const reply: ObjectValue = { channel: { $ref: '#/channels/raw' }, messages: answers.map((answer) => inChannel('raw', answer)) };
  return { ...operation('receive', 'raw', name), summary, ...(answers.length > 0 && { reply }) };
}

const component = (name: string, { summary, payload, examples, contentType }: Messages[number][1]): ObjectValue => ({
  name,
  summary,
  contentType: contentType ?? 'application/json',
  payload,
  examples: examples.map((example): Value => ({ payload: example })),
});
