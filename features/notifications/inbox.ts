// The inbox of a device (integrations.md 7.4): pending messages of its user when it starts to listen, then changes.
import { DateTime, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Identity, Notice, Subscription } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import { toJson } from '../../model/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { raise, hasMembers } from '../../runtime/events/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { pendingOf } from './pending.ts';
import { deviceOf, devicesOf } from './push-targets.ts';

/** Bound of what happens while a device is told what is pending: one that reads so slowly listens again. */
const MOST_EARLY = 10_000;

/** The path names user and device, so that a device that passes to another user receives nothing more of the former one. */
const pathOf = (username: string, deviceId: string): string => `/inbox/${encodeURIComponent(username)}/${deviceId}`;

/**
 * Notifies a user's devices. `removed`: the message was answered or deleted on another device; `retract`: the sender has withdrawn it.
 * @param isAddressed false: this device is not notified
 */
export async function notifyDevices(
  space: Namespace,
  kind: 'notify' | 'retract' | 'removed',
  message: ObjectValue,
  users: readonly string[],
  actor: Actor,
  isAddressed: (deviceId: string) => boolean = () => true,
): Promise<void> {
  await notifyOf(space, inboxValue(kind, message), users, actor, isAddressed);
}

/** Raises an inbox event, with a `kind`, for the devices of users. */
export async function notifyOf(
  space: Namespace,
  value: ObjectValue,
  users: readonly string[],
  actor: Actor,
  isAddressed: (deviceId: string) => boolean = () => true,
): Promise<void> {
  const devices = [...(await devicesOf(space, users))].flatMap(([username, all]) => all.map(({ deviceId }) => ({ username, deviceId })));
  const events = devices
    .filter(({ deviceId }) => isAddressed(deviceId))
    .flatMap(({ username, deviceId }) => raise(space, pathOf(username, deviceId), value, actor));
  if (events.length > 0) await actor.commit({ writes: [], events });
}

function inboxValue(kind: string, message: ObjectValue): ObjectValue {
  const messageId = own(message, '_id');
  if (kind === 'removed') return { kind, messageId };
  return {
    kind,
    messageId,
    title: own(message, 'title') ?? '',
    category: own(message, 'category') ?? '',
    payload: own(message, 'payload'),
    createdAt: own(message, 'sentAt'),
    ...(own(message, 'expiresAt') !== null && { expiresAt: own(message, 'expiresAt') }),
  };
}

/**
 * Subscribes a device to its inbox: first it gets its user's pending messages, the oldest first and no faster than it reads them, then what
 * has happened since it was subscribed.
 * @param filter members that a value must have; null: all events
 * @throws cascade.authorization.denied: the device belongs to another user
 */
export async function listen(
  space: Namespace,
  { username }: Identity,
  deviceId: string,
  filter: ObjectValue | null,
  deliver: (notice: Notice) => void,
): Promise<Subscription> {
  if (!(await deviceOf(space, username, deviceId))) throw apiError('cascade.authorization.denied', 'subscribe', `/inbox/${deviceId}`);
  const path = `/inbox/${deviceId}`;
  let early: Notice[] | null = [];
  const deliverNamed = (notice: Notice): void => {
    const named: Notice = notice.kind === 'event' ? { ...notice, path } : notice;
    if (!early) return deliver(named);
    if (early.length < MOST_EARLY) return void early.push(named);
    close();
    deliver({ kind: 'withdrawn' });
  };
  const end = space.events.subscribers.add(pathOf(username, deviceId), { filter, deliver: deliverNamed });
  let isOpen = true;
  const close = (): void => {
    isOpen = false;
    end();
  };
  /** When each message was sent that the device was told of as pending. */
  const delivered = new Map<string, number>();
  const tellPending = async (hasRoom: () => Promise<void>): Promise<void> => {
    for await (const message of pendingOf(space, username)) {
      if (!isOpen) return;
      const value = inboxValue('notify', message);
      const sentAt = own(message, 'sentAt');
      const createdAt = sentAt instanceof DateTime ? sentAt.ms : space.clock.now();
      delivered.set(String(own(message, '_id')), createdAt);
      if (!filter || hasMembers(value, filter)) deliver({ kind: 'event', path, valueJson: toJson(value), createdAt });
      await hasRoom();
    }
  };
  return {
    begin: async (hasRoom = async () => undefined) => {
      try {
        await tellPending(hasRoom);
      } finally {
        const waiting = early ?? [];
        early = null;
        for (const notice of newTo(delivered, waiting)) if (isOpen) deliver(notice);
      }
    },
    close,
  };
}

/**
 * Without the messages that were stored after the device was subscribed and before those that wait were read: they are in both. One that
 * follows another event of its message is told, since that may have taken it away.
 */
function newTo(delivered: ReadonlyMap<string, number>, early: readonly Notice[]): Notice[] {
  const named = new Set<string>();
  return early.filter((notice) => {
    if (notice.kind !== 'event') return true;
    const value = JSON.parse(notice.valueJson) as { kind: string; messageId: string; createdAt?: string };
    const isFirst = !named.has(value.messageId);
    named.add(value.messageId);
    const sentAt = delivered.get(value.messageId);
    return !isFirst || value.kind !== 'notify' || sentAt === undefined || Date.parse(value.createdAt ?? '') !== sentAt;
  });
}

export const usersOf = (message: ObjectValue, property: 'users' | 'pendingUsers'): string[] => {
  const users = isObject(message) ? own(message, property) : null;
  return Array.isArray(users) ? users.map(String) : [];
};

function own(object: ObjectValue, name: string): Value {
  return Object.hasOwn(object, name) ? getOwn(object, name) : null;
}
