// Web Push to browsers (RFC 8030): notes are encrypted for one subscription (RFC 8291, aes128gcm of RFC 8188) and signed with the service's
// key (VAPID, RFC 8292). The library `web-push` opens connections of its own; this code uses the controlled egress, and needs little more
// than node:crypto.
import { cutText } from '../../../../stdlib/values/index.ts';
import { createCipheriv, createECDH, createPrivateKey, generateKeyPairSync, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import type { HttpClient } from '../../http/index.ts';
import { unreached } from './fcm.ts';
import { signedToken } from './tokens.ts';
import { type PushNote, type PushOutcome, type PushTransport, retryAfterMs, SENT } from './transport.ts';

const CURVE = 'prime256v1';
const UNCOMPRESSED = 4;
const PUBLIC_KEY_BYTES = 65;
const PRIVATE_KEY_BYTES = 32;
const AUTH_BYTES = 16;
/** Push services accept at least this size (RFC 8030 7.2), from which encryption takes its share. */
const MOST_BYTES = 3_000;
const RECORD_BYTES = 4_096;
const TTL_SECONDS = 28 * 24 * 3_600;
const TOKEN_SECONDS = 12 * 3_600;
const ANSWER_MS = 30_000;

export interface VapidKey {
  /** base64url of the uncompressed point, with which a page subscribes. */
  readonly publicKey: string;
  /** base64url, of 32 bytes. */
  readonly privateKey: string;
}

export function newVapidKey(): VapidKey {
  const pair = generateKeyPairSync('ec', { namedCurve: CURVE });
  const { d, x, y } = pair.privateKey.export({ format: 'jwk' }) as { d: string; x: string; y: string };
  const point = Buffer.concat([Buffer.of(UNCOMPRESSED), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { publicKey: point.toString('base64url'), privateKey: d };
}

export interface PushSubscription {
  readonly endpoint: URL;
  readonly publicKey: Buffer;
  readonly auth: Buffer;
}

/** Parses the subscription of a browser; null: the text is none. */
export function subscriptionIn(token: string): PushSubscription | null {
  let given: { endpoint?: unknown; keys?: { p256dh?: unknown; auth?: unknown } };
  try {
    given = JSON.parse(token) as typeof given;
  } catch {
    return null; // no JSON
  }
  const { endpoint, keys } = given ?? {};
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint) || typeof keys?.p256dh !== 'string' || typeof keys.auth !== 'string')
    return null;
  const url = new URL(endpoint);
  const [publicKey, auth] = [Buffer.from(keys.p256dh, 'base64url'), Buffer.from(keys.auth, 'base64url')];
  const fits = /^https?:$/.test(url.protocol) && publicKey.length === PUBLIC_KEY_BYTES && auth.length === AUTH_BYTES;
  return fits ? { endpoint: url, publicKey, auth } : null;
}

/** Contact for push services where a source names none; a service may refuse it, as Apple's does. */
export const DEFAULT_CONTACT = 'mailto:postmaster@localhost';
const LONGEST_CONTACT = 256;
const CONTACT = /^(?:mailto:[^\s@<>,?]+@[^\s@<>,?]+|https:\/\/[^/\s][!-~]*)$/;

/** Why a value cannot be the `sub` of a VAPID token (RFC 8292 2.1: a mailto or https URI); null: it can. */
export function contactFault(value: unknown): string | null {
  if (typeof value !== 'string') return 'no String';
  if (value.length > LONGEST_CONTACT) return `longer than ${LONGEST_CONTACT} characters`;
  return CONTACT.test(value) && URL.canParse(value) ? null : 'neither a mailto: nor an https: address';
}

export interface WebPushOptions {
  readonly key: VapidKey;
  /** Contact for operators of the push service (`contactFault`). */
  readonly subject: string;
  readonly http: HttpClient;
  now(): number;
}

export function openWebPush({ key, subject, http, now }: WebPushOptions): PushTransport {
  const signing = signingKeyOf(key);
  return {
    name: 'webpush',
    async send(token, note) {
      const subscription = subscriptionIn(token);
      if (!subscription) return { kind: 'dead', reason: 'no subscription' };
      try {
        const claims = { aud: subscription.endpoint.origin, exp: Math.floor(now() / 1_000) + TOKEN_SECONDS, sub: subject };
        const answer = await http.ask({
          url: subscription.endpoint,
          method: 'POST',
          headers: [
            ['Authorization', `vapid t=${signedToken('ES256', signing, {}, claims)}, k=${key.publicKey}`],
            ['Content-Encoding', 'aes128gcm'],
            ['Content-Type', 'application/octet-stream'],
            ['TTL', String(TTL_SECONDS)],
            ['Urgency', 'high'],
          ],
          body: encrypted(Buffer.from(textOf(note)), subscription),
          timeoutMs: ANSWER_MS,
        });
        return outcomeOf(answer.status, answer.headers['retry-after'], now());
      } catch (error) {
        return unreached(error);
      }
    },
    close: () => Promise.resolve(),
  };
}

function outcomeOf(status: number, retryAfter: string | string[] | undefined, now: number): PushOutcome {
  if (status >= 200 && status < 300) return SENT;
  const reason = String(status);
  if (status === 404 || status === 410) return { kind: 'dead', reason };
  if (status === 429 || status >= 500) return { kind: 'again', reason, afterMs: retryAfterMs(retryAfter, now) };
  return { kind: 'failed', reason };
}

/** The text of a note; one that is too long is shortened, since the page fetches the whole message. */
function textOf({ title, body, data }: PushNote): string {
  const whole = JSON.stringify({ ...data, title, body });
  return Buffer.byteLength(whole) <= MOST_BYTES
    ? whole
    : JSON.stringify({ messageId: data['messageId'] ?? '', title: cutText(title, 200), body: '' });
}

/**
 * One of 256 keys that were stored until 0.1.0 began with a byte 0 and was padded by a letter, six bits, in its place: what it signed was
 * refused by all services. The pages have subscribed with its public key, so the private one is mended.
 */
export function mendedVapidKey({ publicKey, privateKey }: VapidKey): VapidKey {
  const wanted = Buffer.from(publicKey, 'base64url');
  const given = [privateKey, ...[1, 3].filter((n) => privateKey.startsWith('A'.repeat(n))).map((n) => privateKey.slice(n))];
  for (const text of given) {
    const bytes = Buffer.from(text, 'base64url');
    const pair = createECDH(CURVE);
    pair.setPrivateKey(bytes);
    if (!pair.getPublicKey().equals(wanted)) continue;
    return { publicKey, privateKey: Buffer.concat([Buffer.alloc(PRIVATE_KEY_BYTES - bytes.length), bytes]).toString('base64url') };
  }
  throw new Error('the key of web push is no pair');
}

function signingKeyOf({ publicKey, privateKey }: VapidKey): KeyObject {
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', d: privateKey, x: x as string, y: y as string }, format: 'jwk' });
}

/**
 * Encrypts a note for one subscription (RFC 8291 3.4).
 * @param salt, own random for each note; only the example of the standard fixes them
 */
export function encrypted(
  text: Buffer,
  { publicKey, auth }: PushSubscription,
  salt: Buffer = randomBytes(16),
  own: { publicKey: Buffer; secretWith(other: Buffer): Buffer } = ephemeral(),
): Buffer {
  const derive = (secret: Uint8Array, saltOf: Uint8Array, info: Buffer, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, saltOf, info, length));
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, own.publicKey]);
  const secret = derive(own.secretWith(publicKey), auth, info, 32);
  const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const header = Buffer.alloc(21);
  salt.copy(header);
  header.writeUInt32BE(RECORD_BYTES, 16);
  header.writeUInt8(PUBLIC_KEY_BYTES, 20);
  const LAST_RECORD = Buffer.from([2]);
  return Buffer.concat([header, own.publicKey, cipher.update(Buffer.concat([text, LAST_RECORD])), cipher.final(), cipher.getAuthTag()]);
}

function ephemeral(): { publicKey: Buffer; secretWith(other: Buffer): Buffer } {
  const pair = createECDH(CURVE);
  return { publicKey: pair.generateKeys(), secretWith: (other) => pair.computeSecret(other) };
}
