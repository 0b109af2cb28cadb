// Outbound events of services that other events stand for (`implementingEventPath`, resources-and-api.md 4.5): raised with each of these.

import { getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import { parseEventPath } from '../../runtime/events/index.ts';

export class ImplementedEvents {
  /** Paths of service events by the path of what stands for them. */
  readonly #byPath = new Map<string, readonly string[]>();

  constructor(services: Iterable<readonly [string, ObjectValue]>) {
    for (const [service, object] of services) this.putService(service, object);
  }

  /** The service events that an event on this path is, too. */
  of(path: string): readonly string[] {
    return this.#byPath.size === 0 ? NONE : (this.#byPath.get(path) ?? NONE);
  }

  /** A service is stored. One that is not active has none. */
  putService(service: string, object: ObjectValue): void {
    this.removeService(service);
    if (getOwn(object, 'active') === false) return;
    const types = Object.hasOwn(object, 'eventTypes') ? getOwn(object, 'eventTypes') : null;
    if (!isObject(types)) return;
    for (const [event, declared] of Object.entries(types)) {
      const path = isObject(declared) ? pathOrNull(declared) : null;
      if (path !== null) this.#byPath.set(path, [...(this.#byPath.get(path) ?? []), `/services/${service}/${event}`]);
    }
  }

  removeService(service: string): void {
    for (const [path, events] of [...this.#byPath]) {
      const others = events.filter((event) => !event.startsWith(`/services/${service}/`));
      if (others.length > 0) this.#byPath.set(path, others);
      else this.#byPath.delete(path);
    }
  }
}

const NONE: readonly string[] = [];

/** A stored one that can no longer be read keeps no namespace from being opened. */
function pathOrNull(declared: ObjectValue): string | null {
  try {
    return implementingPath(declared);
  } catch {
    return null;
  }
}

/**
 * What stands for an outbound event, in the spelling in which events are raised; null: nothing does.
 * @throws cascade.event.path.invalid
 */
export function implementingPath(declared: ObjectValue): string | null {
  if (getOwn(declared, 'direction') !== 'OUTBOUND' || !Object.hasOwn(declared, 'implementingEventPath')) return null;
  const written = getOwn(declared, 'implementingEventPath');
  return written === null ? null : parseEventPath(String(written)).path;
}
