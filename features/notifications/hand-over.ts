// Hands what was stored to push services: what is queued in a message's deliveries goes to its device, is tried again at growing distances, and is
// noted as sent or failed. The leader of a namespace does so; what a crash interrupts is still queued, so a note may come twice, and never not at all.
import { isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { serviceActor } from '../../runtime/context/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { addressFilters, read, atomically, changeOf, updateOne } from '../../resources/instances/index.ts';
import { own } from '../../resources/operations/index.ts';
import { StateKey } from '../../resources/states.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import { HttpClient, sourcesOf, transportFor, type PushNote, type PushOutcome, NOBODYS_CONTACT, openWebPush } from '../sources/index.ts';
import { type Delivery, deliveredAs, QUEUED, queuedIn } from './payload-messages.ts';
import { type Device, devicesNamed, retire } from './push-targets.ts';
import { webPushKey } from './web-push-key.ts';

/** Messages that are looked at together. */
const AT_ONCE = 100;
/** How often it is looked for what a process before has left. */
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
  /** By message and device: what was tried in vain. */
  readonly attempts: Map<string, Attempt>;
}

const STATE = new StateKey<State>('notes to push services', () => ({ running: null, isWanted: false, lookedAt: 0, attempts: new Map() }));

/** The push service that a device is reached by through a source; null: it has its inbox alone. */
export function deviceTransport({ platform, token }: Device, source: ObjectValue): string | null {
  if (token === null || own(source, 'mockMode') === true) return null;
  const config = own(source, 'config');
  return transportFor(platform, isObject(config) ? config : {});
}

/** Something was queued. */
export function handOver(space: Namespace): void {
  const state = space.states.get(STATE);
  state.isWanted = true;
  begin(space, state);
}

/** Regular upkeep: what is to be tried again, and what a crash has left. */
export function settleHandOver(space: Namespace, now: number): void {
  const state = space.states.get(STATE);
  if (now - state.lookedAt >= LOOK_EVERY_MS) state.isWanted = true;
  if ([...state.attempts.values()].some(({ notBefore }) => notBefore <= now)) state.isWanted = true;
  if (state.isWanted) begin(space, state);
}

function begin(space: Namespace, state: State): void {
  if (state.running) return;
  state.running = drain(space, state)
    .catch((error: unknown) => space.log.warn({ err: error, namespace: space.name }, 'notes could not be handed to push services'))
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
    await using http = new HttpClient({ outlet: sourcesOf(space).outlet });
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
    const subject = contactIn(space, own(message, 'source'));
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

/** Read when a note is sent, so that a corrected contact counts for what is tried again. */
function contactIn(space: Namespace, source: Value): string {
  const definition = space.catalog.definitions.get('sources', String(source));
  const config = definition ? own(definition, 'config') : null;
  const contact = isObject(config) ? own(config, 'webPushSubject') : null;
  return typeof contact === 'string' ? contact : NOBODYS_CONTACT;
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

/** What came of it, in the message; a device that is gone gets nothing more. */
async function note(space: Namespace, id: string, delivery: Delivery, outcome: PushOutcome): Promise<void> {
  const actor = serviceActor(space);
  const error = outcome.kind === 'sent' ? null : outcome.reason;
  await atomically(space, `message ${id}`, actor, async (batching) => {
    const [at] = addressFilters(PAYLOAD_MESSAGES, id);
    const [message] = at ? await read(space, PAYLOAD_MESSAGES, at, 1) : [];
    if (!message) return null; // it was deleted meanwhile
    const changes = deliveredAs(message, delivery, outcome.kind === 'sent' ? 'sent' : 'failed', error);
    await updateOne(space, PAYLOAD_MESSAGES, async () => message, changeOf(PAYLOAD_MESSAGES, changes), batching);
    if (outcome.kind === 'dead') await retire(space, delivery.deviceId, batching);
    return null;
  });
}
