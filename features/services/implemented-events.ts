// Outbound events of services with an `implementingEventPath` (resources-and-api.md 4.5): they are raised together with the event of that
// path.

import { getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import { parseEventPath } from '../../runtime/events/index.ts';

export class ImplementedEvents {
  /** Paths of service events, by the path of the event that implements them. */
  readonly #byPath = new Map<string, readonly string[]>();

  constructor(services: Iterable<readonly [string, ObjectValue]>) {
    for (const [service, object] of services) this.putService(service, object);
  }

  /** The service events that an event on this path implements. */
  of(path: string): readonly string[] {
    return this.#byPath.size === 0 ? NONE : (this.#byPath.get(path) ?? NONE);
  }

  /** Adds the events of a service; an inactive one has none. */
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

/** The path, or null: a stored service that can no longer be read must not prevent a namespace from being opened. */
function pathOrNull(declared: ObjectValue): string | null {
  try {
    return implementingPath(declared);
  } catch {
    return null;
  }
}

/**
 * The path of the event that implements an outbound event, in its usual spelling; null: none does.
 * @throws cascade.event.path.invalid
 */
export function implementingPath(declared: ObjectValue): string | null {
  if (getOwn(declared, 'direction') !== 'OUTBOUND' || !Object.hasOwn(declared, 'implementingEventPath')) return null;
  const written = getOwn(declared, 'implementingEventPath');
  return written === null ? null : parseEventPath(String(written)).path;
}
