// The door of links/, which carries calls between processes.
export { type Answer, type ByteStream, Calls, type Handler, LinkClosed, LinkFull, LinkLost, type Message } from './calls.ts';
