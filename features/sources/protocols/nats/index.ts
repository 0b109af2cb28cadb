// NATS, core and JetStream: the definition of its sources. The reference platform has none; docs/sources.md describes them.
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { address, ANY_DIRECTION, COMMON, type Fits, flag, hostsIn, mediaTypeText, oneOf, own, text, texts, whole } from '../fields.ts';
import type { Protocol } from '../protocol.ts';
import { TLS_FIELDS } from '../../../../platform/egress/index.ts';
import { isFilter, publicationOf } from './publishing.ts';

const subjects: Fits = (value) => texts(value) ?? ((value as string[]).every(isFilter) ? null : 'a wrong subject');
/** The name of a stream or a consumer. */
const name: Fits = (value) => (typeof value === 'string' && /^[^\s.*>/\\\0]{1,200}$/.test(value) ? null : 'no name');

export const NATS: Protocol = {
  type: 'NATS',
  directions: ANY_DIRECTION,
  hasQuery: false,
  canBeReliable: true,
  required: [['serverURIs']],
  fields: {
    ...COMMON,
    ...TLS_FIELDS,
    serverURIs: address('nats', 'tls'),
    topics: subjects,
    username: text,
    password: text,
    accessToken: text,
    contentType: mediaTypeText,
    shared: flag,
    stream: name,
    consumer: name,
    deliver: oneOf('all', 'new'),
    prefetch: whole(1, 10_000),
    ackWait: whole(1, 3_600),
  },
  crossCheck: (config: ObjectValue) => {
    for (const field of ['consumer', 'deliver', 'prefetch', 'ackWait'])
      if (own(config, field) !== null && own(config, 'stream') === null) return [field, 'needs stream'];
    const topics = own(config, 'topics');
    return own(config, 'stream') !== null && Array.isArray(topics) && topics.length > 1 ? ['topics', 'one at most with stream'] : null;
  },
  hosts: (config) => hostsIn(config, 'serverURIs'),
  isStanding: () => true,
  checkPublish: (source, config, request) => void publicationOf(source, request, String(own(config, 'contentType') ?? 'application/json')),
  open: async (context) => (await import('./connection.ts')).openNats(context),
};
