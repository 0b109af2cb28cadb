// The door of sources (integrations.md 1): checks of their definitions, inbound messages, publishes and queries.
import type { Socket } from 'node:net';
import type { NatsConnection } from '@nats-io/nats-core/internal';

export { accept } from './accept.ts';
export { receive } from './inbound.ts';
export { publishToSource, querySource, sourceNamed } from './outbound.ts';
export { Sources } from './sources.ts';
export { sources } from './feature.ts';
export { type HttpAnswer, type HttpAsk, type HttpClient, HttpFailure, basic, openHttpClient } from './http/index.ts';
export { logOf } from './inbound.ts';
export { SOURCES_STATE, sourcesOf, sourcesUp } from './namespace-state.ts';
export { transportFor } from './protocols/push/connection.ts';
export type { PushNote, PushOutcome } from './protocols/push/transport.ts';
export { DEFAULT_CONTACT, type VapidKey, mendedVapidKey, newVapidKey, openWebPush } from './protocols/push/web-push.ts';
export { SOURCES } from './sources-kind.ts';

/** A connection of the NATS library on a given socket, for tools that publish what sources read. */
export const natsConnection = async (dial: () => Promise<Socket>): Promise<NatsConnection> =>
  (await import('./protocols/nats/connection.ts')).natsConnection(dial);
