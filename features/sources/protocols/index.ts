// The protocols of sources. A new one is a folder here and an entry in the list.
import { AMQP } from './amqp/index.ts';
import { CHATBOT } from './chatbot/index.ts';
import { EMAIL } from './email/index.ts';
import { MQTT } from './mqtt/index.ts';
import { NATS } from './nats/index.ts';
import type { Protocol } from './protocol.ts';
import { PUSH_NOTIF } from './push/index.ts';
import { REMOTE } from './remote/index.ts';
import { WEBHOOK } from './webhook/index.ts';

export type {
  Caller,
  Connection,
  Direction,
  Inbound,
  InboundReply,
  InboundRequest,
  InboundValue,
  Outcome,
  Protocol,
  SourceContext,
} from './protocol.ts';
export { ConnectionFailure } from './protocol.ts';

const PROTOCOLS: ReadonlyMap<string, Protocol> = new Map(
  [REMOTE, MQTT, AMQP, NATS, EMAIL, CHATBOT, PUSH_NOTIF, WEBHOOK].map((one) => [one.type, one]),
);

export const protocolOf = (type: string): Protocol | undefined => PROTOCOLS.get(type);
