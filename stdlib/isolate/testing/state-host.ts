// Plays the state of services and shared objects to a lane of tests: one run at a time, so without waiting for locks. What the service does
// beside it is tested where it is (runtime/shared-state).
import { deepEquals } from '../../operators/index.ts';
import { type ObjectValue, Shared, type Value } from '../../values/index.ts';
import type { StatePayload } from '../index.ts';
import type { Answer, Host } from './lane.ts';

/** What a Map holds; a Value holds its one under ''. */
type Entries = Map<string, Value>;

export class StateHost {
  /** Keys of the partitions, as they were entered. */
  readonly partitions = new Set<string>();
  /** The entries that a lambda has now. */
  readonly begun = new Map<number, { entries: Entries; key: string }>();
  readonly #objects: Entries[] = [];
  readonly #entered = new Set<string>();
  readonly #variables = new Map<string, { value: Value; version: number }>();
  readonly #beside: Host;

  /** @param beside answers what is no request about state */
  constructor(beside: Host = () => ({ ok: null })) {
    this.#beside = beside;
  }

  /** Sets a variable as another run would. */
  put(variable: string, value: Value): void {
    this.#variables.set(variable, { value, version: (this.#variables.get(variable)?.version ?? 0) + 1 });
  }
  /** The value of a variable: `service/partition/name`, the partition empty for the global state. */
  at(variable: string): Value {
    return this.#variables.get(variable)?.value ?? null;
  }

  readonly host: Host = (kind, payload, nth): Answer =>
    kind === 'state' ? { ok: this.#answer(payload as unknown as StatePayload) } : this.#beside(kind, payload, nth);

  #answer(request: StatePayload): Value {
    switch (request.op) {
      case 'enter':
        if (request.partition !== null) this.partitions.add(request.partition);
        return !this.#entered.has(scopeOf(request));
      case 'entered':
        if (!request.failed) this.#entered.add(scopeOf(request));
        return null;
      case 'partitions':
        return [...this.partitions];
      case 'get': {
        const found = this.#variables.get(scopeOf(request) + request.name) ?? { value: null, version: 0 };
        return found.version === request.version && found.version > 0 ? { version: found.version } : { ...found };
      }
      case 'set':
        this.put(scopeOf(request) + request.name, request.value as Value);
        return this.#variables.get(scopeOf(request) + request.name)?.version ?? 0;
      case 'create':
        this.#objects.push(new Map());
        return new Shared(request.kind, this.#objects.length - 1);
      case 'call':
        return called(this.#entriesOf(request.object), request.method, request.args as Value[]);
      case 'begin': {
        const entries = this.#entriesOf(request.object);
        const token = this.begun.size + 1;
        this.begun.set(token, { entries, key: request.key });
        return { token, present: entries.has(request.key), value: entries.get(request.key) ?? null };
      }
      case 'end': {
        const place = this.begun.get(request.token);
        this.begun.delete(request.token);
        if (request.change === 'set') place?.entries.set(place.key, request.value as Value);
        if (request.change === 'remove') place?.entries.delete(place.key);
        return null;
      }
    }
  }

  #entriesOf(object: unknown): Entries {
    return this.#objects[(object as Shared).id] as Entries;
  }
}

const scopeOf = ({ service, partition }: { service: string; partition: string | null }): string => `${service}/${partition ?? ''}/`;

function called(entries: Entries, method: string, args: readonly Value[]): Value {
  const [key, value = null] = args as [string, Value?];
  const before = entries.get(key) ?? null;
  const listed = [...entries].map(([each, held]): ObjectValue => ({ key: each, value: held }));
  const answers: Record<string, () => Value> = {
    size: () => entries.size,
    isEmpty: () => entries.size === 0,
    containsKey: () => entries.has(key),
    containsValue: () => [...entries.values()].some((held) => deepEquals(held, key)),
    get: () => before,
    getOrDefault: () => before ?? value,
    put: () => (entries.set(key, value), before),
    putIfAbsent: () => (before === null && entries.set(key, value), before),
    remove: () => (args.length > 1 ? deepEquals(before, value) && entries.delete(key) : (entries.delete(key), before)),
    keySet: () => [...entries.keys()],
    values: () => [...entries.values()],
    entrySet: () => listed,
    clear: () => (entries.clear(), null),
    notifyOnEviction: () => null,
    getValue: () => entries.get('') ?? null,
    getValueOrDefault: () => entries.get('') ?? key,
    setValue: () => (entries.set('', key), key),
  };
  return (answers[method] as () => Value)();
}
