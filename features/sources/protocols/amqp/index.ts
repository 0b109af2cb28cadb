// AMQP (integrations.md 4), 1.0 and 0-9-1: the definition of its sources.
import { isObject } from '../../../../stdlib/values/index.ts';
import {
  address,
  ANY_DIRECTION,
  COMMON,
  type Fits,
  flag,
  hostsIn,
  mediaTypeText,
  names,
  oneOf,
  own,
  text,
  texts,
  whole,
} from '../fields.ts';
import type { Protocol } from '../protocol.ts';
import { TLS_FIELDS } from '../../../../platform/egress/index.ts';
import { addressesOf, mechanismsOf, publicationOf } from './common.ts';

const LINK_FIELDS: Readonly<Record<string, Fits>> = { selector: text, durable: flag, dynamic: flag };

/** Link options of AMQP 1.0, by address. */
const linkOptions: Fits = (value) => {
  if (!isObject(value)) return 'no Object';
  for (const topic of Object.keys(value)) {
    const options = own(value, topic);
    if (options !== null && !isObject(options)) return `${topic}: no Object`;
    for (const [name, fits] of Object.entries(LINK_FIELDS)) {
      const field = isObject(options) ? own(options, name) : null;
      const wrong = field === null ? null : fits(field);
      if (wrong !== null) return `${topic}.${name}: ${wrong}`;
    }
  }
  return null;
};

/** Addresses of brokers, whose path is the virtual host. */
const brokers: Fits = (value) => {
  const wrong = address('amqps?')(value);
  if (wrong !== null) return wrong;
  try {
    addressesOf({ serverURIs: value });
    return null;
  } catch {
    return 'a virtual host that cannot be decoded';
  }
};

export const AMQP: Protocol = {
  type: 'AMQP',
  directions: ANY_DIRECTION,
  hasQuery: false,
  canBeReliable: true,
  required: [['serverURIs']],
  fields: {
    ...COMMON,
    ...TLS_FIELDS,
    serverURIs: brokers,
    protocol: oneOf('1.0', '0-9-1'),
    topics: names,
    username: text,
    password: text,
    enabledSaslMechanisms: texts,
    contentType: mediaTypeText,
    useMessageContentType: flag,
    pollingInterval: whole(0),
    prefetch: whole(1, 65_535),
    shared: flag,
    options: linkOptions,
  },
  crossCheck: (config) =>
    mechanismsOf(config).length === 0
      ? ['enabledSaslMechanisms', 'none of PLAIN (with a username), EXTERNAL (with a client certificate), ANONYMOUS']
      : null,
  hosts: (config) => hostsIn(config, 'serverURIs'),
  isStanding: () => true,
  checkPublish: (source, config, request) => void publicationOf({ source, config }, request),
  open: async (context) => {
    if (own(context.config, 'protocol') === '0-9-1') return (await import('./amqp-0-9-1.ts')).openAmqp091(context);
    return (await import('./amqp-1-0.ts')).openAmqp10(context);
  },
};
