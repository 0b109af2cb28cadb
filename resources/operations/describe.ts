// Parameters and results of procedures that are typed with the name of a type or scalar of the namespace (language.md P1, P7).
import { CascadeError } from '../../stdlib/errors.ts';
import type { Described } from '../../stdlib/isolate/index.ts';
import { encodeInner, getOwn, isObject, typeOf, type Value } from '../../stdlib/values/index.ts';
import { apiError, isApiError } from '../../model/errors/index.ts';
import { coerceDescribed, coerceScalarValue } from '../../model/types/index.ts';
import { type Namespace, type ProgramOperation, resolve } from '../catalog/index.ts';

/** @throws cascade.resource.type.not.found */
export const describe: ProgramOperation = async (space, payload) => ({
  ok: encodeInner((getOwn(payload, 'values') as [string, Value][]).map(([name, value]) => verdictOn(space, name, value)) as Value),
});

function verdictOn(space: Namespace, name: string, value: Value): Described {
  try {
    const coerced = as(space, name, value);
    return encodeInner(coerced) === encodeInner(value) ? { same: true } : { value: coerced };
  } catch (error) {
    if (!isApiError(error)) throw error;
    const first = error instanceof CascadeError ? error : error.errors[0];
    if (first?.code === 'cascade.resource.type.not.found') throw first;
    return { refused: refusalOf(first, value) };
  }
}

function as(space: Namespace, name: string, value: Value): Value {
  const type = space.catalog.types.get(name);
  if (type) return coerceDescribed(type, value);
  const scalar = space.catalog.scalars.get(name);
  if (scalar) return coerceScalarValue(scalar, value);
  resolve(space, name, null); // what the service itself has is described nowhere: an Object
  if (!isObject(value)) throw apiError('cascade.type.property.invalid', name, '', name, 'format');
  return value;
}

/** The first thing that is wrong: where, what was expected there, and what is there. */
function refusalOf(error: CascadeError | undefined, value: Value): readonly [path: string, expected: string, actual: string] {
  const [, path = '', type, reason] = error?.params ?? [];
  const expected = reason === 'multi' ? `${String(type)} ARRAY` : reason === 'maxLength' ? `shorter ${String(type)}` : type;
  const at = String(path);
  const actual = typeOf(at === '' ? value : at.split('.').reduce<Value>((inner, key) => member(inner, key), value));
  if (error?.code === 'cascade.type.property.unknown') return [at, 'absent', actual];
  return [at, typeof expected === 'string' ? expected : 'present', actual];
}

const member = (value: Value, key: string): Value =>
  Array.isArray(value) ? (value[Number(key)] ?? null) : isObject(value) ? getOwn(value, key) : null;
