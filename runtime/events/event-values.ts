// The values of events that this process has raised itself, for as long as somebody has the event: what is stored of an event is a text, and
// who needs only a part of the value need not read it again. Events that are read back from the store have none here.
import type { Value } from '../../stdlib/values/index.ts';
import type { StoredEvent } from '../transactions/index.ts';

const VALUES = new WeakMap<StoredEvent, Value>();

/** @param value does not change any more */
export const keepValue = (event: StoredEvent, value: Value): void => void VALUES.set(event, value);

/** Undefined where only the event's text is known. */
export const keptValue = (event: StoredEvent): Value | undefined => VALUES.get(event);
