// The door of what several processes on one database have between them: leases, owners of namespaces, calls to these, and events that an earlier
// version handed from one process to another.
export { HANDED_OFF_TEXTS, HandedOffEvents, HANDED_OFF_EVENTS } from './handed-off-events.ts';
export { type Change, openChanges } from './changes.ts';
export { type Answer, type ByteStream, Calls, type Handler, LinkClosed, LinkFull, LinkLost, type Message } from './links/index.ts';
export { type LivingProcess, openProcess, type ServiceProcess } from './process.ts';
export { type Ownership, Owners } from './owners.ts';
export { winnerOf } from './rendezvous.ts';
