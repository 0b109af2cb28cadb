// Scheduled events (integrations.md 10): messages to publish at a time, at intervals, or by the calendar. schedule.ts delivers them.

import { DateTime, dateTimeOf, getOwn, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { convert } from '../../stdlib/convert/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError } from '../../model/errors/index.ts';
import {
  afterDelivery,
  afterNewPeriod,
  BadPattern,
  type Calendar,
  firstDelivery,
  MOST_TRANSIENT_MS,
  NeverDue,
  Past,
  type Period,
  UnknownZone,
  Unplanned,
  type Wanted,
} from '../../runtime/timers/index.ts';
import { checkName, newId } from '../../model/types/index.ts';
import { requirePublish } from '../../resources/access/index.ts';
import { SCHEDULED_EVENT_SHAPE, type Defined, type DefinitionResource, type Namespace, omit } from '../../resources/catalog/index.ts';
import { checkFields, invalidField, requireData, textField, putDefinition } from '../../resources/definitions/index.ts';
import { checkTopic } from '../topics/index.ts';
import { scheduleOf } from './namespace-state.ts';

const NAME = 'scheduledevents';
/** Stored with the event and not shown: the time of the last delivery. */
const LAST = 'lastDelivery';
const DEFAULT_ZONE = 'UTC';

export const SCHEDULED_EVENTS: DefinitionResource = {
  kind: 'definitions',
  name: NAME,
  systemType: 'ArsScheduledEvent',
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  onExisting: (stored) => (isPeriodic(stored) ? 'update' : 'conflict'),
  requireChangeable,
  replaces: { interval: ['cron', 'zone'], cron: ['interval'] },
  type: SCHEDULED_EVENT_SHAPE,
  fromFile,
  isTransient: (stored) => getOwn(stored, 'isTransient') === true,
  enforce(space, name, object) {
    if (object) scheduleOf(space).put(name, object);
    else scheduleOf(space).remove(name);
  },
  define: async (space, body, stored, { identity }) => defined(space, body, stored, { past: 'refused', editor: identity }),
  ofNodes: () => BY_STATEMENT,
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
  define: async (space, body, stored, { identity }) => defined(space, body, stored, { past: 'at once', editor: identity }),
};

const KEYS_OF_STATEMENT: ReadonlySet<string> = new Set(['name', 'periodic', 'interval', 'cron', 'zone', 'occursAt', 'isTransient']);

/**
 * Carries out PUBLISH … SCHEDULE (integrations.md 10.5).
 * @throws cascade.scheduledevent.schedule.invalid, cascade.topic.name.invalid, .reserved
 */
export async function scheduleByStatement(space: Namespace, topic: string, message: Value, schedule: Value, actor: Actor): Promise<void> {
  const body: ObjectValue = { ...scheduleOfStatement(schedule), topic };
  setOwn(body, 'message', message);
  await putDefinition(space, BY_STATEMENT, body, actor, false);
}

/** What stands after SCHEDULE. @throws cascade.scheduledevent.schedule.invalid */
export function scheduleOfStatement(schedule: Value): ObjectValue {
  if (!isObject(schedule)) throw invalid('', 'SCHEDULE takes an Object');
  const name = Object.hasOwn(schedule, 'name') ? getOwn(schedule, 'name') : null;
  const unknown = Object.keys(schedule).find((key) => !KEYS_OF_STATEMENT.has(key));
  if (unknown !== undefined) throw invalid(name, `${unknown} is not part of a schedule`);
  if (getOwn(schedule, 'periodic') === true && name === null) throw invalid(name, 'a periodic event needs a name here');
  return schedule;
}

interface Defining {
  readonly past: 'refused' | 'at once';
  /** The ticks ask for no right, so who defines what is published needs it. */
  readonly editor: Identity;
}

function defined(space: Namespace, body: ObjectValue, stored: ObjectValue | null, { past, editor }: Defining): Defined {
  const nowMs = space.clock.now();
  const name = Object.hasOwn(body, 'name') && getOwn(body, 'name') !== null ? textField(NAME, body, 'name') : newId();
  if (stored) requireChangeable(stored);
  if (!stored && Object.hasOwn(body, 'name') && getOwn(body, 'name') !== null) checkName('scheduledevent', name);
  const ours = stored && Object.hasOwn(stored, LAST) && getOwn(body, LAST) === getOwn(stored, LAST) ? [LAST] : [];
  const fields = checkFields(SCHEDULED_EVENTS, omit(body, ['message', 'interval', 'cron', 'zone', ...ours]), 'refused');
  const periodic = getOwn(fields, 'periodic') === true;
  if (stored && !periodic) throw apiError('cascade.resource.key.immutable', NAME, 'periodic');
  const topic = textField(NAME, body, 'topic');
  checkTopic(topic);
  requirePublish(space, topic, editor);
  const active = getOwn(fields, 'active') !== false;
  if (!periodic && !active) throw invalid(name, 'a one-time event is always active');
  const wanted = { periodic, active, intervalMs: intervalIn(name, body), calendar: calendarIn(name, body), occursAtMs: occursAtIn(body) };
  const occursAtMs = planned(() => nextOf(wanted, stored, nowMs, past), name);
  // A periodic event has at least a second time.
  if (dateTimeOf(occursAtMs + (periodic ? (wanted.intervalMs ?? 0) : 0)) === null)
    throw invalid(name, 'it occurs after the last time that there is');
  const message = getOwn(body, 'message');
  requireData(NAME, 'message', message);
  const isTransient = getOwn(fields, 'isTransient') === true;
  if (isTransient && (periodic || occursAtMs - nowMs > MOST_TRANSIENT_MS))
    throw invalid(name, `what is transient occurs once, at most ${MOST_TRANSIENT_MS} ms ahead`);
  const object: ObjectValue = {
    ...fields,
    name,
    periodic,
    occursAt: new DateTime(occursAtMs),
    ...(periodic && (wanted.calendar ?? { interval: wanted.intervalMs })),
    topic,
    message,
    active,
    isTransient,
    ...(stored && Object.hasOwn(stored, LAST) ? { [LAST]: getOwn(stored, LAST) } : {}),
  };
  return { name, object, apply: (kept) => scheduleOf(space).put(name, kept) };
}

/** @throws cascade.scheduledevent.onetime.immutable (10.3) */
function requireChangeable(stored: ObjectValue): void {
  if (isPeriodic(stored)) return;
  throw apiError('cascade.scheduledevent.onetime.immutable', getOwn(stored, 'name'), 'a one-time event is never changed, only deleted');
}

interface Schedule extends Wanted {
  readonly active: boolean;
}

/** The next delivery, in milliseconds since the epoch (10.2, 10.3). @throws Unplanned and its subclasses */
function nextOf(wanted: Schedule, stored: ObjectValue | null, nowMs: number, past: 'refused' | 'at once'): number {
  const storedAtMs = stored && dueOf(stored);
  if (!stored || storedAtMs === null) return firstDelivery(wanted, nowMs, past).firstMs;
  if (wanted.occursAtMs !== null && wanted.occursAtMs !== storedAtMs) return firstDelivery(wanted, nowMs, past).firstMs;
  const { period } = firstDelivery({ ...wanted, occursAtMs: null }, nowMs, past); // the period must be valid by itself
  if (!period || isSame(period, periodOf(stored)))
    return isActive(stored) || !wanted.active || storedAtMs > nowMs || !period ? storedAtMs : afterDelivery(storedAtMs, period, nowMs);
  const last = (Object.hasOwn(stored, LAST) ? getOwn(stored, LAST) : getOwn(stored, 'ars_createdAt')) as DateTime;
  return afterNewPeriod(last.ms, period, nowMs);
}

function planned(plan: () => number, name: string): number {
  try {
    return plan();
  } catch (error) {
    if (error instanceof Unplanned) throw apiError(codeOf(error), name, error.message);
    throw error;
  }
}

function codeOf(reason: Unplanned) {
  if (reason instanceof Past) return 'cascade.scheduledevent.occurs.past';
  if (reason instanceof BadPattern) return 'cascade.scheduledevent.cron.invalid';
  if (reason instanceof NeverDue) return 'cascade.scheduledevent.cron.never';
  if (reason instanceof UnknownZone) return 'cascade.scheduledevent.zone.unknown';
  return 'cascade.scheduledevent.schedule.invalid';
}

function intervalIn(name: string, body: ObjectValue): number | null {
  const value = Object.hasOwn(body, 'interval') ? getOwn(body, 'interval') : null;
  if (value === null) return null;
  if (!isInteger(value) || typeof value !== 'number' || value < 1)
    throw invalid(name, 'the interval is a whole number of milliseconds above 0');
  return value;
}

function calendarIn(name: string, body: ObjectValue): Calendar | null {
  const [cron, zone] = ['cron', 'zone'].map((key) => (Object.hasOwn(body, key) ? getOwn(body, key) : null));
  if (cron === null && zone === null) return null;
  if (cron === null) throw invalid(name, 'zone is for cron');
  if (typeof cron !== 'string') throw apiError('cascade.scheduledevent.cron.invalid', name, 'cron is a String');
  if (zone !== null && typeof zone !== 'string') throw apiError('cascade.scheduledevent.zone.unknown', name, 'zone is a String');
  return { cron, zone: zone ?? DEFAULT_ZONE };
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

/** The period of a stored periodic event. */
function periodOf(stored: ObjectValue): Period {
  if (!Object.hasOwn(stored, 'cron')) return { intervalMs: Number(getOwn(stored, 'interval')) };
  return { cron: String(getOwn(stored, 'cron')), zone: String(getOwn(stored, 'zone')) };
}

function isSame(one: Period, other: Period): boolean {
  if ('intervalMs' in one || 'intervalMs' in other)
    return 'intervalMs' in one && 'intervalMs' in other && one.intervalMs === other.intervalMs;
  return one.cron === other.cron && one.zone === other.zone;
}

/**
 * A definition from a file, whose next time may have passed since: a periodic event goes on at its intervals, as the stored one does where it
 * has the same.
 */
function fromFile(given: ObjectValue, stored: ObjectValue | undefined, nowMs: number): ObjectValue {
  const member = (name: string): Value => (Object.hasOwn(given, name) ? getOwn(given, name) : null);
  const [dueMs, interval] = [occursAtIn(given), member('interval')];
  if (member('periodic') !== true || dueMs === null || dueMs > nowMs || !isInteger(interval) || interval < 1) return given;
  const every = Number(interval);
  const isStored = stored !== undefined && getOwn(stored, 'interval') === interval && (dueOf(stored) - dueMs) % every === 0;
  const nextMs = isStored ? dueOf(stored) : dueMs + (Math.floor((nowMs - dueMs) / every) + 1) * every;
  return { ...given, occursAt: dateTimeOf(nextMs) === null ? member('occursAt') : new Date(nextMs).toISOString() };
}

/** When a stored event is due, in milliseconds since the epoch. */
export const dueOf = (stored: ObjectValue): number => (getOwn(stored, 'occursAt') as DateTime).ms;

/** The event to store after a delivery; null for a one-time event, which is removed. @throws UnknownZone, NeverDue */
export function afterTick(stored: ObjectValue, nowMs: number): ObjectValue | null {
  if (!isPeriodic(stored)) return null;
  const plannedMs = dueOf(stored);
  const next = omit(stored, []);
  next['occursAt'] = new DateTime(afterDelivery(plannedMs, periodOf(stored), nowMs));
  next[LAST] = new DateTime(plannedMs);
  next['ars_version'] = Number(getOwn(stored, 'ars_version')) + 1;
  return next;
}
