// Firebase Cloud Messaging: HTTP v1 with a service account (OAuth 2, RFC 7523), or the legacy protocol with a server key.
import type { KeyObject } from 'node:crypto';
import { EgressError } from '../../../../platform/egress/index.ts';
import { type HttpAnswer, type HttpClient, HttpFailure } from '../../http/index.ts';
import { privateKeyOf, signedToken } from './tokens.ts';
import { type PushNote, type PushOutcome, type PushTransport, retryAfterMs, SENT } from './transport.ts';

const SERVICE = 'https://fcm.googleapis.com';
const TOKEN_SERVICE = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_SECONDS = 3_600;
/** An access token is renewed so long before it expires. */
const RENEW_BEFORE_MS = 60_000;
const ANSWER_MS = 30_000;

export interface FcmOptions {
  /** A legacy key, or the JSON of a service account. */
  readonly serverKey: string;
  /** null: the production address. */
  readonly uri: string | null;
  readonly http: HttpClient;
  now(): number;
}

interface ServiceAccount {
  readonly projectId: string;
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: string;
  readonly tokenUri: URL;
}

/** The service account that a key contains; null: it is a legacy key. @throws Error for an incomplete account */
export function serviceAccountIn(serverKey: string): ServiceAccount | null {
  if (!/^\s*\{/.test(serverKey)) return null;
  const account = jsonOf(serverKey);
  const text = (name: string): string => {
    const value = account[name];
    if (typeof value !== 'string' || value === '') throw new Error(`the service account has no ${name}`);
    return value;
  };
  const tokenUri = typeof account['token_uri'] === 'string' ? account['token_uri'] : TOKEN_SERVICE;
  if (!/^https?:/i.test(tokenUri) || !URL.canParse(tokenUri)) throw new Error('the service account has a token_uri that is no address');
  return {
    projectId: text('project_id'),
    email: text('client_email'),
    key: rsaKeyIn(text('private_key')),
    keyId: typeof account['private_key_id'] === 'string' ? account['private_key_id'] : '',
    tokenUri: new URL(tokenUri),
  };
}

/** The errors of the parsers would quote the account, which is a secret. */
function jsonOf(serverKey: string): Record<string, unknown> {
  try {
    return JSON.parse(serverKey) as Record<string, unknown>;
  } catch {
    throw new Error('the service account is no JSON');
  }
}

function rsaKeyIn(pem: string): KeyObject {
  let key: KeyObject | null;
  try {
    key = privateKeyOf(pem);
  } catch {
    key = null;
  }
  if (key?.asymmetricKeyType !== 'rsa') throw new Error('the private_key of the service account is no RSA key in PEM');
  return key;
}

export function openFcm(options: FcmOptions): PushTransport {
  const account = serviceAccountIn(options.serverKey);
  const tokens = account && new AccessTokens(account, options);
  const url = account ? v1Address(options.uri, account.projectId) : new URL(options.uri ?? `${SERVICE}/fcm/send`);
  const post = (authorization: string, body: object): Promise<HttpAnswer> =>
    options.http.ask({
      url,
      method: 'POST',
      headers: [
        ['Authorization', authorization],
        ['Content-Type', 'application/json'],
      ],
      body: Buffer.from(JSON.stringify(body)),
      timeoutMs: ANSWER_MS,
    });
  return {
    name: 'fcm',
    async send(token, note) {
      try {
        if (!tokens) return legacyOutcome(await post(`key=${options.serverKey}`, legacyMessage(token, note)), options.now());
        const access = await tokens.get();
        if (typeof access !== 'string') return access;
        const answer = await post(`Bearer ${access}`, v1Message(token, note));
        if (answer.status === 401) tokens.forget();
        return v1Outcome(answer, options.now());
      } catch (error) {
        return unreached(error);
      }
    },
    close: () => Promise.resolve(),
  };
}

/** The address of the request; one without a path gets that of the v1 interface. */
function v1Address(uri: string | null, projectId: string): URL {
  const url = new URL(uri ?? SERVICE);
  if (url.pathname === '/') url.pathname = `/v1/projects/${encodeURIComponent(projectId)}/messages:send`;
  return url;
}

const v1Message = (token: string, { title, body, data }: PushNote): object => ({
  message: { token, notification: { title, body }, data, android: { priority: 'high' } },
});
const legacyMessage = (to: string, { title, body, data }: PushNote): object => ({
  to,
  priority: 'high',
  notification: { title, body },
  data,
});

interface V1Error {
  readonly error?: { readonly status?: string; readonly message?: string; readonly details?: readonly { readonly errorCode?: string }[] };
}

function v1Outcome(answer: HttpAnswer, now: number): PushOutcome {
  if (answer.status >= 200 && answer.status < 300) return SENT;
  const { error = {} } = jsonIn(answer) as V1Error;
  const code = error.details?.find(({ errorCode }) => errorCode !== undefined)?.errorCode ?? error.status ?? '';
  const reason = [answer.status, code || error.message].filter(Boolean).join(' ');
  // A token for the application of another sender never becomes valid for this one.
  if (code === 'UNREGISTERED' || code === 'SENDER_ID_MISMATCH' || answer.status === 404 || answer.status === 410)
    return { kind: 'dead', reason };
  if (answer.status === 401 || answer.status === 429 || answer.status >= 500)
    return { kind: 'again', reason, afterMs: retryAfterMs(answer.headers['retry-after'], now) };
  return { kind: 'failed', reason };
}

function legacyOutcome(answer: HttpAnswer, now: number): PushOutcome {
  if (answer.status === 404 || answer.status === 410) return { kind: 'dead', reason: String(answer.status) };
  const afterMs = retryAfterMs(answer.headers['retry-after'], now);
  if (answer.status === 429 || answer.status >= 500) return { kind: 'again', reason: String(answer.status), afterMs };
  if (answer.status !== 200) return { kind: 'failed', reason: String(answer.status) };
  const { results = [] } = jsonIn(answer) as { results?: readonly { error?: string }[] };
  const error = results[0]?.error;
  if (error === undefined) return SENT;
  if (error === 'NotRegistered' || error === 'InvalidRegistration' || error === 'UNREGISTERED') return { kind: 'dead', reason: error };
  if (error === 'Unavailable' || error === 'InternalServerError' || error === 'DeviceMessageRateExceeded')
    return { kind: 'again', reason: error, afterMs };
  return { kind: 'failed', reason: error };
}

function jsonIn({ body }: HttpAnswer): object {
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // the status suffices
  }
}

/** The outcome of a request without an answer: retryable, unless the address may not be reached at all. */
export function unreached(error: unknown): PushOutcome {
  if (error instanceof EgressError) {
    if (error.failure === 'refused') return { kind: 'failed', reason: error.message };
    return { kind: 'again', reason: error.message, afterMs: null };
  }
  if (error instanceof HttpFailure) return { kind: 'again', reason: error.message, afterMs: null };
  return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
}

/** Caches one access token until it expires; concurrent callers share one request. */
class AccessTokens {
  readonly #account: ServiceAccount;
  readonly #options: FcmOptions;
  #token: { readonly text: string; readonly until: number } | null = null;
  #asking: Promise<string | PushOutcome> | null = null;

  constructor(account: ServiceAccount, options: FcmOptions) {
    this.#account = account;
    this.#options = options;
  }

  async get(): Promise<string | PushOutcome> {
    if (this.#token && this.#token.until > this.#options.now()) return this.#token.text;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** Drops a token that the service refused. */
  forget(): void {
    this.#token = null;
  }

  async #ask(): Promise<string | PushOutcome> {
    const { http, now } = this.#options;
    const { email, key, keyId, tokenUri } = this.#account;
    const at = Math.floor(now() / 1_000);
    const claims = { iss: email, scope: SCOPE, aud: tokenUri.href, iat: at, exp: at + ASSERTION_SECONDS };
    const assertion = signedToken('RS256', key, keyId === '' ? {} : { kid: keyId }, claims);
    const answer = await http.ask({
      url: tokenUri,
      method: 'POST',
      headers: [['Content-Type', 'application/x-www-form-urlencoded']],
      body: Buffer.from(new URLSearchParams({ grant_type: GRANT, assertion }).toString()),
      timeoutMs: ANSWER_MS,
    });
    const { access_token: text, expires_in: seconds } = jsonIn(answer) as { access_token?: unknown; expires_in?: unknown };
    if (answer.status === 200 && typeof text === 'string') {
      const lasts = typeof seconds === 'number' ? seconds * 1_000 : ASSERTION_SECONDS * 1_000;
      this.#token = { text, until: now() + lasts - RENEW_BEFORE_MS };
      return text;
    }
    const reason = `no access token: ${answer.status}`;
    const isTemporary = answer.status === 429 || answer.status >= 500;
    return isTemporary
      ? { kind: 'again', reason, afterMs: retryAfterMs(answer.headers['retry-after'], now()) }
      : { kind: 'failed', reason };
  }
}
