// What happens to the recipients of a message to devices (integrations.md 7.2, 7.3), as plain changes of its record.
import { DateTime, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Device } from './push-targets.ts';

export const recipientsOf = (message: ObjectValue): ObjectValue[] => listIn(message, 'recipients').filter(isObject);

/**
 * New recipients: all are pending.
 * @param devices of a user, each of which has the message in its inbox
 * @param transportOf the push service that a device is reached by; null: it is not
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

/** Browsers have what comes in their inbox; a push service only says that something came. */
const deliveryTo = ({ deviceId }: Device, transport: string | null): ObjectValue => ({
  deviceId,
  transport: transport ?? 'inbox',
  status: transport === null ? 'sent' : QUEUED,
  error: null,
});

export const QUEUED = 'queued';

export interface Delivery {
  readonly username: string;
  readonly deviceId: string;
  readonly transport: string;
}

/** What has not been handed to its push service yet. */
export const queuedIn = (message: ObjectValue): Delivery[] =>
  recipientsOf(message).flatMap((recipient) =>
    listIn(recipient, 'deliveries')
      .filter(isObject)
      .filter(({ status }) => status === QUEUED)
      .map(({ deviceId, transport }) => ({
        username: String(recipient['username']),
        deviceId: String(deviceId),
        transport: String(transport),
      })),
  );

/** A delivery has come to an end. */
export function deliveredAs(message: ObjectValue, of: Delivery, status: 'sent' | 'failed', error: Value): ObjectValue {
  const isMeant = (one: Value): one is ObjectValue =>
    isObject(one) && one['deviceId'] === of.deviceId && one['transport'] === of.transport && one['status'] === QUEUED;
  const recipients = recipientsOf(message).map((recipient) => {
    if (recipient['username'] !== of.username) return recipient;
    return { ...recipient, deliveries: listIn(recipient, 'deliveries').map((one) => (isMeant(one) ? { ...one, status, error } : one)) };
  });
  return { recipients };
}

/** Takes it back from all who have not answered but these; null where nobody is left to take it back from. */
export function withdrawn(message: ObjectValue, except: readonly string[]): ObjectValue | null {
  return changed(message, 'retracted', ({ status, username }) => status === 'pending' && !except.includes(String(username)));
}

/** One user has deleted it; null where the user is no recipient, or has done so before. */
export function deletedBy(message: ObjectValue, user: string): ObjectValue | null {
  return changed(message, 'deleted', ({ status, username }) => username === user && status !== 'deleted');
}

/** One user has opened it; null where the user is no recipient, or has done so before. */
export function readBy(message: ObjectValue, user: string, readAt: Value): ObjectValue | null {
  const recipients = recipientsOf(message);
  const isNew = ({ username, ...one }: ObjectValue): boolean => username === user && (one['readAt'] ?? null) === null;
  return recipients.some(isNew) ? { recipients: recipients.map((one) => (isNew(one) ? { ...one, readAt } : one)) } : null;
}

/** Whether it may still be answered. */
export function isExpired(message: ObjectValue, now: number): boolean {
  const at = Object.hasOwn(message, 'expiresAt') ? getOwn(message, 'expiresAt') : null;
  return at instanceof DateTime && at.ms <= now;
}

/** One user has answered it. */
export function submittedBy(message: ObjectValue, user: string, answer: ObjectValue): ObjectValue {
  const recipients = recipientsOf(message).map((one) => (one['username'] === user ? { ...one, ...answer, status: 'submitted' } : one));
  return { recipients, pendingUsers: listIn(message, 'pendingUsers').filter((one) => one !== user) };
}

function changed(message: ObjectValue, status: string, concerns: (recipient: ObjectValue) => boolean): ObjectValue | null {
  const recipients = recipientsOf(message);
  const gone = recipients.filter(concerns).map(({ username }) => username);
  if (gone.length === 0) return null;
  return {
    recipients: recipients.map((one) => (concerns(one) ? { ...one, status } : one)),
    pendingUsers: listIn(message, 'pendingUsers').filter((user) => !gone.includes(user)),
  };
}

function listIn(message: ObjectValue, name: string): Value[] {
  const value = Object.hasOwn(message, name) ? getOwn(message, name) : null;
  return Array.isArray(value) ? value : [];
}
