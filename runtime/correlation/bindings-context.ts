// The evaluation context of rules over several events: the matched events, by the variables of the triggers.

import type { TriggerSpec } from '../../compiler/index.ts';
import { decodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { eventObject } from '../events/index.ts';
import type { EvaluationContext } from '../triggers/index.ts';
import type { Bindings, MatchedEvent } from './types.ts';

/** Caches decoded values: events are kept as text, and the newest one and the one compared with it are read many times. */
export class EventValues {
  #of: MatchedEvent | null = null;
  #value: Value = null;
  #isRead = false;
  #other: MatchedEvent | null = null;
  #otherValue: Value = null;

  /** Names the event that most look-ups will be for. @param value its value, where it is known */
  expect(matched: MatchedEvent, value?: Value): void {
    if (this.#of === matched) return;
    this.#of = matched;
    this.#isRead = value !== undefined;
    this.#value = value ?? null;
    this.#other = null;
    this.#otherValue = null;
  }

  get(matched: MatchedEvent): Value {
    if (matched === this.#of) {
      if (!this.#isRead) {
        this.#value = decodeInner(matched.value);
        this.#isRead = true;
      }
      return this.#value;
    }
    if (matched !== this.#other) {
      this.#otherValue = decodeInner(matched.value);
      this.#other = matched;
    }
    return this.#otherValue;
  }
}

/** A variable whose event has not arrived holds null. */
export class BindingsContext implements EvaluationContext {
  /** May be exchanged between two evaluations of a condition: conditions keep nothing of it. */
  bindings: Bindings;
  readonly #triggers: readonly TriggerSpec[];
  readonly #values: EventValues;
  readonly #namespace: string;

  constructor(bindings: Bindings, triggers: readonly TriggerSpec[], values: EventValues, namespace: string) {
    this.bindings = bindings;
    this.#triggers = triggers;
    this.#values = values;
    this.#namespace = namespace;
  }

  payload(variable: string): Value {
    const matched = eventOf(this.bindings, this.#triggers, variable);
    return matched ? this.#values.get(matched) : null;
  }

  event(variable: string): ObjectValue {
    const matched = eventOf(this.bindings, this.#triggers, variable);
    return matched ? eventObject(matched, this.#values.get(matched), this.#namespace) : {};
  }
}

/** The event that a variable holds. */
export function eventOf({ places, events }: Bindings, triggers: readonly TriggerSpec[], variable: string): MatchedEvent | null {
  for (let i = 0; i < places.length; i++) if (triggers[places[i] as number]?.variable === variable) return events[i] ?? null;
  return null;
}
