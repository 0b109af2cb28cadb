// NATS as the bus (core NATS: no streams, nothing is kept). The client connects again by itself for as long as the process lives; what is published
// meanwhile is dropped here, since whoever sends it sends it again.

import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { connect, type ConnectionOptions, nkeyAuthenticator } from '@nats-io/transport-node';
import type { Bus } from './types.ts';

export interface NatsOptions {
  /** `nats://` or `tls://`, several with commas; a user with a password, or a token, may stand before the `@`. */
  readonly url: string;
  /** The seed of an nkey (`SU…`), which answers the server's challenge. */
  readonly nkeySeed?: string | undefined;
  /** Certificates (PEM) of who signs the server's, where the system does not know them. */
  readonly caFile?: string | undefined;
  readonly log: Logger;
}

const CONNECT_WITHIN_MS = 10_000;
const RECONNECT_EVERY_MS = 500;
const PING_EVERY_MS = 5_000;
/** Of one message; servers allow a mebibyte where nobody has said otherwise. */
const MOST_BYTES = 256 * 1024;
/** What is sealed beside a message's bytes, and more. */
const BESIDES_BYTES = 1_024;

/** @throws Error with a reason for people when no server can be reached, or it refuses us */
export async function openNats({ url, nkeySeed, caFile, log }: NatsOptions): Promise<Bus> {
  const { servers, isTls, ...login } = addressesIn(url);
  const options: ConnectionOptions = {
    servers,
    ...login,
    name: 'cascade',
    timeout: CONNECT_WITHIN_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_EVERY_MS,
    pingInterval: PING_EVERY_MS,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
    ...(nkeySeed !== undefined && { authenticator: nkeyAuthenticator(new TextEncoder().encode(nkeySeed.trim())) }),
    ...((isTls || caFile !== undefined) && { tls: caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8') } }),
  };
  const connection = await connect(options).catch((error: unknown) => {
    throw new Error(`NATS at ${servers.join(', ')} cannot be used: ${error instanceof Error ? error.message : String(error)}.`);
  });
  let isConnected = true;
  let isOpen = true;
  const watched = (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect' && isConnected && isOpen)
        log.warn('NATS is away: requests to other processes wait until it is back');
      if (status.type === 'reconnect') log.info('NATS is back');
      if (status.type === 'disconnect') isConnected = false;
      if (status.type === 'reconnect') isConnected = true;
      if (status.type === 'error') log.warn({ err: status.error }, 'NATS');
    }
  })();
  watched.catch((err: unknown) => log.error({ err }, 'NATS'));
  const allowed = connection.info?.max_payload ?? MOST_BYTES;
  return {
    mostBytes: Math.min(MOST_BYTES, allowed - BESIDES_BYTES),
    get isConnected() {
      return isConnected;
    },
    publish(subject, bytes) {
      if (!isConnected || connection.isClosed()) return;
      try {
        connection.publish(subject, bytes);
      } catch (err) {
        log.debug({ err }, 'a message was not sent'); // it is sent again
      }
    },
    subscribe(subject, take) {
      const subscription = connection.subscribe(subject, {
        callback: (err, message) => (err ? log.warn({ err }, 'NATS') : take(message.data)),
      });
      return () => subscription.unsubscribe();
    },
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await (isConnected ? connection.drain() : connection.close()).catch(() => connection.close());
    },
  };
}

/** Servers without what is secret in their addresses. @throws Error when one is no address */
function addressesIn(url: string): { servers: string[]; isTls: boolean; user?: string; pass?: string; token?: string } {
  let login: { user?: string; pass?: string; token?: string } = {};
  let isTls = false;
  const servers = url.split(',').map((each) => {
    const text = each.trim();
    const whole = /^[a-z]+:\/\//i.test(text) ? text : `nats://${text}`;
    if (!/^(?:nats|tls):\/\//i.test(whole) || !URL.canParse(whole))
      throw new Error('The address of NATS must begin with nats:// or tls://, such as nats://127.0.0.1:4222.');
    const { protocol, username, password, host } = new URL(whole);
    isTls ||= protocol === 'tls:';
    const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
    if (user && pass) login = { user, pass };
    else if (user) login = { token: user };
    return host;
  });
  return { servers, isTls, ...login };
}
