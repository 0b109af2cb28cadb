// Events as conditions see them, by the variables of a rule's triggers.

import type { TriggerSpec } from '../../compiler/index.ts';
import { decodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { eventObject } from '../events/event-object.ts';
import type { Surrounding } from '../triggers/index.ts';
import type { Bound, Happening } from './types.ts';

/** Values of events are kept as text; the one that has just arrived is looked at many times, and so is the one beside it in a condition. */
export class Values {
  #of: Happening | null = null;
  #value: Value = null;
  #isRead = false;
  #other: Happening | null = null;
  #otherValue: Value = null;

  /** The event that most look-ups will be for. @param value as it is known already */
  expect(happening: Happening, value?: Value): void {
    if (this.#of === happening) return;
    this.#of = happening;
    this.#isRead = value !== undefined;
    this.#value = value ?? null;
    this.#other = null;
    this.#otherValue = null;
  }

  get(happening: Happening): Value {
    if (happening === this.#of) {
      if (!this.#isRead) {
        this.#value = decodeInner(happening.value);
        this.#isRead = true;
      }
      return this.#value;
    }
    if (happening !== this.#other) {
      this.#otherValue = decodeInner(happening.value);
      this.#other = happening;
    }
    return this.#otherValue;
  }
}

/** A variable whose event has not come holds null. */
export class BoundSurrounding implements Surrounding {
  /** May be another one for the next look: a condition keeps nothing of it. */
  bound: Bound;
  readonly #triggers: readonly TriggerSpec[];
  readonly #values: Values;
  readonly #namespace: string;

  constructor(bound: Bound, triggers: readonly TriggerSpec[], values: Values, namespace: string) {
    this.bound = bound;
    this.#triggers = triggers;
    this.#values = values;
    this.#namespace = namespace;
  }

  payload(variable: string): Value {
    const happening = happeningOf(this.bound, this.#triggers, variable);
    return happening ? this.#values.get(happening) : null;
  }

  event(variable: string): ObjectValue {
    const happening = happeningOf(this.bound, this.#triggers, variable);
    return happening ? eventObject(happening, this.#values.get(happening), this.#namespace) : {};
  }
}

/** The event that a variable holds. */
export function happeningOf({ places, happenings }: Bound, triggers: readonly TriggerSpec[], variable: string): Happening | null {
  for (let i = 0; i < places.length; i++) if (triggers[places[i] as number]?.variable === variable) return happenings[i] ?? null;
  return null;
}
