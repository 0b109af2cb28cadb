// The connection of a PUSH_NOTIF source: sends notes to phones by the transports of its config. Queues, retries and records of deliveries
// belong to the caller (features/notifications).
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { type HttpClient, openHttpClient } from '../../http/index.ts';
import { keyOf, readStore } from '../../../../platform/egress/index.ts';
import { own } from '../fields.ts';
import { type Connection, ConnectionFailure, type SourceContext } from '../protocol.ts';
import { type ApnsKey, openApns } from './apns.ts';
import { openFcm } from './fcm.ts';
import { privateKeyOf } from './tokens.ts';
import type { PushTransport, TransportName } from './transport.ts';

const text = (config: ObjectValue, name: string): string | null => {
  const value = own(config, name);
  return typeof value === 'string' && value !== '' ? value : null;
};

/** The transport that reaches a device of that platform with this config; null: none, so that its user sees messages in the inbox only. */
export function transportFor(platform: string, config: ObjectValue): TransportName | null {
  const name = Object.hasOwn(TRANSPORTS, platform) ? TRANSPORTS[platform] : undefined;
  if (name === undefined || !isConfigured(name, config)) return null;
  const named = own(config, 'transports');
  return !Array.isArray(named) || named.includes(name) ? name : null;
}

const TRANSPORTS: Readonly<Record<string, TransportName>> = { web: 'webpush', android: 'fcm', ios: 'apns' };

/** Whether a transport is configured. A config as read has no secrets: the name of the application stands for them. Web Push needs none. */
function isConfigured(name: TransportName, config: ObjectValue): boolean {
  if (name === 'webpush') return true;
  return own(config, name === 'fcm' ? 'androidAppId' : 'iosAppId') !== null;
}

/** @throws ConnectionFailure: a key is unreadable */
export async function openPush(context: SourceContext): Promise<Connection> {
  const http = await openHttpClient({ outlet: context.outlet, tls: context.tls });
  const transports = new Map<string, PushTransport>();
  try {
    const fcm = fcmOf(context, http);
    if (fcm) transports.set('android', fcm);
    const apns = await apnsOf(context);
    if (apns) transports.set('ios', apns);
  } catch (error) {
    await http[Symbol.asyncDispose]();
    throw new ConnectionFailure(error instanceof Error ? error.message : String(error));
  }
  return {
    hand: async (platform, token, note) =>
      (await transports.get(platform)?.send(token, note)) ?? { kind: 'failed', reason: `nothing is sent to ${platform}` },
    close: async () => {
      for (const transport of transports.values()) await transport.close();
      await http[Symbol.asyncDispose]();
    },
  };
}

function fcmOf({ config, now }: SourceContext, http: HttpClient): PushTransport | null {
  const serverKey = text(config, 'firebaseServerKey');
  return serverKey === null ? null : openFcm({ serverKey, uri: text(config, 'fcmUri'), http, now });
}

async function apnsOf({ config, outlet, tls, now }: SourceContext): Promise<PushTransport | null> {
  const [topic, uri, contents] = [text(config, 'iosAppId'), text(config, 'apnsUri'), text(config, 'pkcs12Contents')];
  const signing = signingOf(config);
  if (topic === null || (contents === null && signing === null)) return null;
  const isPlain = uri !== null && new URL(uri).protocol === 'http:';
  const certificate =
    contents === null || signing !== null || isPlain ? {} : keyOf(await readStore(contents, text(config, 'pkcs12Password') ?? ''), null);
  const isDevelopment = own(config, 'useAPNSDevelopmentServer') === true;
  return openApns({ topic, uri, isDevelopment, signing, tls: { ...tls, ...certificate }, outlet, now });
}

function signingOf(config: ObjectValue): ApnsKey | null {
  const [pem, keyId, teamId] = [text(config, 'apnsKey'), text(config, 'apnsKeyId'), text(config, 'apnsTeamId')];
  return pem === null || keyId === null || teamId === null ? null : { key: privateKeyOf(pem), keyId, teamId };
}
