// What raising an event needs of a namespace.
import type { Clock } from '../../platform/clock/index.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { RunReference, StoredEvent } from '../transactions/index.ts';
import type { TriggerIndex } from '../triggers/index.ts';

/** Events that are delivered until they are acknowledged. */
export interface ReliableEvents {
  /** Whether a receiver must acknowledge events of this path. */
  hasSubscribers(path: string): boolean;
  /** Adds the delivery records of those who must acknowledge the event; gives the event itself where nobody must. */
  withDeliveries(event: StoredEvent): StoredEvent;
  /** A definition was deleted: what is pending for it ends. */
  gone(kind: string, name: string): void;
  /** Removes what is stored for the events of a deleted definition. */
  discard(kind: string, name: string): Promise<void>;
}

/** The receivers of events. */
export interface EventTakers {
  /** WHEN rules by event path and condition. */
  readonly when: TriggerIndex;
  /** WHEN rules over several events. */
  readonly correlations: {
    has(path: string): boolean;
    match(path: string, value: Value, event: () => ObjectValue, by: string): RunReference[];
  };
  readonly subscribers: { has(path: string): boolean };
  readonly deliveries: Pick<ReliableEvents, 'hasSubscribers' | 'withDeliveries'>;
  /** Paths of service events that are raised with an event of the path. @param by who causes it */
  readonly implementedEvents: { of(path: string, value: Value, by: string): readonly string[] };
}

export interface EventContext {
  readonly name: string;
  readonly clock: Clock;
  readonly events: EventTakers;
}
