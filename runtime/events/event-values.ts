// Decoded values of events that this process has raised, for as long as the event is referenced, so that its text is not read again. Events
// that come from the store have none here.
import type { Value } from '../../stdlib/values/index.ts';
import type { StoredEvent } from '../transactions/index.ts';

const VALUES = new WeakMap<StoredEvent, Value>();

/** @param value must not change any more */
export const keepValue = (event: StoredEvent, value: Value): void => void VALUES.set(event, value);

/** Undefined where only the event's text is in memory. */
export const keptValue = (event: StoredEvent): Value | undefined => VALUES.get(event);
