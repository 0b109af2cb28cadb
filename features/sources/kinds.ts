// The types of sources (integrations.md 1.1, 2.1, 3.1, 4.1, 5, 6.1, 7.1): which directions they have and what their config must be like.
import { getOwn, isInteger, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { fault } from '../../model/errors/faults.ts';

export type Direction = 'SOURCE' | 'SINK' | 'BOTH';
export const DIRECTIONS: readonly string[] = ['SOURCE', 'SINK', 'BOTH'];

/** Why a value does not fit, or null. */
type Fits = (value: Value) => string | null;

const text: Fits = (value) => (typeof value === 'string' && value !== '' ? null : 'no String');
const flag: Fits = (value) => (typeof value === 'boolean' ? null : 'no Boolean');
const object: Fits = (value) => (isObject(value) ? null : 'no Object');
const texts: Fits = (value) => (Array.isArray(value) && value.every((one) => typeof one === 'string') ? null : 'no array of Strings');
const textOrTexts: Fits = (value) =>
  typeof value === 'string' ? text(value) : (texts(value) ?? ((value as Value[]).length > 0 ? null : 'empty'));
const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER): Fits =>
  (value) =>
    !isInteger(value) ? 'no Integer' : value < least || value > most ? `not within ${least} and ${most}` : null;
const oneOf =
  (...allowed: Value[]): Fits =>
  (value) =>
    allowed.includes(value) ? null : `none of ${allowed.join(', ')}`;
const address =
  (...schemes: string[]): Fits =>
  (value) => {
    const wrong = textOrTexts(value);
    if (wrong !== null) return wrong;
    const pattern = new RegExp(`^(?:${schemes.join('|')})://[^/\\s]`, 'i');
    return [value].flat().every((one) => pattern.test(String(one))) ? null : `no address of ${schemes.join(', ')}`;
  };
const topicFilters: Fits = (value) => {
  const wrong = texts(value);
  if (wrong !== null) return wrong;
  const isFilter = (filter: string): boolean =>
    filter !== '' &&
    filter.split('/').every((level, i, levels) => !/[+#]/.test(level) || level === '+' || (level === '#' && i === levels.length - 1));
  return (value as string[]).every(isFilter) ? null : 'a wrong topic filter';
};

const TLS: Readonly<Record<string, Fits>> = {
  trustAll: flag,
  pemTrustOptions: object,
  trustStoreOptions: object,
  pemKeyCertOptions: object,
  keyStoreOptions: object,
  proxyOptions: object,
};
const SHARED: Readonly<Record<string, Fits>> = { echoPublish: flag, maxMessageSize: whole(1, 16_777_216) };

export interface SourceKind {
  readonly directions: readonly Direction[];
  /** One may ask it (SELECT FROM SOURCE). */
  readonly hasQuery: boolean;
  readonly canBeReliable: boolean;
  readonly fields: Readonly<Record<string, Fits>>;
  /** Each entry: one of these must be there. */
  readonly required: readonly (readonly string[])[];
  /** What the fields must be together: the field and its fault, or null. */
  readonly together?: (config: ObjectValue) => readonly [field: string, reason: string] | null;
}

const own = (config: ObjectValue, name: string): Value => (Object.hasOwn(config, name) ? getOwn(config, name) : null);
const ANY: readonly Direction[] = ['BOTH', 'SOURCE', 'SINK'];

export const SOURCE_KINDS: Readonly<Record<string, SourceKind>> = {
  REMOTE: {
    directions: ANY,
    hasQuery: true,
    canBeReliable: false,
    required: [['uri', 'serverURIs']],
    fields: {
      ...SHARED,
      uri: address('https?'),
      serverURIs: address('https?'),
      username: text,
      password: text,
      accessToken: text,
      realm: text,
      requestDefaults: object,
      contentType: text,
      pollingInterval: whole(0),
      query: object,
      queryForm: oneOf('url', 'body'),
      topics: texts,
      clientOptions: object,
      followRedirects: flag,
    },
  },
  MQTT: {
    directions: ANY,
    hasQuery: false,
    canBeReliable: true,
    required: [['serverURIs', 'serverURI']],
    fields: {
      ...SHARED,
      ...TLS,
      serverURIs: address('tcps?', 'mqtts?', 'wss?', 'ssl'),
      serverURI: address('tcps?', 'mqtts?', 'wss?', 'ssl'),
      topics: topicFilters,
      username: text,
      password: text,
      contentType: text,
      keepAliveInterval: whole(0),
      connectionTimeout: whole(1),
      maxInflight: whole(1),
      cleanSession: flag,
      clientId: text,
      automaticReconnect: flag,
      qos: oneOf('AT_MOST_ONCE', 'AT_LEAST_ONCE', 'EXACTLY_ONCE', 0, 1, 2),
      protocolVersion: oneOf(4, 5),
      shared: flag,
      will: object,
    },
    together: (config) => {
      if (own(config, 'cleanSession') === false && own(config, 'clientId') === null)
        return ['clientId', 'needed where cleanSession is false'];
      return own(config, 'shared') === true && own(config, 'protocolVersion') !== 5 ? ['shared', 'needs protocolVersion 5'] : null;
    },
  },
  AMQP: {
    directions: ANY,
    hasQuery: false,
    canBeReliable: true,
    required: [['serverURIs']],
    fields: {
      ...SHARED,
      ...TLS,
      serverURIs: address('amqps?'),
      protocol: oneOf('1.0', '0-9-1'),
      topics: texts,
      username: text,
      password: text,
      enabledSaslMechanisms: texts,
      contentType: text,
      useMessageContentType: flag,
      pollingInterval: whole(0),
      prefetch: whole(1, 65_535),
      shared: flag,
      options: object,
    },
  },
  EMAIL: {
    directions: ['SINK'],
    hasQuery: false,
    canBeReliable: false,
    required: [['host'], ['port']],
    fields: {
      ...SHARED,
      host: text,
      port: whole(1, 65_535),
      username: text,
      password: text,
      tls: oneOf('implicit', 'starttls', 'opportunistic', 'none'),
      from: text,
      trustAll: flag,
      pemTrustOptions: object,
    },
  },
  CHATBOT: {
    directions: ['BOTH'],
    hasQuery: false,
    canBeReliable: false,
    required: [['clientId'], ['clientSecret']],
    fields: {
      ...SHARED,
      clientId: text,
      clientSecret: text,
      inboundAuth: oneOf('jwt', 'sharedSecret', 'none'),
      openIdMetadataUri: address('https?'),
      jwtIssuer: text,
      inboundSecret: text,
      tokenUri: address('https?'),
      tokenScope: text,
      allowedServiceUrls: texts,
    },
    together: (config) =>
      own(config, 'inboundAuth') === 'jwt' && own(config, 'openIdMetadataUri') === null ? ['openIdMetadataUri', 'needed for jwt'] : null,
  },
  PUSH_NOTIF: {
    directions: ['SINK'],
    hasQuery: false,
    canBeReliable: false,
    required: [],
    fields: {
      ...SHARED,
      targetStandardApp: flag,
      useAPNSDevelopmentServer: flag,
      androidAppId: text,
      firebaseServerKey: text,
      iosAppId: text,
      pkcs12Password: text,
      pkcs12Contents: text,
      transports: texts,
      fcmUri: address('https?'),
      apnsUri: address('https?'),
    },
    together: (config) => {
      const has = (...names: string[]): boolean => names.every((name) => own(config, name) !== null);
      const standard = Object.keys(config).some((key) => /^target.*App$/.test(key) && getOwn(config, key) === false);
      const complete = has('androidAppId', 'firebaseServerKey') || has('iosAppId', 'pkcs12Password', 'pkcs12Contents');
      return standard && !complete ? ['targetStandardApp', 'false without a complete group of android or ios fields'] : null;
    },
  },
};

/** Files of the server are no namespace's to read (integrations.md 1.11). */
const FILE_FIELDS = new Set(['path', 'certPath', 'certPaths', 'keyPath', 'keyPaths']);
const STORES = new Set(['keyStoreOptions', 'trustStoreOptions', 'pemTrustOptions', 'pemKeyCertOptions', 'jksOptions']);

/**
 * Unknown fields are kept; null is "not set"; `@secrets(…)` stands for whatever the field needs.
 * @param config with its secrets
 * @throws cascade.source.config.invalid
 */
export function checkConfig(kind: SourceKind, config: ObjectValue): void {
  const isThere = (name: string): boolean => own(config, name) !== null;
  for (const names of kind.required) if (!names.some(isThere)) throw fault('cascade.source.config.invalid', names[0] ?? '', 'missing');
  for (const [name, fits] of Object.entries(kind.fields)) {
    const value = own(config, name);
    const wrong = value === null || /^@secrets\(.+\)$/.test(String(value)) ? null : fits(value);
    if (wrong !== null) throw fault('cascade.source.config.invalid', name, wrong);
  }
  const wrong = kind.together?.(config);
  if (wrong) throw fault('cascade.source.config.invalid', ...wrong);
  refuseFiles(config);
}

function refuseFiles(config: ObjectValue): void {
  for (const key of Object.keys(config)) {
    const value = getOwn(config, key);
    if (!isObject(value)) continue;
    const file = STORES.has(key) ? Object.keys(value).find((name) => FILE_FIELDS.has(name)) : undefined;
    if (file !== undefined || key === 'jksOptions')
      throw fault('cascade.source.config.invalid', `${key}${file ? `.${file}` : ''}`, 'no files of the server');
    if (key === 'clientOptions') refuseFiles(value);
  }
}
