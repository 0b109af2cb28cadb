// The door of sources (integrations.md 1): what their definitions must be like, what arrives at them, what is sent to them and asked of them.
export { accept } from './accept.ts';
export { receive } from './inbound.ts';
export { publishToSource, querySource, sourceNamed } from './outbound.ts';
export { Sources, sourcesUp } from './sources.ts';
export { natsConnection } from './protocols/nats/connection.ts';
