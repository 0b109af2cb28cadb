// Devices for messages (integrations.md 7.2): each belongs to the user who registered it last.
import { apiError } from '../../model/errors/index.ts';
import { DateTime, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor, Initiator } from '../../runtime/context/index.ts';
import { systemType, type InstanceResource, type Namespace } from '../../resources/catalog/index.ts';
import { read, changeOf, updateOne } from '../../resources/instances/index.ts';

const NAME = 'ArsPushTarget';
const LONGEST_ID = 128;
const PLATFORMS: ReadonlySet<Value> = new Set(['web', 'android', 'ios']);
/** Devices per user that a message is sent to. */
const MOST_DEVICES = 100;

const TYPE = systemType(
  NAME,
  {
    deviceId: 'required unique String',
    username: 'indexed Username',
    deviceName: 'String',
    platform: 'required String',
    token: 'secret String',
    appId: 'String',
    locale: 'String',
    lastSeen: 'DateTime',
    active: 'Boolean',
  },
  ['deviceId'],
);

export const PUSH_TARGETS: InstanceResource = {
  kind: 'instances',
  name: NAME,
  type: TYPE,
  collection: TYPE.collection,
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  defaultSort: { _id: 1 },
  isLazy: true,
  receive: registered,
};

/** Completes a registration by properties that only the service sets. @throws cascade.type.property.invalid, .required */
function registered(body: Value, { identity, clock }: Initiator, isNew: boolean): Value {
  if (!isObject(body)) return body; // the insert refuses it
  const deviceId = own(body, 'deviceId');
  if (typeof deviceId === 'string' && (deviceId === '' || deviceId.length > LONGEST_ID || deviceId.includes('/')))
    throw invalid('deviceId', `1 to ${LONGEST_ID} characters without a slash`);
  const platform = own(body, 'platform');
  if (platform !== null && !PLATFORMS.has(platform)) throw invalid('platform', 'web, android or ios');
  const registration: ObjectValue = {};
  for (const key of Object.keys(body)) if (!SET_BY_SERVICE.has(key)) setOwn(registration, key, getOwn(body, key));
  registration['lastSeen'] = new DateTime(clock.now());
  if (!isNew) return registration;
  if (platform !== null && platform !== 'web' && own(body, 'token') === null)
    throw apiError('cascade.type.property.required', NAME, 'token');
  const deviceName = own(body, 'deviceName') ?? deviceId;
  return { ...registration, deviceName, active: own(body, 'active') ?? true, username: identity.username };
}

const SET_BY_SERVICE: ReadonlySet<string> = new Set(['username', 'lastSeen']);

const invalid = (property: string, expected: string) => apiError('cascade.type.property.invalid', NAME, property, expected, 'range');

const deviceIn = (device: ObjectValue): Device => {
  const token = own(device, 'token');
  return {
    deviceId: String(own(device, 'deviceId')),
    platform: String(own(device, 'platform')),
    token: typeof token === 'string' ? token : null,
  };
};

/** Devices by their ids, whoever owns them. */
export async function devicesNamed(space: Namespace, ids: readonly string[]): Promise<(Device & { readonly username: string })[]> {
  const found = await read(space, PUSH_TARGETS, { deviceId: { $in: [...ids] }, active: true }, ids.length);
  return found.map((device) => ({ ...deviceIn(device), username: String(own(device, 'username')) }));
}

/**
 * Records that a push service no longer knows a token: the device is inactive until it registers again.
 * @param dead a token that the device has registered meanwhile is another one
 */
export async function retire(space: Namespace, deviceId: string, dead: string, actor: Actor): Promise<void> {
  const [device] = await read(space, PUSH_TARGETS, { deviceId }, 1);
  if (!device || own(device, 'token') !== dead) return;
  const changes: ObjectValue = { token: null, active: false };
  await updateOne(space, PUSH_TARGETS, async () => device, changeOf(PUSH_TARGETS, changes), actor);
}

/** The device of that id, if it belongs to the user. */
export async function deviceOf(space: Namespace, username: string, deviceId: string): Promise<ObjectValue | null> {
  return (await read(space, PUSH_TARGETS, { deviceId, username }, 1))[0] ?? null;
}

export interface Device {
  readonly deviceId: string;
  readonly platform: string;
  /** The device's address at its push service; null: none. */
  readonly token: string | null;
}

/** A browser has its inbox without a push service: one that is inactive has lost the announcements there, and goes on hearing of messages. */
const HEARING = { $or: [{ active: true }, { platform: 'web', token: null }] };

/** Devices that are told of messages, by user. */
export async function devicesOf(space: Namespace, users: readonly string[]): Promise<Map<string, Device[]>> {
  const found = new Map<string, Device[]>();
  for (const username of users) {
    const devices = await read(space, PUSH_TARGETS, { username, ...HEARING }, MOST_DEVICES);
    if (devices.length > 0) found.set(username, devices.map(deviceIn));
  }
  return found;
}

function own(object: ObjectValue, name: string): Value {
  return Object.hasOwn(object, name) ? getOwn(object, name) : null;
}
