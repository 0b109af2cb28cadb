// Computes the times at which a scheduled event is delivered (integrations.md 10.2 to 10.4): pure, in milliseconds since the epoch.

/** How far ahead an event may be that is kept in memory only. */
export const MOST_TRANSIENT_MS = 300_000;
const SHORTEST_PERIOD_MS = 1_000;

/** A schedule that is ambiguous or incomplete. */
export class Unplanned extends Error {}
/** A schedule whose time has passed. */
export class Past extends Unplanned {}

export interface Wanted {
  readonly periodic: boolean;
  readonly intervalMs: number | null;
  readonly occursAtMs: number | null;
}

/**
 * The first delivery.
 * @param past whether a passed time is refused, or means at once
 * @throws Unplanned, Past
 */
export function firstDelivery({ periodic, intervalMs, occursAtMs }: Wanted, nowMs: number, past: 'refused' | 'at once'): number {
  if (occursAtMs === null && intervalMs === null) throw new Unplanned('neither occursAt nor interval is given');
  if (periodic && intervalMs === null) throw new Unplanned('a periodic event needs an interval');
  if (periodic && intervalMs !== null && intervalMs < SHORTEST_PERIOD_MS)
    throw new Unplanned(`the interval of a periodic event is at least ${SHORTEST_PERIOD_MS} ms`);
  if (!periodic && occursAtMs !== null && intervalMs !== null)
    throw new Unplanned('a one-time event has either occursAt or interval, not both');
  const firstMs = occursAtMs ?? nowMs + (intervalMs ?? 0);
  if (firstMs <= nowMs && past === 'refused') throw new Past('occursAt is not in the future');
  return firstMs;
}

/** The next delivery on the grid of planned times: however many deliveries were missed, they count as one. */
export function afterDelivery(plannedMs: number, intervalMs: number, nowMs: number): number {
  const missed = Math.max(0, Math.floor((nowMs - plannedMs) / intervalMs));
  return plannedMs + (missed + 1) * intervalMs;
}

/** The next delivery after a change of the interval. @param lastMs the last delivery, or the creation of the event */
export const afterNewInterval = (lastMs: number, intervalMs: number, nowMs: number): number =>
  lastMs + intervalMs > nowMs ? lastMs + intervalMs : nowMs + intervalMs;
