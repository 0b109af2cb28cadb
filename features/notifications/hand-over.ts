// Sends stored messages to push services: a queued delivery of a message is sent to its device, retried with back-off, and recorded as sent
// or failed. The owner of the namespace does so. After a crash an unrecorded delivery is still queued: a note may arrive twice, but is
// never lost.
import { isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import { serviceActor } from '../../runtime/context/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { filterOfId, read, atomically, changeOf, updateOne } from '../../resources/instances/index.ts';
import { own } from '../../resources/operations/index.ts';
import { StateKey } from '../../resources/states.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import {
  type HttpClient,
  openHttpClient,
  sourcesOf,
  transportFor,
  type PushNote,
  type PushOutcome,
  DEFAULT_CONTACT,
  openWebPush,
} from '../sources/index.ts';
import { type Delivery, deliveredAs, QUEUED, queuedIn } from './payload-messages.ts';
import { type Device, devicesNamed, retire } from './push-targets.ts';
import { webPushKey } from './web-push-key.ts';

/** Messages per batch. */
const AT_ONCE = 100;
/** The queue is searched at this interval for deliveries that an earlier process left. */
const LOOK_EVERY_MS = 30_000;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS, TRIES] = [1_000, 60_000, 8];
const MOST_TEXT = 1_000;

interface Attempt {
  readonly tries: number;
  readonly notBefore: number;
}

interface State {
  running: Promise<void> | null;
  isWanted: boolean;
  lookedAt: number;
  /** Failed attempts, by message and device. */
  readonly attempts: Map<string, Attempt>;
}

const STATE = new StateKey<State>('notes to push services', () => ({ running: null, isWanted: false, lookedAt: 0, attempts: new Map() }));

/** The push service for a device of a source; null: the device has only its inbox. */
export function deviceTransport({ platform, token }: Device, source: ObjectValue): string | null {
  if (token === null || own(source, 'mockMode') === true) return null;
  const config = own(source, 'config');
  return transportFor(platform, isObject(config) ? config : {});
}

/** Starts sending, after deliveries were queued. */
export function handOver(space: Namespace): void {
  const state = space.states.get(STATE);
  state.isWanted = true;
  begin(space, state);
}

/** Periodic maintenance: starts retries that are due, and deliveries that a crash left. */
export function settleHandOver(space: Namespace, now: number): void {
  const state = space.states.get(STATE);
  if (now - state.lookedAt >= LOOK_EVERY_MS) state.isWanted = true;
  if ([...state.attempts.values()].some(({ notBefore }) => notBefore <= now)) state.isWanted = true;
  if (state.isWanted) begin(space, state);
}

function begin(space: Namespace, state: State): void {
  if (state.running) return;
  state.running = drain(space, state)
    .catch((error: unknown) => space.log.warn({ err: error, namespace: space.name }, 'queued notes could not be sent to push services'))
    .finally(() => {
      state.running = null;
    });
}

async function drain(space: Namespace, state: State): Promise<void> {
  while (state.isWanted) {
    state.isWanted = false;
    state.lookedAt = space.clock.now();
    const waiting = await read(space, PAYLOAD_MESSAGES, { 'recipients.deliveries.status': QUEUED }, AT_ONCE);
    if (waiting.length === 0) return state.attempts.clear();
    await using http = await openHttpClient({ outlet: sourcesOf(space).outlet });
    for (const message of waiting) await Promise.all(queuedIn(message).map((delivery) => deliver(space, state, http, message, delivery)));
  }
}

async function deliver(space: Namespace, state: State, http: HttpClient, message: ObjectValue, delivery: Delivery): Promise<void> {
  const key = `${String(own(message, '_id'))} ${delivery.deviceId}`;
  const before = state.attempts.get(key);
  const now = space.clock.now();
  if (before && before.notBefore > now) return;
  const outcome = await send(space, http, message, delivery);
  const tries = (before?.tries ?? 0) + 1;
  if (outcome.kind === 'again' && tries < TRIES) {
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
    state.attempts.set(key, { tries, notBefore: now + Math.max(waitMs, outcome.afterMs ?? 0) });
    return;
  }
  state.attempts.delete(key);
  await note(space, String(own(message, '_id')), delivery, outcome);
}

async function send(
  space: Namespace,
  http: HttpClient,
  message: ObjectValue,
  { deviceId, username, transport }: Delivery,
): Promise<PushOutcome> {
  const [device] = await devicesNamed(space, [deviceId]);
  if (!device?.token || device.username !== username) return { kind: 'failed', reason: 'the device is not registered any more' };
  const note = noteOf(message);
  if (transport === 'webpush') {
    const subject = await contactIn(space, String(own(message, 'source')));
    const webPush = openWebPush({ key: await webPushKey(space), subject, http, now: () => space.clock.now() });
    return webPush.send(device.token, note);
  }
  try {
    const connection = await sourcesOf(space).connectionOf(String(own(message, 'source')));
    return (await connection.hand?.(device.platform, device.token, note)) ?? { kind: 'failed', reason: 'the source hands nothing over' };
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The contact is read when a note is sent, so that retries use a corrected one. */
async function contactIn(space: Namespace, source: string): Promise<string> {
  const definition = space.catalog.definitions.get('sources', source);
  const contact = definition ? own(await sourcesOf(space).configOf(source, definition), 'webPushSubject') : null;
  return typeof contact === 'string' ? contact : DEFAULT_CONTACT;
}

function noteOf(message: ObjectValue): PushNote {
  const payload = own(message, 'payload');
  const text = (source: ObjectValue, name: string): string => {
    const value = own(source, name);
    return typeof value === 'string' ? value.slice(0, MOST_TEXT) : '';
  };
  const body = isObject(payload) ? text(payload, 'body') || text(payload, 'subtitle') : '';
  const category = text(message, 'category');
  return { title: text(message, 'title'), body: body || category, data: { kind: 'notify', messageId: text(message, '_id'), category } };
}

/** Records the outcome in the message; a device that no longer exists is retired. */
async function note(space: Namespace, id: string, delivery: Delivery, outcome: PushOutcome): Promise<void> {
  const actor = serviceActor(space);
  const error = outcome.kind === 'sent' ? null : outcome.reason;
  await atomically(space, `message ${id}`, actor, async (batching) => {
    const [message] = await read(space, PAYLOAD_MESSAGES, filterOfId(id), 1);
    if (!message) return null; // the message was deleted meanwhile
    const changes = deliveredAs(message, delivery, outcome.kind === 'sent' ? 'sent' : 'failed', error);
    await updateOne(space, PAYLOAD_MESSAGES, async () => message, changeOf(PAYLOAD_MESSAGES, changes), batching);
    if (outcome.kind === 'dead') await retire(space, delivery.deviceId, batching);
    return null;
  });
}
