// AMQP (integrations.md 4), 1.0 and 0-9-1: the definition of its sources.
import { address, ANY_DIRECTION, COMMON, flag, hostsIn, object, oneOf, own, text, texts, whole } from '../fields.ts';
import type { Protocol } from '../protocol.ts';
import { TLS_FIELDS } from '../tls.ts';
import { openAmqp091 } from './amqp-0-9-1.ts';
import { openAmqp10 } from './amqp-1-0.ts';
import { mechanismsOf, publicationOf } from './common.ts';

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
  crossCheck: (config) =>
    mechanismsOf(config).length === 0
      ? ['enabledSaslMechanisms', 'none of PLAIN (with a username), EXTERNAL (with a client certificate), ANONYMOUS']
      : null,
  hosts: (config) => hostsIn(config, 'serverURIs'),
  isStanding: () => true,
  checkPublish: (source, config, request) => void publicationOf({ source, config }, request),
  open: (context) => (own(context.config, 'protocol') === '0-9-1' ? openAmqp091(context) : openAmqp10(context)),
};
