// Login, renewal and revocation of sessions over HTTP, and the identity of every other request (resources-and-api.md 6).
import type { Identity } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { IdentityStore, Session } from '../../identity/index.ts';
import { type Query, textParameter } from './parameters.ts';
import type { HttpReply, HttpRequest } from './types.ts';

/** `GET /authenticate`, with a name and password or with a token. */
export async function authenticate(http: HttpRequest, query: Query, store: IdentityStore): Promise<HttpReply> {
  const target = targetNamespace(http.headers, query);
  const credentials = authorization(http);
  if (credentials?.scheme === 'bearer') return sessionReply(await store.loginWithToken(credentials.value, target, http.address));
  const basic = credentials?.scheme === 'basic' ? nameAndPassword(credentials.value) : null;
  if (!basic) throw apiError('cascade.security.credentials.missing');
  return sessionReply(await store.login(basic.username, basic.password, http.address, target));
}

/** `POST /authenticate/refresh`: the body is the token, of whatever content type. */
export async function refresh(http: HttpRequest, store: IdentityStore): Promise<HttpReply> {
  return sessionReply(await store.refresh(await bodyToken(http)));
}

/** `POST /authenticate/revoke`: the body is the token likewise; an invalid token counts as revoked. */
export async function revoke(http: HttpRequest, store: IdentityStore): Promise<HttpReply> {
  await store.revoke(await bodyToken(http));
  return { status: 200, body: '{}' };
}

/**
 * The identity of a request. A header has precedence over the `token` parameter; only the scheme Bearer counts here.
 * @throws security.credentials.missing, security.token.invalid, namespace.not.authorized
 */
export function identify(http: HttpRequest, query: Query, store: IdentityStore): MaybePromise<Identity> {
  const token = presentedToken(http, query);
  if (!token) throw apiError('cascade.security.credentials.missing');
  const found = store.verify(token, targetNamespace(http.headers, query));
  return found instanceof Promise ? found.then(valid) : valid(found);
}

function valid(identity: Identity | null): Identity {
  if (!identity) throw apiError('cascade.security.token.invalid');
  return identity;
}

function presentedToken(http: HttpRequest, query: Query): string | undefined {
  if (!http.headers.get('authorization')) return textParameter(query, 'token', true);
  const credentials = authorization(http);
  return credentials?.scheme === 'bearer' ? credentials.value : undefined;
}

/** The scheme in lower case, and its value; null when the header is absent or malformed. */
function authorization(http: HttpRequest): { scheme: string; value: string } | null {
  const [, scheme, value] = /^([A-Za-z]+) +(\S+)\s*$/.exec(http.headers.get('authorization') ?? '') ?? [];
  return scheme && value ? { scheme: scheme.toLowerCase(), value } : null;
}

/** The name and password in base64 of UTF-8; the password may contain colons. Null when malformed. */
function nameAndPassword(encoded: string): { username: string; password: string } | null {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** The namespace that a request names, by its header or else by its parameter. */
export const targetNamespace = (headers: HttpRequest['headers'], query: Query): string | undefined =>
  headers.get('x-target-namespace') || textParameter(query, 'targetNamespace') || undefined;

async function bodyToken(http: HttpRequest): Promise<string> {
  const token = Buffer.from(await http.body())
    .toString('utf8')
    .trim();
  if (token === '') throw apiError('cascade.security.credentials.missing');
  return token;
}

const sessionReply = (session: Session): HttpReply => ({ status: 200, body: sessionBody(session) });

/** The answer to a login, on every binding (6.1). */
export function sessionBody({ token, expiresAt, identity, preferredUsername }: Session): string {
  const { username, namespace, profiles } = identity;
  const body = { accessToken: token, idToken: token, expiresAt: expiresAt.toISOString(), username, preferredUsername, namespace, profiles };
  return JSON.stringify(body);
}
