// The evaluation context of a single event: its declared type, its value, and the event object, made on first use.
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { ConditionEnvironment, EvaluationContext } from './types.ts';

/** The type whose instance an event's value is; events of requests and bulk events have other members, which are plain data. */
export function typeAt(path: string, { typeOf }: Pick<ConditionEnvironment, 'typeOf'>): TypeDefinition | null {
  const name = /^\/types\/(.+)\/(?:insert|update|delete)$/.exec(path)?.[1];
  return name === undefined ? null : typeOf(name);
}

export const contextOf = (payload: Value, event: () => ObjectValue): EvaluationContext => new OneEvent(payload, event);

/** Ignores the variable's name: there is one event. */
class OneEvent implements EvaluationContext {
  readonly #payload: Value;
  readonly #make: () => ObjectValue;
  #event: ObjectValue | undefined;

  constructor(payload: Value, make: () => ObjectValue) {
    this.#payload = payload;
    this.#make = make;
  }

  payload(): Value {
    return this.#payload;
  }

  event(): ObjectValue {
    return (this.#event ??= this.#make());
  }
}
