// MQTT (integrations.md 3): the definition of its sources.
import { isObject, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { address, ANY_DIRECTION, COMMON, type Fits, flag, hostsIn, mediaTypeText, oneOf, own, texts, whole } from '../fields.ts';
import type { Protocol } from '../protocol.ts';
import { TLS_FIELDS } from '../../../../platform/egress/index.ts';
import { publicationOf, qosOf, shortText, usualType } from './publishing.ts';

const topicFilters: Fits = (value) => {
  const wrong = texts(value);
  if (wrong !== null) return wrong;
  const isFilter = (filter: string): boolean =>
    shortText(filter) === null &&
    filter.split('/').every((level, i, levels) => !/[+#]/.test(level) || level === '+' || (level === '#' && i === levels.length - 1));
  return (value as string[]).every(isFilter) ? null : 'a wrong topic filter';
};

const ADDRESS = address('tcps?', 'mqtts?', 'wss?', 'ssl');

/** The message that a broker publishes when the connection is lost. */
const will: Fits = (value) => {
  if (!isObject(value)) return 'no Object';
  const topic = own(value, 'topic');
  if (shortText(topic) !== null || /[+#]/.test(String(topic))) return 'topic: no topic';
  const qos = own(value, 'qos');
  if (qos !== null && qosOf(qos) === undefined) return 'qos: no level';
  const retain = own(value, 'retain');
  return retain === null || typeof retain === 'boolean' ? null : 'retain: no Boolean';
};

export const MQTT: Protocol = {
  type: 'MQTT',
  directions: ANY_DIRECTION,
  hasQuery: false,
  canBeReliable: true,
  required: [['serverURIs', 'serverURI']],
  fields: {
    ...COMMON,
    ...TLS_FIELDS,
    serverURIs: ADDRESS,
    serverURI: ADDRESS,
    topics: topicFilters,
    username: shortText,
    password: shortText,
    contentType: mediaTypeText,
    keepAliveInterval: whole(0, 65_535),
    connectionTimeout: whole(1, 86_400),
    maxInflight: whole(1, 65_535),
    cleanSession: flag,
    clientId: shortText,
    automaticReconnect: flag,
    qos: oneOf('AT_MOST_ONCE', 'AT_LEAST_ONCE', 'EXACTLY_ONCE', 0, 1, 2),
    protocolVersion: oneOf(4, 5),
    shared: flag,
    will,
  },
  crossCheck: (config: ObjectValue) => {
    if (own(config, 'cleanSession') === false && own(config, 'clientId') === null)
      return ['clientId', 'needed where cleanSession is false'];
    return own(config, 'shared') === true && own(config, 'protocolVersion') !== 5 ? ['shared', 'needs protocolVersion 5'] : null;
  },
  hosts: (config) => hostsIn(config, 'serverURIs', 'serverURI'),
  isStanding: () => true,
  reconnects: (config) => own(config, 'automaticReconnect') !== false,
  checkPublish: (source, config, request) => void publicationOf(source, request, usualType(config), own(config, 'protocolVersion') === 5),
  open: async (context) => (await import('./connection.ts')).openMqtt(context),
};
