// Outbound events of services with an `implementingEventPath` (resources-and-api.md 4.5): they are raised together with the event of that
// path, where whoever stored the service last may see that one.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { editorOf } from '../../resources/representation/index.ts';
import { parseEventPath } from '../../runtime/events/index.ts';

/** @param editor of the service. @param by who causes the event */
type MayPassOn = (editor: string, path: string, value: Value, by: string) => boolean;

interface Implemented {
  readonly event: string;
  /** null: the service itself has stored it. */
  readonly editor: string | null;
}

export class ImplementedEvents {
  /** Service events, by the path of the event that implements them. */
  readonly #byPath = new Map<string, readonly Implemented[]>();
  readonly #mayPassOn: MayPassOn;

  constructor(services: Iterable<readonly [string, ObjectValue]>, mayPassOn: MayPassOn) {
    this.#mayPassOn = mayPassOn;
    for (const [service, object] of services) this.putService(service, object);
  }

  /** Paths of the service events that this event implements. */
  of(path: string, value: Value, by: string): readonly string[] {
    const all = this.#byPath.size === 0 ? undefined : this.#byPath.get(path);
    if (!all) return NONE;
    return all.filter(({ editor }) => editor === null || this.#mayPassOn(editor, path, value, by)).map(({ event }) => event);
  }

  /** Those whose rights decide. */
  editors(): ReadonlySet<string> {
    const all = [...this.#byPath.values()].flat().map(({ editor }) => editor);
    return new Set(all.filter((editor) => editor !== null));
  }

  /** Adds the events of a service; an inactive one has none. */
  putService(service: string, object: ObjectValue): void {
    this.removeService(service);
    if (getOwn(object, 'active') === false) return;
    const editor = editorOf(object);
    for (const [name, declared] of eventTypesOf(object)) {
      const path = pathOrNull(declared);
      const event = `/services/${service}/${name}`;
      if (path !== null) this.#byPath.set(path, [...(this.#byPath.get(path) ?? []), { event, editor }]);
    }
  }

  removeService(service: string): void {
    for (const [path, events] of [...this.#byPath]) {
      const others = events.filter(({ event }) => !event.startsWith(`/services/${service}/`));
      if (others.length > 0) this.#byPath.set(path, others);
      else this.#byPath.delete(path);
    }
  }
}

const NONE: readonly string[] = [];

const eventTypesOf = (object: ObjectValue): [name: string, declared: ObjectValue][] => {
  const types = Object.hasOwn(object, 'eventTypes') ? getOwn(object, 'eventTypes') : null;
  const all = isObject(types) ? Object.entries(types) : [];
  return all.filter((one): one is [string, ObjectValue] => isObject(one[1]));
};

/** The paths whose events implement those of a service. */
export const implementingPaths = (service: ObjectValue): string[] =>
  eventTypesOf(service)
    .map(([, declared]) => pathOrNull(declared))
    .filter((path) => path !== null);

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
