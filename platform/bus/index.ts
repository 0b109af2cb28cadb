// The bus between the processes of an installation: it carries bytes by subject, and may lose, repeat or reorder them. Nothing rests on it but
// speed; what is true stands in the database. This is the folder's door.
export { type Faults, openLocalNetwork, type LocalNetwork } from './local.ts';
export { type NatsOptions, openNats } from './nats.ts';
export type { Bus } from './types.ts';
