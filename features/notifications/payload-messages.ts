// State changes of a message's recipients (integrations.md 7.2, 7.3), as changes of its record. Pure.
import { DateTime, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Device } from './push-targets.ts';

export const recipientsOf = (message: ObjectValue): ObjectValue[] => listIn(message, 'recipients').filter(isObject);

/**
 * The entries of new recipients: all are pending.
 * @param devices the devices of each user; each has the message in its inbox
 * @param transportOf the push service of a device; null: it has none
 */
export const pendingRecipients = (
  users: readonly string[],
  devices: ReadonlyMap<string, readonly Device[]>,
  transportOf: (device: Device) => string | null,
): Value[] =>
  users.map((username) => ({
    username,
    status: 'pending',
    deviceId: null,
    submitValue: null,
    submittedAt: null,
    deliveries: (devices.get(username) ?? []).map((device) => deliveryTo(device, transportOf(device))),
  }));

/** The delivery to a device. A push service only announces the message to a browser, which reads it from its inbox. */
const deliveryTo = ({ deviceId }: Device, transport: string | null): ObjectValue => ({
  deviceId,
  transport: transport ?? 'inbox',
  status: transport === null ? 'sent' : QUEUED,
  error: null,
});

export const QUEUED = 'queued';

export interface Delivery {
  /** Of the message: what has replaced it has deliveries of its own, to the same devices. */
  readonly sentAt: Value;
  readonly username: string;
  readonly deviceId: string;
  readonly transport: string;
}

/** Deliveries that have not been sent to their push service. */
export const queuedIn = (message: ObjectValue): Delivery[] => {
  const sentAt = Object.hasOwn(message, 'sentAt') ? getOwn(message, 'sentAt') : null;
  return recipientsOf(message).flatMap((recipient) =>
    listIn(recipient, 'deliveries')
      .filter(isObject)
      .filter(({ status }) => status === QUEUED)
      .map(({ deviceId, transport }) => ({
        sentAt,
        username: String(recipient['username']),
        deviceId: String(deviceId),
        transport: String(transport),
      })),
  );
};

/** Whether the delivery is still to be sent: neither sent nor given up, and of the message as it is now. */
export const isQueued = (message: ObjectValue, { sentAt, ...of }: Delivery): boolean =>
  isSentAt(message, sentAt) &&
  queuedIn(message).some((one) => one.username === of.username && one.deviceId === of.deviceId && one.transport === of.transport);

/** Records the outcome of a delivery. */
export function deliveredAs(message: ObjectValue, of: Delivery, status: 'sent' | 'failed', error: Value): ObjectValue {
  const isMeant = (one: Value): one is ObjectValue =>
    isObject(one) && one['deviceId'] === of.deviceId && one['transport'] === of.transport && one['status'] === QUEUED;
  const recipients = recipientsOf(message).map((recipient) => {
    if (recipient['username'] !== of.username) return recipient;
    return { ...recipient, deliveries: listIn(recipient, 'deliveries').map((one) => (isMeant(one) ? { ...one, status, error } : one)) };
  });
  return { recipients };
}

/** Withdraws the message from all who have not answered, except the named users; null where nobody is left. */
export function withdrawn(message: ObjectValue, except: readonly string[]): ObjectValue | null {
  return changed(message, 'retracted', ({ status, username }) => status === 'pending' && !except.includes(String(username)));
}

/** Records that a user has deleted the message; null where the user is no recipient, or has deleted it before. */
export function deletedBy(message: ObjectValue, user: string): ObjectValue | null {
  return changed(message, 'deleted', ({ status, username }) => username === user && status !== 'deleted');
}

/** Records that a user has opened the message; null where the user is no recipient, or has opened it before. */
export function readBy(message: ObjectValue, user: string, readAt: Value): ObjectValue | null {
  const recipients = recipientsOf(message);
  const isNew = ({ username, ...one }: ObjectValue): boolean => username === user && (one['readAt'] ?? null) === null;
  return recipients.some(isNew) ? { recipients: recipients.map((one) => (isNew(one) ? { ...one, readAt } : one)) } : null;
}

/** Whether the message can no longer be answered. */
export function isExpired(message: ObjectValue, now: number): boolean {
  const at = Object.hasOwn(message, 'expiresAt') ? getOwn(message, 'expiresAt') : null;
  return at instanceof DateTime && at.ms <= now;
}

/** Whether the message is still the one that was sent then: `sentAt` tells a replacement from what it has replaced. */
export function isSentAt(message: ObjectValue, then: Value): boolean {
  const sentAt = Object.hasOwn(message, 'sentAt') ? getOwn(message, 'sentAt') : null;
  return sentAt instanceof DateTime && then instanceof DateTime ? sentAt.ms === then.ms : sentAt === then;
}

/** Records a user's answer. */
export function submittedBy(message: ObjectValue, user: string, answer: ObjectValue): ObjectValue {
  const recipients = recipientsOf(message).map((one) => (one['username'] === user ? { ...ended(one, 'submitted'), ...answer } : one));
  return { recipients, pendingUsers: listIn(message, 'pendingUsers').filter((one) => one !== user) };
}

/** Who waits no longer is not told of the message any more: what has not been sent has failed. */
function ended(recipient: ObjectValue, status: string): ObjectValue {
  const deliveries = listIn(recipient, 'deliveries').map((one) =>
    isObject(one) && one['status'] === QUEUED ? { ...one, status: 'failed', error: status } : one,
  );
  return { ...recipient, status, ...(deliveries.length > 0 && { deliveries }) };
}

function changed(message: ObjectValue, status: string, concerns: (recipient: ObjectValue) => boolean): ObjectValue | null {
  const recipients = recipientsOf(message);
  const gone = recipients.filter(concerns).map(({ username }) => username);
  if (gone.length === 0) return null;
  return {
    recipients: recipients.map((one) => (concerns(one) ? ended(one, status) : one)),
    pendingUsers: listIn(message, 'pendingUsers').filter((user) => !gone.includes(user)),
  };
}

function listIn(message: ObjectValue, name: string): Value[] {
  const value = Object.hasOwn(message, name) ? getOwn(message, name) : null;
  return Array.isArray(value) ? value : [];
}
