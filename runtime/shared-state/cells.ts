// The variables of one service's state, the global one or that of a partition (language.md 8, Y2). They live until the service's
// process ends, or the service is deleted or gets another state type.
import { langError } from '../../stdlib/errors.ts';
import type { StoredValue } from './stored-value.ts';

/** One property of a state type. */
export interface StateProperty {
  readonly type: string;
  /** A fresh one each time: Map and Value properties hold objects of their own. */
  readonly initial: () => StoredValue;
  /** The value as it is kept; null where the type does not allow it. */
  readonly accept: (value: StoredValue) => StoredValue | null;
}
export type StateProperties = ReadonlyMap<string, StateProperty>;

interface Cell {
  /** Rises with every change, so that a run that has the value needs it once. */
  version: number;
  value: StoredValue;
}

export class Cells {
  readonly #service: string;
  readonly #properties: StateProperties;
  readonly #cells = new Map<string, Cell>();
  /** The initialising procedure has run. */
  initialized = false;

  constructor(service: string, properties: StateProperties) {
    this.#service = service;
    this.#properties = properties;
    for (const [name, property] of properties) this.#cells.set(name, { version: 1, value: property.initial() });
  }

  /** @throws CascadeError where there is no such variable any more */
  get(name: string): Cell {
    return this.#cells.get(name) ?? this.#unknown(name);
  }

  /** @returns the new version @throws CascadeError cascade.service.state.type */
  set(name: string, value: StoredValue): number {
    const cell = this.get(name);
    const property = this.#properties.get(name) as StateProperty;
    const accepted = property.accept(value);
    if (!accepted) throw langError('cascade.service.state.type', this.#service, name, property.type);
    cell.value = accepted;
    return ++cell.version;
  }

  /** Characters that the values take. */
  get size(): number {
    let size = 0;
    for (const { value } of this.#cells.values()) size += value.json.length;
    return size;
  }

  #unknown(name: string): never {
    throw langError('cascade.service.state.type', this.#service, name, 'declared');
  }
}
