// Sends stored messages to push services: a queued delivery of a message is sent to its device, retried with back-off, and recorded as sent
// or failed. The owner of the namespace does so. After a crash an unrecorded delivery is still queued: a note may arrive twice, but is
// never lost.
import { cutText, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { serviceActor } from '../../runtime/context/index.ts';
import { Fenced } from '../../runtime/transactions/index.ts';
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
import { type Delivery, deliveredAs, isExpired, isQueued, QUEUED, queuedIn } from './payload-messages.ts';
import { messagesWith } from './pending.ts';
import { type Device, devicesNamed, retire } from './push-targets.ts';
import { webPushKey } from './web-push-key.ts';

/** Of one service: notes on their way at the same time, and those that wait in its lane. */
const [ON_THEIR_WAY, MOST_IN_LANE] = [8, 10_000];
/** Services beyond these share a lane: the endpoints of browsers are what their users say. */
const MOST_LANES = 64;
const OTHERS = 'others';
const WEB_PUSH = 'webpush';
const DEVICES_AT_ONCE = 1_000;
/** The queue is searched at this interval for deliveries that an earlier process left. */
const LOOK_EVERY_MS = 30_000;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS, TRIES] = [1_000, 60_000, 8];
const MOST_TEXT = 1_000;

/** A delivery that is to be sent. The message is read again right before, since it may be withdrawn, answered or replaced meanwhile. */
interface Job {
  readonly key: string;
  readonly messageId: string;
  readonly service: string;
  readonly delivery: Delivery;
}

interface Attempt {
  readonly tries: number;
  readonly notBefore: number;
  readonly job: Job;
}

interface Lane {
  readonly jobs: Job[];
  /** Others were left out: the queue is searched again when these are done. */
  isFull: boolean;
  workers: number;
  readonly http: Promise<HttpClient>;
}

interface State {
  running: Promise<void> | null;
  isWanted: boolean;
  lookedAt: number;
  /** Failed attempts, by the key of their job. */
  readonly attempts: Map<string, Attempt>;
  /** Keys of jobs in a lane, or on their way. */
  readonly taken: Set<string>;
  /** Jobs by service, of browsers by the origin of their endpoints: one that is slow or away holds up no other. */
  readonly lanes: Map<string, Lane>;
}

const STATE = new StateKey<State>('notes to push services', () => ({
  running: null,
  isWanted: false,
  lookedAt: 0,
  attempts: new Map(),
  taken: new Set(),
  lanes: new Map(),
}));

/** The push service for a device of a source; null: the device has only its inbox. */
export function deviceTransport({ platform, token }: Device, source: ObjectValue): string | null {
  if (token === null || own(source, 'mockMode') === true) return null;
  const config = own(source, 'config');
  return transportFor(platform, isObject(config) ? config : {});
}

/** Starts sending the notes of a message that was just stored; null: it was not. Those that fail here are found with the next look. */
export function handOver(space: Namespace, message: Value): void {
  if (isObject(message)) takeAll(space, space.states.get(STATE), message).catch((error: unknown) => warn(space, error));
}

/** Periodic maintenance: starts retries that are due, and deliveries that a crash left. */
export function settleHandOver(space: Namespace, now: number): void {
  const state = space.states.get(STATE);
  for (const { notBefore, job } of state.attempts.values()) if (notBefore <= now) take(space, state, job);
  if (now - state.lookedAt >= LOOK_EVERY_MS) state.isWanted = true;
  if (state.isWanted) begin(space, state);
}

function begin(space: Namespace, state: State): void {
  if (state.running) return;
  state.running = search(space, state)
    .catch((error: unknown) => warn(space, error))
    .finally(() => {
      state.running = null;
    });
}

function warn(space: Namespace, err: unknown): void {
  if (err instanceof Fenced) return; // the next owner sends what is queued
  space.log.warn({ err, namespace: space.name }, 'queued notes could not be sent to push services');
}

/** Takes all queued deliveries that do not wait for a retry. */
async function search(space: Namespace, state: State): Promise<void> {
  while (state.isWanted) {
    state.isWanted = false;
    state.lookedAt = space.clock.now();
    const [before, met] = [new Set(state.attempts.keys()), new Set<string>()];
    for await (const message of messagesWith(space, { 'recipients.deliveries.status': QUEUED }))
      for (const key of await takeAll(space, state, message)) met.add(key);
    // Of messages that were withdrawn, answered, replaced or deleted.
    for (const key of before) if (!met.has(key)) state.attempts.delete(key);
  }
}

/** Takes the deliveries of a message that do not wait for a retry. @returns the keys of all */
async function takeAll(space: Namespace, state: State, message: ObjectValue): Promise<string[]> {
  const messageId = String(own(message, '_id'));
  const all = queuedIn(message).map((delivery) => {
    const { sentAt, username, deviceId, transport } = delivery;
    return { key: JSON.stringify([messageId, String(sentAt), username, deviceId, transport]), delivery };
  });
  const now = space.clock.now();
  const due = all.filter(({ key }) => !state.taken.has(key) && (state.attempts.get(key)?.notBefore ?? 0) <= now);
  const toBrowsers = due.filter(({ delivery }) => delivery.transport === WEB_PUSH);
  const origins = await originsOf(
    space,
    toBrowsers.map(({ delivery }) => delivery.deviceId),
  );
  for (const { key, delivery } of due) {
    const { deviceId, transport } = delivery;
    const service = [own(message, 'source'), transport, ...(transport === WEB_PUSH ? [origins.get(deviceId) ?? null] : [])];
    take(space, state, { key, messageId, service: JSON.stringify(service), delivery });
  }
  return all.map(({ key }) => key);
}

/** Where the browsers' makers take notes, by device: each has a service of its own. */
async function originsOf(space: Namespace, deviceIds: readonly string[]): Promise<Map<string, string | null>> {
  const origins = new Map<string, string | null>();
  for (let from = 0; from < deviceIds.length; from += DEVICES_AT_ONCE)
    for (const { deviceId, token } of await devicesNamed(space, deviceIds.slice(from, from + DEVICES_AT_ONCE)))
      origins.set(deviceId, token === null ? null : originIn(token));
  return origins;
}

/** Of the subscription that is a browser's token; null: it is none. */
function originIn(token: string): string | null {
  try {
    const { endpoint } = (JSON.parse(token) ?? {}) as { endpoint?: unknown };
    return typeof endpoint === 'string' ? new URL(endpoint).origin : null;
  } catch {
    return null; // it is refused when it is used
  }
}

function take(space: Namespace, state: State, job: Job): void {
  if (state.taken.has(job.key)) return;
  const service = state.lanes.has(job.service) || state.lanes.size < MOST_LANES ? job.service : OTHERS;
  let lane = state.lanes.get(service);
  if (!lane) {
    lane = { jobs: [], isFull: false, workers: 0, http: openHttpClient({ outlet: sourcesOf(space).outlet }) };
    state.lanes.set(service, lane);
  }
  if (lane.jobs.length >= MOST_IN_LANE) {
    lane.isFull = true;
    return;
  }
  state.taken.add(job.key);
  lane.jobs.push(job);
  if (lane.workers < ON_THEIR_WAY) void work(space, state, service, lane).catch((error: unknown) => warn(space, error));
}

/** Takes job after job; the last one of a lane closes it. */
async function work(space: Namespace, state: State, service: string, lane: Lane): Promise<void> {
  lane.workers++;
  try {
    const http = await lane.http;
    for (let job = lane.jobs.shift(); job; job = lane.jobs.shift()) {
      const { key } = job;
      await deliver(space, state, http, job)
        .catch((error: unknown) => warn(space, error))
        .finally(() => state.taken.delete(key));
    }
  } finally {
    lane.workers--;
    if (lane.workers === 0) {
      state.lanes.delete(service);
      for (const { key } of lane.jobs) state.taken.delete(key); // those of a client that could not be opened
      if (lane.isFull) {
        state.isWanted = true;
        begin(space, state);
      }
      await (await lane.http)[Symbol.asyncDispose]();
    }
  }
}

async function deliver(space: Namespace, state: State, http: HttpClient, job: Job): Promise<void> {
  const { key, messageId, delivery } = job;
  const [message] = await read(space, PAYLOAD_MESSAGES, filterOfId(messageId), 1);
  if (!message || !isQueued(message, delivery)) return void state.attempts.delete(key);
  const now = space.clock.now();
  if (isExpired(message, now)) return note(space, job, { kind: 'failed', reason: 'expired' }, null);
  const [device] = await devicesNamed(space, [delivery.deviceId]);
  const token = device?.username === delivery.username ? device.token : null;
  const outcome: PushOutcome = device && token !== null ? await send(space, http, message, { ...device, token }, delivery.transport) : GONE;
  const tries = (state.attempts.get(key)?.tries ?? 0) + 1;
  if (outcome.kind === 'again' && tries < TRIES) {
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
    state.attempts.set(key, { tries, notBefore: now + Math.max(waitMs, outcome.afterMs ?? 0), job });
    return;
  }
  state.attempts.delete(key);
  await note(space, job, outcome, token);
}

const GONE: PushOutcome = { kind: 'failed', reason: 'the device is not registered any more' };

async function send(
  space: Namespace,
  http: HttpClient,
  message: ObjectValue,
  device: Device & { readonly token: string },
  transport: string,
): Promise<PushOutcome> {
  const note = noteOf(message);
  if (transport === WEB_PUSH) {
    const subject = await contactIn(space, String(own(message, 'source')));
    const webPush = openWebPush({ key: await webPushKey(space), subject, http, now: () => space.clock.now() });
    return webPush.send(device.token, note);
  }
  try {
    const connection = await sourcesOf(space).connectionOf(String(own(message, 'source')));
    return (await connection.hand?.(device.platform, device.token, note)) ?? { kind: 'failed', reason: 'the source hands nothing over' };
  } catch (error) {
    if (error instanceof Fenced) throw error; // it stays queued
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
    return typeof value === 'string' ? cutText(value, MOST_TEXT) : '';
  };
  const body = isObject(payload) ? text(payload, 'body') || text(payload, 'subtitle') : '';
  const category = text(message, 'category');
  return { title: text(message, 'title'), body: body || category, data: { kind: 'notify', messageId: text(message, '_id'), category } };
}

/** Records the outcome in the message, unless it is another one by now, or its delivery was given up; and that of a dead token in the device. */
async function note(space: Namespace, { messageId, delivery }: Job, outcome: PushOutcome, token: string | null): Promise<void> {
  const error = outcome.kind === 'sent' ? null : outcome.reason;
  await atomically(space, `message ${messageId}`, serviceActor(space), async (batching) => {
    if (outcome.kind === 'dead' && token !== null) await retire(space, delivery.deviceId, token, batching);
    const [message] = await read(space, PAYLOAD_MESSAGES, filterOfId(messageId), 1);
    if (!message || !isQueued(message, delivery)) return null;
    const changes = deliveredAs(message, delivery, outcome.kind === 'sent' ? 'sent' : 'failed', error);
    await updateOne(space, PAYLOAD_MESSAGES, async () => message, changeOf(PAYLOAD_MESSAGES, changes), batching);
    return null;
  });
}
