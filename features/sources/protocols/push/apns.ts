// Apple Push Notification service: HTTP/2, one connection for all notes, authenticated by a signed token or by the certificate of a PKCS#12
// file. `http:` means HTTP/2 without TLS, by prior knowledge.
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import type { KeyObject } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import type { Outlet } from '../../../../platform/egress/index.ts';
import { unreached } from './fcm.ts';
import { signedToken } from './tokens.ts';
import { type PushNote, type PushOutcome, type PushTransport, retryAfterMs, SENT } from './transport.ts';

const PRODUCTION = 'https://api.push.apple.com';
const DEVELOPMENT = 'https://api.sandbox.push.apple.com';
const CONNECT_MS = 30_000;
const ANSWER_MS = 30_000;
/** Apple accepts a token for an hour, and refuses a client that renews it more often than every twenty minutes. */
const TOKEN_MS = 40 * 60_000;
/** An idle session is closed after this time. */
const IDLE_MS = 60_000;
const DEAD: ReadonlySet<string> = new Set(['BadDeviceToken', 'Unregistered', 'DeviceTokenNotForTopic']);
const RETRYABLE: ReadonlySet<string> = new Set(['ExpiredProviderToken', 'TooManyRequests', 'TooManyProviderTokenUpdates', 'IdleTimeout']);

export interface ApnsKey {
  readonly key: KeyObject;
  readonly keyId: string;
  readonly teamId: string;
}

export interface ApnsOptions {
  /** The application's bundle id. */
  readonly topic: string;
  /** null: Apple's address, for production or development. */
  readonly uri: string | null;
  readonly isDevelopment: boolean;
  /** null: the certificate in `tls` authenticates the sender. */
  readonly signing: ApnsKey | null;
  readonly tls: ConnectionOptions;
  readonly outlet: Outlet;
  now(): number;
}

export function openApns(options: ApnsOptions): PushTransport {
  const apns = new Apns(options);
  return {
    name: 'apns',
    send: async (token, note) => {
      try {
        return await apns.send(token, note);
      } catch (error) {
        return retryable(error);
      }
    },
    close: () => apns.close(),
  };
}

/** A session that ended during a request is retryable: the next note opens another. */
const retryable = (error: unknown): PushOutcome => {
  const outcome = unreached(error);
  const { code } = (error ?? {}) as { code?: unknown };
  return outcome.kind === 'failed' && typeof code === 'string' ? { kind: 'again', reason: outcome.reason, afterMs: null } : outcome;
};

class Apns {
  readonly #options: ApnsOptions;
  readonly #base: URL;
  #session: Promise<ClientHttp2Session> | null = null;
  #token: { readonly text: string; readonly until: number } | null = null;

  constructor(options: ApnsOptions) {
    this.#options = options;
    this.#base = new URL(options.uri ?? (options.isDevelopment ? DEVELOPMENT : PRODUCTION));
  }

  async send(token: string, note: PushNote): Promise<PushOutcome> {
    if (!/^[\w-]{1,400}$/.test(token)) return { kind: 'dead', reason: 'BadDeviceToken' };
    const session = await this.#open();
    const path = `${this.#base.pathname.replace(/\/$/, '')}/3/device/${token}`;
    const authorization = this.#authorization();
    const { status, reason, retryAfter } = await ask(
      session,
      {
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: path,
        'apns-topic': this.#options.topic,
        'apns-push-type': 'alert',
        'apns-priority': '10',
        ...(authorization !== null && { authorization }),
      },
      JSON.stringify({ aps: { alert: { title: note.title, body: note.body }, sound: 'default' }, ...note.data }),
    );
    if (status === 200) return SENT;
    const declaredType = `${status} ${reason}`.trim();
    if (status === 410 || DEAD.has(reason)) return { kind: 'dead', reason: declaredType };
    if (reason === 'ExpiredProviderToken') this.#token = null;
    if (status === 429 || status >= 500 || RETRYABLE.has(reason))
      return { kind: 'again', reason: declaredType, afterMs: retryAfterMs(retryAfter, this.#options.now()) };
    return { kind: 'failed', reason: declaredType };
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => null);
    if (!session || session.closed || session.destroyed) return;
    await new Promise<void>((resolve) => session.close(resolve)); // resolves when requests in flight have their answers
  }

  #authorization(): string | null {
    const { signing, now } = this.#options;
    if (!signing) return null;
    if (!this.#token || this.#token.until <= now()) {
      const claims = { iss: signing.teamId, iat: Math.floor(now() / 1_000) };
      this.#token = { text: signedToken('ES256', signing.key, { kid: signing.keyId }, claims), until: now() + TOKEN_MS };
    }
    return `bearer ${this.#token.text}`;
  }

  #open(): Promise<ClientHttp2Session> {
    if (this.#session) return this.#session;
    const opening = this.#connect();
    this.#session = opening;
    const gone = (): void => {
      if (this.#session === opening) this.#session = null;
    };
    opening.then((session) => session.once('close', gone).once('goaway', gone), gone);
    return opening;
  }

  async #connect(): Promise<ClientHttp2Session> {
    const { outlet, tls } = this.#options;
    const isSecure = this.#base.protocol === 'https:';
    const socket = await outlet.connect({
      host: this.#base.hostname,
      port: Number(this.#base.port || (isSecure ? 443 : 80)),
      tls: isSecure ? { ...tls, ALPNProtocols: ['h2'] } : null,
      timeoutMs: CONNECT_MS,
    });
    return new Promise((resolve, reject) => {
      const session = connect(this.#base.origin, { createConnection: () => socket });
      session.once('connect', () => {
        session.off('error', reject).on('error', () => session.destroy());
        session.setTimeout(IDLE_MS, () => session.close());
        resolve(session);
      });
      session.once('error', reject);
    });
  }
}

interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly retryAfter: string | undefined;
}

const MOST_ANSWER_BYTES = 16 * 1_024;

function ask(session: ClientHttp2Session, headers: Record<string, string>, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ...headers, 'content-type': 'application/json' });
    let status = 0;
    let retryAfter: string | undefined;
    let text = '';
    stream.setTimeout(ANSWER_MS, () => stream.close(constants.NGHTTP2_CANCEL));
    stream.setEncoding('utf8');
    stream.on('response', (answered) => {
      status = Number(answered[':status']);
      const after = answered['retry-after'];
      retryAfter = typeof after === 'string' ? after : undefined;
    });
    stream.on('data', (piece: string) => {
      if (text.length < MOST_ANSWER_BYTES) text += piece;
    });
    stream.once('error', reject);
    stream.once('close', () =>
      status === 0
        ? reject(Object.assign(new Error('no answer'), { code: 'ECONNRESET' }))
        : resolve({ status, reason: reasonIn(text), retryAfter }),
    );
    stream.end(body);
  });
}

function reasonIn(text: string): string {
  try {
    const { reason } = JSON.parse(text) as { reason?: unknown };
    return typeof reason === 'string' ? reason : '';
  } catch {
    return ''; // no reason was given: the status suffices
  }
}
