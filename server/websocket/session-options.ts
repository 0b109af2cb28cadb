// What a session of the WebSocket binding is given: the way back to its client, and what all sessions share.
import type { Logger } from 'pino';
import type { Pieces } from '../../resources/api.ts';
import type { Budget, Deadlines, RoundRobinQueue, Served } from '../http/index.ts';
import type { Framing } from './framing.ts';

/** The way back to the client. Sending on a closed wire does nothing. */
export interface Wire {
  send(text: string): void;
  /** Resolves when the client has read most of what was sent, or is gone. */
  hasRoom(): Promise<void>;
  /** Sends one message in parts, as fast as the client reads. Resolves when all is sent or the client is gone; closes the pieces. */
  stream(message: Pieces): Promise<void>;
  close(code: number, reason: string): void;
  /** The peer's address, as text. */
  readonly address: string;
}

export interface SessionOptions {
  readonly engine: Served;
  readonly log: Logger;
  readonly wire: Wire;
  readonly framing: Framing;
  /** Bound of one message. */
  readonly messageLimitBytes: number;
  /** The deadlines of single requests. */
  readonly deadlines: Deadlines;
  /** The budget for the messages of all clients, until they are answered. */
  readonly budget: Budget;
  /** The budget for what the subscriptions of all clients keep, until they end. */
  readonly kept: Budget;
  /** What begins requests in their turn. */
  readonly turns: RoundRobinQueue;
  /** The budget for sockets without a login. */
  readonly unknown: Budget;
  /** Time that a client may stay without a login. */
  readonly loginMs: number;
  /** Called when an answer was sent. */
  readonly onAnswer?: () => void;
}
