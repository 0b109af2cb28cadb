// Typed reading of the fields of a definition's body: null is "not set", as in exported files (resources-and-api.md 11).
import { getOwn, isInteger, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type CascadeError, apiError } from '../errors/index.ts';

/** One body, and the words in which its fields are refused. */
export class Fields {
  readonly body: ObjectValue;
  readonly #refuse: (field: string, reason: string) => CascadeError;
  constructor(body: ObjectValue, refuse: (field: string, reason: string) => CascadeError) {
    this.body = body;
    this.#refuse = refuse;
  }

  get(field: string): Value {
    return getOwn(this.body, field);
  }

  boolean(field: string): boolean {
    const value = this.get(field) ?? false;
    if (typeof value !== 'boolean') throw this.#refuse(field, 'no Boolean');
    return value;
  }

  text(field: string): string | null {
    const value = this.get(field);
    if (value !== null && typeof value !== 'string') throw this.#refuse(field, 'no String');
    return value;
  }

  /** @param fallback for a field that is not set */
  integer(field: string, min: number, max: number, fallback: number | undefined): number | undefined {
    const value = this.get(field);
    if (value === null) return fallback;
    if (!isInteger(value)) throw this.#refuse(field, 'no Integer');
    if (value < min || value > max) throw this.#refuse(field, `not within ${min} and ${max}`);
    return Number(value);
  }

  array(field: string): Value[] {
    const value = this.get(field) ?? [];
    if (!Array.isArray(value)) throw this.#refuse(field, 'no array');
    return value;
  }

  texts(field: string): string[] {
    const values = this.array(field);
    if (!values.every((value) => typeof value === 'string')) throw this.#refuse(field, 'no array of String');
    return values;
  }

  object(field: string): ObjectValue {
    const value = this.get(field) ?? {};
    if (!isObject(value)) throw this.#refuse(field, 'no Object');
    return value;
  }
}

/** The fields of a resource's body: refused as resource.property.invalid. */
export const fieldsOf = (resource: string, body: ObjectValue, prefix = ''): Fields =>
  new Fields(body, (field, reason) => apiError('cascade.resource.property.invalid', resource, prefix + field, reason));
