// Messages to the devices of users (builtins.md 23, 24).
import type { Declaration, DeclaredCode } from './declaration.ts';

/** All are called by the name of their service, and the host answers them. */
const asked = (call: string, about: string, errors: readonly DeclaredCode[] = []): Declaration => ({
  call,
  forms: 'S',
  about,
  errors,
  effect: 'suspends',
});

export const notifications: readonly Declaration[] = [
  asked(
    'Notification.sendPayload(pushSourceName: String, messageId: String|null, category: String|null, title: String|null, payload: any|null, users: any|null) => Object',
    'Sends a form to users, or replaces one; the message as stored.',
    [
      'cascade.authorization.denied',
      'cascade.notification.source',
      'cascade.notification.users',
      'cascade.notification.payload',
      'cascade.source.inactive',
      'cascade.source.unavailable',
      'cascade.resource.not.found',
      'cascade.lang.range',
    ],
  ),
  asked(
    'Notification.retractPayload(msgId: String, excludeList?: List) => Boolean',
    'Takes a message back from those who have not answered it; whether there is one.',
    ['cascade.authorization.denied'],
  ),
  asked('Notification.deletePayloadMessages(msgIds: List) => Integer', 'Deletes messages, or the caller’s part of them; how many.'),
  asked('Notification.listPending(username?: String) => List', 'The messages that a user has not answered, oldest first.', [
    'cascade.authorization.denied',
  ]),
  asked(
    'Client.sendByName(pushSourceName: String, title: String|null, subtitle: String|null, users: any|null, clientName: String) => Object',
    'Sends users a message that opens a named client.',
    [
      'cascade.authorization.denied',
      'cascade.notification.source',
      'cascade.notification.users',
      'cascade.source.inactive',
      'cascade.source.unavailable',
      'cascade.resource.not.found',
      'cascade.lang.range',
    ],
  ),
];
