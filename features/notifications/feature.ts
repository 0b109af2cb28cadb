// Notifications: messages to the devices of users.
import type { Feature } from '../../resources/catalog/index.ts';
import { notifications as builtins } from './notifications.ts';
import { publishNotification } from './direct.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import { PUSH_TARGETS } from './push-targets.ts';
import { pushKey } from './web-push-key.ts';
import { dismiss, preview, read } from './recipients.ts';
import { submit } from './submit.ts';
import { forgetUser } from './forget-user.ts';

export const notifications: Feature = {
  name: 'notifications',
  instances: [PAYLOAD_MESSAGES, PUSH_TARGETS],
  commands: { ArsPayloadMessage: { submit, read, dismiss, preview } },
  requests: { pushkey: pushKey },
  publishers: { PUSH_NOTIF: publishNotification },
  builtins,
  forgetUser,
};
