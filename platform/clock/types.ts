// What time it is for everything that rules can see: events, system properties, now(), windows, schedules. Sockets, leases and
// heartbeats keep to the machine's own time.

export interface Clock {
  /** Whole milliseconds since the epoch, UTC. */
  now(): number;
  /**
   * Calls once when `now()` has reached that time, never before; for a time that has passed soon, but not within this call.
   * The timer does not keep the process alive.
   */
  at(timeMs: number, call: () => void): Timer;
}

export interface Timer {
  /** Nothing is called afterwards. Harmless when it has been already. */
  cancel(): void;
}
