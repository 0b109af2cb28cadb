// WEBHOOK: clients post messages, signed with a shared secret.
import type { ObjectValue } from '../../../../stdlib/values/index.ts';
import { COMMON, type Fits, mediaTypeText, oneOf, own, text, whole } from '../fields.ts';
import type { Protocol } from '../protocol.ts';
import { openWebhook } from './connection.ts';

const headerName: Fits = (value) =>
  typeof value === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(value) ? null : 'no name of a header';
const anyText: Fits = (value) => (typeof value === 'string' ? null : 'no String');

export const WEBHOOK: Protocol = {
  type: 'WEBHOOK',
  directions: ['SOURCE'],
  hasQuery: false,
  canBeReliable: true,
  required: [['inboundSecret']],
  fields: {
    ...COMMON,
    inboundSecret: text,
    algorithm: oneOf('sha256', 'sha384', 'sha512'),
    encoding: oneOf('hex', 'base64'),
    signatureHeader: headerName,
    signaturePrefix: anyText,
    timestampHeader: headerName,
    timestampTolerance: whole(1, 86_400),
    idempotencyHeader: headerName,
    contentType: mediaTypeText,
  },
  crossCheck: (config: ObjectValue) =>
    own(config, 'timestampTolerance') !== null && own(config, 'timestampHeader') === null
      ? ['timestampHeader', 'needed for timestampTolerance']
      : null,
  hosts: () => [],
  isStanding: () => false,
  takesRequests: true,
  open: async (context) => openWebhook(context),
};
