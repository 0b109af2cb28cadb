// Scheduled events (integrations.md 10): messages to publish at a time, or at intervals. schedule.ts delivers them.

import { DateTime, getOwn, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { convert } from '../../stdlib/convert/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { afterDelivery, afterNewInterval, firstDelivery, MOST_TRANSIENT_MS, Past, Unplanned } from '../../runtime/timers/index.ts';
import { checkName, newId } from '../../model/types/index.ts';
import { SCHEDULED_EVENT_SHAPE, type Defined, type DefinitionResource, type Namespace, omit } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, textField, putDefinition } from '../../resources/definitions/index.ts';
import { checkTopic } from '../topics/index.ts';
import { scheduleOf } from './namespace-state.ts';

const NAME = 'scheduledevents';
/** Stored with the event and not shown: the time of the last delivery. */
const LAST = 'lastDelivery';

export const SCHEDULED_EVENTS: DefinitionResource = {
  kind: 'definitions',
  name: NAME,
  systemType: 'ArsScheduledEvent',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: (stored) => (isPeriodic(stored) ? 'update' : 'conflict'),
  type: SCHEDULED_EVENT_SHAPE,
  isTransient: (stored) => getOwn(stored, 'isTransient') === true,
  enforce(space, name, object) {
    if (object) scheduleOf(space).put(name, object);
    else scheduleOf(space).remove(name);
  },
  define: async (space, body, stored) => defined(space, body, stored, 'refused'),
  show: (_space, stored) => omit(stored, [LAST]),
  async remove(space, stored) {
    return { apply: () => scheduleOf(space).remove(String(getOwn(stored, 'name'))) };
  },
};

/** The resource as statements write it: a past time means at once. */
const BY_STATEMENT: DefinitionResource = {
  ...SCHEDULED_EVENTS,
  enforce(space, name, object) {
    if (object) scheduleOf(space).put(name, object);
    else scheduleOf(space).remove(name);
  },
  define: async (space, body, stored) => defined(space, body, stored, 'at once'),
};

const KEYS_OF_STATEMENT: ReadonlySet<string> = new Set(['name', 'periodic', 'interval', 'occursAt', 'isTransient']);

/**
 * Carries out PUBLISH … SCHEDULE (integrations.md 10.5).
 * @throws cascade.scheduledevent.schedule.invalid, cascade.topic.name.invalid, .reserved
 */
export async function scheduleByStatement(space: Namespace, topic: string, message: Value, schedule: Value, actor: Actor): Promise<void> {
  if (!isObject(schedule)) throw invalid('', 'SCHEDULE takes an Object');
  const name = Object.hasOwn(schedule, 'name') ? getOwn(schedule, 'name') : null;
  const unknown = Object.keys(schedule).find((key) => !KEYS_OF_STATEMENT.has(key));
  if (unknown !== undefined) throw invalid(name, `${unknown} is not part of a schedule`);
  if (getOwn(schedule, 'periodic') === true && name === null) throw invalid(name, 'a periodic event needs a name here');
  const body: ObjectValue = { ...schedule, topic };
  setOwn(body, 'message', message);
  await putDefinition(space, BY_STATEMENT, body, actor, false);
}

function defined(space: Namespace, body: ObjectValue, stored: ObjectValue | null, past: 'refused' | 'at once'): Defined {
  const nowMs = space.clock.now();
  const name = Object.hasOwn(body, 'name') && getOwn(body, 'name') !== null ? textField(NAME, body, 'name') : newId();
  if (stored && !isPeriodic(stored))
    throw apiError('cascade.scheduledevent.onetime.immutable', name, 'a one-time event is never changed, only deleted');
  if (!stored && Object.hasOwn(body, 'name') && getOwn(body, 'name') !== null) checkName('scheduledevent', name);
  const fields = checkFields(SCHEDULED_EVENTS, omit(body, ['message', 'interval', LAST]), 'refused');
  const periodic = getOwn(fields, 'periodic') === true;
  if (stored && !periodic) throw apiError('cascade.resource.key.immutable', NAME, 'periodic');
  const topic = textField(NAME, body, 'topic');
  checkTopic(topic);
  const active = getOwn(fields, 'active') !== false;
  if (!periodic && !active) throw invalid(name, 'a one-time event is always active');
  const intervalMs = intervalIn(name, body);
  const occursAtMs = planned(() => nextOf({ periodic, active, intervalMs, occursAtMs: occursAtIn(body) }, stored, nowMs, past), name);
  const isTransient = getOwn(fields, 'isTransient') === true;
  if (isTransient && (periodic || occursAtMs - nowMs > MOST_TRANSIENT_MS))
    throw invalid(name, `what is transient occurs once, at most ${MOST_TRANSIENT_MS} ms ahead`);
  const object: ObjectValue = {
    ...fields,
    name,
    periodic,
    occursAt: new DateTime(occursAtMs),
    ...(periodic ? { interval: intervalMs } : {}),
    topic,
    message: Object.hasOwn(body, 'message') ? getOwn(body, 'message') : null,
    active,
    isTransient,
    ...(stored && Object.hasOwn(stored, LAST) ? { [LAST]: getOwn(stored, LAST) } : {}),
  };
  return { name, object, apply: (kept) => scheduleOf(space).put(name, kept) };
}

interface Schedule {
  readonly periodic: boolean;
  readonly active: boolean;
  readonly intervalMs: number | null;
  readonly occursAtMs: number | null;
}

/** The next delivery, in milliseconds since the epoch (10.2, 10.3). @throws Unplanned, Past */
function nextOf(wanted: Schedule, stored: ObjectValue | null, nowMs: number, past: 'refused' | 'at once'): number {
  const storedAtMs = stored && dueOf(stored);
  if (!stored || storedAtMs === null) return firstDelivery(wanted, nowMs, past);
  const { intervalMs } = wanted;
  if (wanted.occursAtMs !== null && wanted.occursAtMs !== storedAtMs) return firstDelivery(wanted, nowMs, past);
  firstDelivery({ ...wanted, occursAtMs: null }, nowMs, past); // the interval must be valid by itself
  if (intervalMs === null || intervalMs === getOwn(stored, 'interval'))
    return isActive(stored) || !wanted.active || storedAtMs > nowMs ? storedAtMs : afterDelivery(storedAtMs, intervalMs ?? 1, nowMs);
  const last = (Object.hasOwn(stored, LAST) ? getOwn(stored, LAST) : getOwn(stored, 'ars_createdAt')) as DateTime;
  return afterNewInterval(last.ms, intervalMs, nowMs);
}

function planned(plan: () => number, name: string): number {
  try {
    return plan();
  } catch (error) {
    if (error instanceof Past) throw apiError('cascade.scheduledevent.occurs.past', name, error.message);
    if (error instanceof Unplanned) throw invalid(name, error.message);
    throw error;
  }
}

function intervalIn(name: string, body: ObjectValue): number | null {
  const value = Object.hasOwn(body, 'interval') ? getOwn(body, 'interval') : null;
  if (value === null) return null;
  if (!isInteger(value) || typeof value !== 'number' || value < 1)
    throw invalid(name, 'the interval is a whole number of milliseconds above 0');
  return value;
}

function occursAtIn(body: ObjectValue): number | null {
  const value = Object.hasOwn(body, 'occursAt') ? getOwn(body, 'occursAt') : null;
  if (value === null) return null;
  try {
    return (convert(value, { type: 'DateTime' }, 'property') as DateTime).ms;
  } catch {
    throw invalidField(NAME, 'occursAt', 'no DateTime'); // any error means an invalid time
  }
}

const invalid = (name: Value, reason: string) => apiError('cascade.scheduledevent.schedule.invalid', name ?? '', reason);

const isPeriodic = (stored: ObjectValue): boolean => getOwn(stored, 'periodic') === true;
export const isActive = (stored: ObjectValue): boolean => getOwn(stored, 'active') !== false;

/** When a stored event is due, in milliseconds since the epoch. */
export const dueOf = (stored: ObjectValue): number => (getOwn(stored, 'occursAt') as DateTime).ms;

/** The event to store after a delivery; null for a one-time event, which is removed. */
export function afterTick(stored: ObjectValue, nowMs: number): ObjectValue | null {
  if (!isPeriodic(stored)) return null;
  const plannedMs = dueOf(stored);
  const next = omit(stored, []);
  next['occursAt'] = new DateTime(afterDelivery(plannedMs, Number(getOwn(stored, 'interval')), nowMs));
  next[LAST] = new DateTime(plannedMs);
  next['ars_version'] = Number(getOwn(stored, 'ars_version')) + 1;
  return next;
}
