// EMAIL (integrations.md 5): sends mails by SMTP.
import { COMMON, flag, host, object, oneOf, own, text, whole } from '../fields.ts';
import type { Protocol } from '../protocol.ts';
import { TLS_FIELDS } from '../../../../platform/egress/index.ts';
import { checkedMail } from './mail.ts';

export const EMAIL: Protocol = {
  type: 'EMAIL',
  directions: ['SINK'],
  hasQuery: false,
  canBeReliable: false,
  required: [['host'], ['port']],
  fields: {
    ...COMMON,
    host,
    port: whole(1, 65_535),
    username: text,
    password: text,
    tls: oneOf('implicit', 'starttls', 'opportunistic', 'none'),
    from: text,
    trustAll: flag,
    pemTrustOptions: TLS_FIELDS['pemTrustOptions'] ?? object,
  },
  hosts: (config) => [String(own(config, 'host'))],
  isStanding: () => false,
  checkPublish: (_source, _config, request) => void checkedMail(request),
  open: async (context) => (await import('./connection.ts')).openEmail(context),
};
