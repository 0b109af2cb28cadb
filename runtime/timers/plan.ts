// Computes the times at which a scheduled event is delivered (integrations.md 10.2 to 10.4): pure, in milliseconds since the epoch.
import { type Calendar, nextByCalendar } from './calendar.ts';
import { Past, Unplanned } from './unplanned.ts';

/** How far ahead an event may be that is kept in memory only. */
export const MOST_TRANSIENT_MS = 300_000;
const SHORTEST_PERIOD_MS = 1_000;

/** The times of a periodic event: a fixed interval, or a pattern of the calendar. */
export type Period = { readonly intervalMs: number } | Calendar;

export interface Wanted {
  readonly periodic: boolean;
  readonly intervalMs: number | null;
  readonly calendar: Calendar | null;
  readonly occursAtMs: number | null;
}

/**
 * The first delivery, and the period of later ones; null for a one-time event.
 * @param past whether a passed time is refused, or means at once
 * @throws Unplanned, Past, BadPattern, UnknownZone, NeverDue
 */
export function firstDelivery(wanted: Wanted, nowMs: number, past: 'refused' | 'at once'): { firstMs: number; period: Period | null } {
  const { occursAtMs, intervalMs } = wanted;
  const period = periodOf(wanted);
  const regularMs = period ? nextTick(period, nowMs, nowMs) : nowMs + (intervalMs ?? 0);
  const firstMs = occursAtMs ?? regularMs;
  if (firstMs <= nowMs && past === 'refused') throw new Past('occursAt is not in the future');
  return { firstMs, period };
}

function periodOf({ periodic, intervalMs, calendar, occursAtMs }: Wanted): Period | null {
  if (calendar && !periodic) throw new Unplanned('cron is for periodic events');
  if (calendar && intervalMs !== null) throw new Unplanned('a periodic event has either interval or cron, not both');
  if (calendar) return calendar;
  if (occursAtMs === null && intervalMs === null)
    throw new Unplanned(periodic ? 'neither interval nor cron is given' : 'neither occursAt nor interval is given');
  if (!periodic) {
    if (occursAtMs !== null && intervalMs !== null) throw new Unplanned('a one-time event has either occursAt or interval, not both');
    return null;
  }
  if (intervalMs === null) throw new Unplanned('a periodic event needs an interval or cron');
  if (intervalMs < SHORTEST_PERIOD_MS) throw new Unplanned(`the interval of a periodic event is at least ${SHORTEST_PERIOD_MS} ms`);
  return { intervalMs };
}

/**
 * The next delivery on the grid of planned times, or at the next time of the calendar: however many deliveries were missed, they count as one.
 * @throws UnknownZone, NeverDue when the time zones of this machine differ from those of the machine that stored the event
 */
export const afterDelivery = (plannedMs: number, period: Period, nowMs: number): number =>
  nextTick(period, plannedMs, Math.max(plannedMs, nowMs));

/** The next delivery after a change of the period. @param lastMs the last delivery, or the creation of the event */
export function afterNewPeriod(lastMs: number, period: Period, nowMs: number): number {
  if ('intervalMs' in period && lastMs + period.intervalMs <= nowMs) return nowMs + period.intervalMs;
  return 'intervalMs' in period ? lastMs + period.intervalMs : nextTick(period, lastMs, nowMs);
}

/** The first tick after `afterMs`. @param fromMs the start of an interval's grid, not after `afterMs` */
function nextTick(period: Period, fromMs: number, afterMs: number): number {
  if (!('intervalMs' in period)) return nextByCalendar(period, afterMs);
  return fromMs + (Math.floor((afterMs - fromMs) / period.intervalMs) + 1) * period.intervalMs;
}
