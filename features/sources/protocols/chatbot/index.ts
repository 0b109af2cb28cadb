// CHATBOT (integrations.md 6): a bot framework posts messages, and receives replies.
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { address, COMMON, hostsIn, oneOf, own, text, texts } from '../fields.ts';
import type { Protocol } from '../protocol.ts';
import { targetOf } from './target.ts';

const SERVICE = address('https?');

export const CHATBOT: Protocol = {
  type: 'CHATBOT',
  directions: ['BOTH'],
  hasQuery: false,
  canBeReliable: false,
  required: [['clientId'], ['clientSecret']],
  fields: {
    ...COMMON,
    clientId: text,
    clientSecret: text,
    inboundAuth: oneOf('jwt', 'sharedSecret', 'none'),
    openIdMetadataUri: address('https?'),
    jwtIssuer: text,
    inboundSecret: text,
    tokenUri: address('https?'),
    tokenScope: text,
    allowedServiceUrls: (value) => texts(value) ?? ((value as string[]).length === 0 ? null : SERVICE(value)),
  },
  crossCheck: (config: ObjectValue) =>
    own(config, 'inboundAuth') === 'jwt' && own(config, 'openIdMetadataUri') === null ? ['openIdMetadataUri', 'needed for jwt'] : null,
  hosts: (config) => hostsIn(config, 'openIdMetadataUri', 'tokenUri'),
  isStanding: () => false,
  checkPublish: (_source, _config, request) => void targetOf(request),
  takesRequests: true,
  open: async (context) => (await import('./connection.ts')).openChatbot(context),
};
