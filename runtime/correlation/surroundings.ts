// Events as conditions see them, by the variables of a rule's triggers.

import type { TriggerSpec } from '../../compiler/index.ts';
import { decodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { eventObject } from '../event-object.ts';
import type { Surrounding } from '../triggers/index.ts';
import type { Bound, Happening } from './types.ts';

/** Values of events are kept as text; the one that has just arrived is looked at many times. */
export class Values {
  #of: Happening | null = null;
  #value: Value = null;

  /** The event that most look-ups will be for. */
  expect(happening: Happening): void {
    if (this.#of === happening) return;
    this.#of = happening;
    this.#value = decodeInner(happening.value);
  }

  get(happening: Happening): Value {
    return happening === this.#of ? this.#value : decodeInner(happening.value);
  }
}

/** A variable whose event has not come holds null. */
export class BoundSurrounding implements Surrounding {
  readonly #bound: Bound;
  readonly #triggers: readonly TriggerSpec[];
  readonly #values: Values;
  readonly #namespace: string;
  readonly #known = new Map<string, Value>();

  constructor(bound: Bound, triggers: readonly TriggerSpec[], values: Values, namespace: string) {
    this.#bound = bound;
    this.#triggers = triggers;
    this.#values = values;
    this.#namespace = namespace;
  }

  payload(variable: string): Value {
    const known = this.#known.get(variable);
    if (known !== undefined) return known;
    const happening = happeningOf(this.#bound, this.#triggers, variable);
    const value = happening ? this.#values.get(happening) : null;
    this.#known.set(variable, value);
    return value;
  }

  event(variable: string): ObjectValue {
    const happening = happeningOf(this.#bound, this.#triggers, variable);
    return happening ? eventObject(happening, this.payload(variable), this.#namespace) : {};
  }
}

/** The event that a variable holds. */
export function happeningOf({ places, happenings }: Bound, triggers: readonly TriggerSpec[], variable: string): Happening | null {
  const at = places.findIndex((place) => triggers[place]?.variable === variable);
  return happenings[at] ?? null;
}
