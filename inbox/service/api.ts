// What the page asks of the service over HTTP.
import { readJson, writeJson } from '../form/json.ts';
import { isObject, type Json, type JsonObject, type Message, own, textOf } from '../form/types.ts';
import type { Answer, Medium, Session } from '../store/kept.ts';

const RESOURCES = '/api/v1/resources/';
const MESSAGES = `${RESOURCES}custom/ArsPayloadMessage`;
const TARGETS = `${RESOURCES}custom/ArsPushTarget`;

/** The service answered, and not with what was asked for. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly params: readonly Json[];
  /** Of all errors of the answer. */
  readonly all: readonly { code: string; params: readonly Json[] }[];

  constructor(status: number, body: Json) {
    const errors = (Array.isArray(body) ? body : []).filter(isObject).map((error) => ({
      code: textOf(error, 'code'),
      message: textOf(error, 'message'),
      params: ((params) => (Array.isArray(params) ? params : []))(own(error, 'params')),
    }));
    super(errors[0]?.message ?? `status ${status}`);
    this.status = status;
    this.code = errors[0]?.code ?? '';
    this.params = errors[0]?.params ?? [];
    this.all = errors;
  }
}

export type Credentials = { readonly username: string; readonly password: string } | { readonly token: string };

interface Asked {
  method?: string;
  token?: string;
  headers?: Record<string, string>;
  body?: BodyInit;
  withinMs?: number;
}

/** A connection that was lost may stay silent for ever: what is asked for again later must not wait for it. */
const [ANSWER_WITHIN_MS, UPLOAD_WITHIN_MS] = [60_000, 600_000];

/** @throws Refused; TypeError, DOMException TimeoutError: the service was not reached */
async function ask(path: string, { method = 'GET', token, headers = {}, body, withinMs = ANSWER_WITHIN_MS }: Asked): Promise<Json> {
  const response = await fetch(path, {
    method,
    headers: { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { body }),
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(withinMs),
  });
  const text = await response.text();
  const json = text === '' ? null : parsed(text);
  if (!response.ok) throw new Refused(response.status, json);
  return json;
}

function parsed(text: string): Json {
  try {
    return readJson(text);
  } catch {
    return null; // of a proxy in between: its status says enough
  }
}

const JSON_BODY = { 'Content-Type': 'application/json' };

const sessionOf = (body: Json): Session => {
  const answer = isObject(body) ? body : {};
  const username = textOf(answer, 'username');
  return {
    token: textOf(answer, 'accessToken'),
    username,
    shownName: textOf(answer, 'preferredUsername', username),
    namespace: textOf(answer, 'namespace'),
    expiresAt: textOf(answer, 'expiresAt'),
  };
};

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

export async function logIn(credentials: Credentials): Promise<Session> {
  const header =
    'token' in credentials ? `Bearer ${credentials.token}` : `Basic ${base64(`${credentials.username}:${credentials.password}`)}`;
  return sessionOf(await ask('/authenticate', { headers: { Authorization: header } }));
}

/** A new token in place of one that is still valid. */
export const renew = async (token: string): Promise<Session> =>
  sessionOf(await ask('/authenticate/refresh', { method: 'POST', body: token, headers: { 'Content-Type': 'text/plain' } }));

export const endSession = (token: string): Promise<Json> =>
  ask('/authenticate/revoke', { method: 'POST', body: token, headers: { 'Content-Type': 'text/plain' } });

export interface Device {
  readonly deviceId: string;
  readonly deviceName: string;
  readonly locale: string;
  /** Of Web Push; null: the page is not notified while it is closed. */
  readonly token: string | null;
}

export const registerDevice = (token: string, { token: pushToken, ...device }: Device): Promise<Json> =>
  ask(`${TARGETS}?upsert=true`, {
    method: 'POST',
    token,
    headers: JSON_BODY,
    body: JSON.stringify({ ...device, platform: 'web', active: true, ...(pushToken !== null && { token: pushToken }) }),
  });

export const unregisterDevice = (token: string, deviceId: string): Promise<Json> =>
  ask(`${TARGETS}/${encodeURIComponent(deviceId)}`, { method: 'DELETE', token });

/** What waits for a person, and has not expired by the service's clock. */
export async function pendingMessages(token: string, username: string): Promise<JsonObject[]> {
  const isOpen = [{ expiresAt: null }, { expiresAt: { $gt: { ars_substitution: 'ars_currentDateTime' } } }];
  const where = encodeURIComponent(JSON.stringify({ pendingUsers: username, $or: isOpen }));
  const rows = await ask(`${MESSAGES}?where=${where}&sort=${encodeURIComponent('{"sentAt":1}')}`, { token });
  return (Array.isArray(rows) ? rows : []).filter(isObject);
}

/** @param requestId a repeated request with it is answered from the service's record */
export const submit = (token: string, deviceId: string, { messageId, requestId, ...answer }: Answer): Promise<Json> =>
  ask(`${MESSAGES}/${encodeURIComponent(messageId)}/submit`, {
    method: 'POST',
    token,
    headers: { ...JSON_BODY, 'X-Cascade-Request-Id': requestId },
    body: writeJson({
      deviceId,
      submitValue: answer.submitValue,
      values: { ...answer.values },
      ...(answer.location && { location: { ...answer.location } }),
      ...(answer.sentAt && { sentAt: answer.sentAt }),
    }),
  });

/** Of this message, not of one that may have replaced it. */
const mark = (token: string, { messageId, createdAt }: Message, as: 'read' | 'dismiss'): Promise<Json> =>
  ask(`${MESSAGES}/${encodeURIComponent(messageId)}/${as}`, {
    method: 'POST',
    token,
    headers: JSON_BODY,
    body: JSON.stringify(createdAt === '' ? {} : { sentAt: createdAt }),
  });

/** The person has opened a message. */
export const markRead = (token: string, message: Message): Promise<Json> => mark(token, message, 'read');

/** The person wants no more of a message. @returns false: another one has taken its place @throws Refused; TypeError */
export async function dismiss(token: string, message: Message): Promise<boolean> {
  try {
    await mark(token, message, 'dismiss');
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code === 'cascade.notification.not.pending') return false;
    if (error.status !== 404) throw error; // it is gone already
  }
  return true;
}

export async function upload(token: string, { name, blob }: Medium): Promise<void> {
  const body = new FormData();
  body.append(name, blob, name.slice(name.lastIndexOf('/') + 1));
  await ask(`${RESOURCES}documents`, { method: 'POST', token, body, withinMs: UPLOAD_WITHIN_MS });
}

/** The service takes the type of a document from its name; what this browser has recorded may be of another one. */
export const setFileType = (token: string, name: string, fileType: string): Promise<Json> =>
  ask(`${RESOURCES}documents/${name}`, {
    method: 'PATCH',
    token,
    headers: JSON_BODY,
    body: JSON.stringify([{ op: 'replace', path: '/fileType', value: fileType }]),
  });

/** The bytes of a document. @throws Refused; TypeError */
export async function documentBytes(token: string, name: string): Promise<Blob> {
  const path = name.split('/').map(encodeURIComponent).join('/');
  const response = await fetch(`/docs/${path}`, { headers: { Authorization: `Bearer ${token}` }, credentials: 'omit' });
  if (!response.ok) throw new Refused(response.status, null);
  return response.blob();
}

/** The key that a push subscription is made for; null: this service sends none. */
export async function pushKey(token: string): Promise<string | null> {
  const answer = await ask(`${RESOURCES}pushkey`, { token });
  const key = isObject(answer) ? own(answer, 'publicKey') : null;
  return typeof key === 'string' ? key : null;
}
