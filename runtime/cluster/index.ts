// The door of cluster/: leases of processes, owners of namespaces, calls between processes, and events that an earlier version has handed
// off.
export { HANDED_OFF_TEXTS, HandedOffEvents, HANDED_OFF_EVENTS } from './handed-off-events.ts';
export { type Change, openChanges } from './changes.ts';
export { type Answer, type ByteStream, Calls, type Handler, LinkClosed, LinkFull, LinkLost, type Message } from './links/index.ts';
export { type LivingProcess, openProcess, type ServiceProcess } from './process.ts';
export { type Ownership, Owners } from './owners.ts';
export { winnerOf } from './rendezvous.ts';
export { TakeOver, fence } from './take-over.ts';
