// PUSH_NOTIF (integrations.md 7.1): the definition of its sources.
import { getOwn, type ObjectValue, type Value } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { apnsKey, firebaseKey, pkcs12Contents, printable } from './credentials.ts';
import { address, COMMON, type Fits, flag, hostsIn, own, text, texts } from '../fields.ts';
import { contactFault } from './web-push.ts';
import type { Protocol } from '../protocol.ts';
import type { TransportName } from './transport.ts';

const TRANSPORTS: readonly Value[] = ['inbox', 'webpush', 'fcm', 'apns'] satisfies readonly (TransportName | 'inbox')[];

const transports: Fits = (value) =>
  texts(value) ??
  ([value].flat().length === 0
    ? 'empty'
    : [value].flat().every((one) => TRANSPORTS.includes(one))
      ? null
      : `other names than ${TRANSPORTS.join(', ')}`);

export const PUSH_NOTIF: Protocol = {
  type: 'PUSH_NOTIF',
  directions: ['SINK'],
  hasQuery: false,
  canBeReliable: false,
  required: [],
  fields: {
    ...COMMON,
    targetStandardApp: flag,
    useAPNSDevelopmentServer: flag,
    androidAppId: text,
    firebaseServerKey: firebaseKey,
    iosAppId: printable,
    pkcs12Password: text,
    pkcs12Contents,
    apnsKey,
    apnsKeyId: text,
    apnsTeamId: text,
    transports,
    fcmUri: address('https?'),
    apnsUri: address('https?'),
    webPushSubject: contactFault,
  },
  crossCheck: (config: ObjectValue) => {
    const has = (...names: string[]): boolean => names.every((name) => own(config, name) !== null);
    const standard = Object.keys(config).some((key) => /^target.*App$/.test(key) && getOwn(config, key) === false);
    const complete =
      has('androidAppId', 'firebaseServerKey') ||
      has('iosAppId', 'pkcs12Password', 'pkcs12Contents') ||
      has('iosAppId', 'apnsKey', 'apnsKeyId', 'apnsTeamId');
    return standard && !complete ? ['targetStandardApp', 'false without a complete group of android or ios fields'] : null;
  },
  hosts: (config) => hostsIn(config, 'fcmUri', 'apnsUri'),
  isStanding: () => false,
  checkPublish(source, _config, request) {
    const named = (name: string): boolean => {
      const value = own(request, name);
      return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
    };
    if (!named('users') && !named('devices')) throw apiError('cascade.notification.target.missing', source);
  },
  open: async (context) => (await import('./connection.ts')).openPush(context),
};
