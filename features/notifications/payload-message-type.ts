// The type in which messages to users are stored.

import { getOwn, isObject } from '../../stdlib/values/index.ts';
import { keptByService, type InstanceResource } from '../../resources/catalog/index.ts';

const MESSAGES = keptByService('ArsPayloadMessage', {
  source: 'String',
  category: 'String',
  title: 'String',
  payload: 'Object',
  users: 'multi Username',
  clientName: 'String',
  pendingUsers: 'multi indexed Username',
  unknownUsers: 'multi String',
  sentAt: 'DateTime',
  sentBy: 'Username',
  expiresAt: 'DateTime',
  recipients: 'multi Object',
  collaborationId: 'indexed String',
});

/** Each recipient sees its own entry of `recipients` only. */
export const PAYLOAD_MESSAGES: InstanceResource = {
  ...MESSAGES,
  seen: {
    inPart: ['recipients'],
    instance(shown, username) {
      const recipients = Object.hasOwn(shown, 'recipients') ? getOwn(shown, 'recipients') : null;
      if (!Array.isArray(recipients)) return shown;
      return { ...shown, recipients: recipients.filter((one) => isObject(one) && one['username'] === username) };
    },
    stages: (username) => [
      {
        $addFields: {
          recipients: { $filter: { input: '$recipients', as: 'one', cond: { $eq: ['$$one.username', { $literal: username }] } } },
        },
      },
    ],
  },
};
