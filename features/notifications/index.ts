// The door of notifications: messages to users and their devices.
export { settleHandOver } from './hand-over.ts';
export { notifications } from './feature.ts';
export { handOver } from './hand-over.ts';
export { listen, notifyDevices, notifyOf, usersOf } from './inbox.ts';
export { cut, storeMessage } from './notifications.ts';
export { checkForm } from './payload-form.ts';
export { PAYLOAD_MESSAGES } from './payload-message-type.ts';
export { withdrawn } from './payload-messages.ts';
