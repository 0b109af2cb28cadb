// Arguments of user procedures and what they return: counted, named, converted, copied (language.md 3.4, 4.9).
import { convert, ConversionError, unconvertible } from '../convert/index.ts';
import { fail } from '../errors.ts';
import { codePointsWithin, decodeInner, deepCopy, getOwn, type ObjectValue, typeOf, type Value } from '../values/index.ts';
import { isDescribed, isLocal } from './described.ts';
import type { ProcedureInfo, ProcedureParameter } from './protocol.ts';
import { isResultList, resultList } from './result-lists.ts';
import { Sequence } from './sequence.ts';
import { isShared } from './shared-objects.ts';

/** Values for the parameters, in their order. Public procedures get copies (C2). What a type of the namespace describes is left to described.ts. */
export function bindArguments(info: ProcedureInfo, args: readonly Value[] | null, named: ObjectValue | null): Value[] {
  const { name, parameters } = info;
  const positional = args ?? [];
  if (positional.length > parameters.length) fail('cascade.procedure.argument.count', name, parameters.length + 1);
  for (const key of Object.keys(named ?? {})) {
    const position = parameters.findIndex((parameter) => parameter.name === key);
    if (position < positional.length) fail('cascade.procedure.argument.unknown', name, key);
  }
  return parameters.map((parameter, position) => {
    const given = position < positional.length || (named !== null && Object.hasOwn(named, parameter.name));
    if (!given) return absent(info, parameter);
    const value = position < positional.length ? (positional[position] ?? null) : getOwn(named ?? {}, parameter.name);
    return accepted(info, parameter, value);
  });
}

function absent(info: ProcedureInfo, parameter: ProcedureParameter): Value {
  if (parameter.required) return fail('cascade.procedure.parameter.missing', info.name, parameter.name);
  return parameter.default === undefined ? null : accepted(info, parameter, decodeInner(parameter.default));
}

function accepted(info: ProcedureInfo, parameter: ProcedureParameter, value: Value): Value {
  if (value === null) return null;
  if (value instanceof Sequence) return fail('cascade.procedure.parameter.sequence', info.name, parameter.name);
  if (!info.private && isLocal(value)) return mistyped(info, parameter, value);
  const own = info.private ? value : copied(info, parameter, value);
  if (!parameter.array) return converted(info, parameter, own);
  if (!Array.isArray(own)) return mistyped(info, parameter, value);
  const { type } = parameter;
  if (type === null || type === 'Any' || isDescribed(type)) return own;
  const elements = own.map((element) => converted(info, parameter, element));
  return elements.every((element, index) => element === own[index]) ? own : elements; // the same Array, where nothing had to be converted
}

function converted(info: ProcedureInfo, parameter: ProcedureParameter, value: Value): Value {
  const { type, scale, maxLength } = parameter;
  if (type === null || type === 'Any' || isDescribed(type)) return value;
  try {
    const result = convert(value, { type, scale }, 'parameter');
    return isTooLong(result, maxLength) ? mistyped(info, parameter, value) : result;
  } catch (error) {
    if (error instanceof ConversionError) return mistyped(info, parameter, value);
    throw error;
  }
}

const isTooLong = (value: Value, maxLength: number | undefined): boolean =>
  maxLength !== undefined && typeof value === 'string' && !codePointsWithin(value, maxLength);

/** `String`, or `String(3)`. */
const bounded = (type: string, maxLength: number | undefined): string => (maxLength === undefined ? type : `${type}(${maxLength})`);

function mistyped(info: ProcedureInfo, parameter: ProcedureParameter, value: Value): never {
  const { type, maxLength, array } = parameter;
  const expected = `${bounded(type ?? 'data', maxLength)}${array ? ' ARRAY' : ''}`;
  return fail('cascade.procedure.parameter.type', info.name, parameter.name, expected, typeOf(value));
}

/** A deep copy; a result list stays one (Q7). What cannot be copied (C6) cannot be passed inside an Object or Array either. */
function copied(info: ProcedureInfo, parameter: ProcedureParameter, value: Value): Value {
  const copy = deepCopy(value, (inner) => {
    if (typeof inner === 'function' || isShared(inner)) mistyped(info, parameter, inner);
  });
  return Array.isArray(copy) && isResultList(value) ? resultList(copy) : copy;
}

/** The value of a procedure, as its return type wants it; a Sequence for an Array was read before. */
export function returned(info: ProcedureInfo, value: Value): Value {
  const { returns } = info;
  if (!info.private && !(value instanceof Sequence) && isLocal(value))
    return fail('cascade.procedure.parameter.type', info.name, 'the result', 'data', typeOf(value));
  if (returns === null || value === null) return value;
  const { type, scale, maxLength, cardinality } = returns;
  if (value instanceof Sequence)
    return cardinality === null && type !== 'Any' ? fail('cascade.lang.conversion', typeOf(value), type) : value;
  if (cardinality !== null && !Array.isArray(value)) return fail('cascade.lang.conversion', typeOf(value), `${type} ARRAY`);
  if (type === 'Any' || isDescribed(type)) return value;
  const one = (element: Value): Value => {
    const result = convert(element, { type, scale }, 'return');
    return isTooLong(result, maxLength) ? unconvertible(result, bounded(type, maxLength), 'range') : result;
  };
  if (cardinality === null || !Array.isArray(value)) return one(value);
  const all = value.map(one);
  if (all.every((element, index) => element === value[index])) return value; // the same Array, where nothing had to be converted
  return isResultList(value) ? resultList(all) : all; // Q7
}
