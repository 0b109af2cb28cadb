// AMQP (integrations.md 4): the definition of its sources. They have no connections yet.
import { address, ANY_DIRECTION, COMMON, flag, hostsIn, object, oneOf, text, texts, whole } from '../fields.ts';
import type { Protocol } from '../protocol.ts';
import { TLS_FIELDS } from '../tls.ts';

export const AMQP: Protocol = {
  type: 'AMQP',
  directions: ANY_DIRECTION,
  hasQuery: false,
  canBeReliable: true,
  required: [['serverURIs']],
  fields: {
    ...COMMON,
    ...TLS_FIELDS,
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
  hosts: (config) => hostsIn(config, 'serverURIs'),
  isStanding: () => true,
};
