// Parameters and results that are typed with the name of a type of the namespace (language.md P1, P7): what the type says of a value only the
// host knows, so that it is asked, once a call.
import { isStandardType } from '../convert/index.ts';
import { fail } from '../errors.ts';
import { LocalValue, typeOf, type Value } from '../values/index.ts';
import { encoded, holds, materialized, refuseGiant } from './operations.ts';
import type { Described, ProcedureInfo, ProcedureParameter } from './protocol.ts';
import type { Run } from './run.ts';
import { Sequence } from './sequence.ts';
import { request, type Steps } from './steps.ts';

/** Whether a type of the namespace says what the value may be. */
export const isDescribed = (type: string | null): type is string => type !== null && !isStandardType(type);

/** A value for the host: `name` is the type's, the indexes say where the value stands. */
interface Asked {
  readonly name: string;
  readonly value: Value;
  readonly at: number;
  readonly index: number | null;
}

export const hasDescribed = (info: ProcedureInfo): boolean => info.parameters.some(({ type }) => isDescribed(type));

/**
 * The bound arguments of a procedure with such parameters, converted. A value that is as its type wants it stays the same Object: PRIVATE procedures
 * have references to it (C3).
 * @throws cascade.procedure.parameter.type with the path of the property; cascade.resource.type.not.found
 */
export function* describedArguments(run: Run, site: string, info: ProcedureInfo, values: readonly Value[]): Steps<Value[]> {
  const whole: Value[] = [];
  for (const [position, value] of values.entries())
    whole.push(isDescribed(info.parameters[position]?.type ?? null) ? yield* withoutSequences(run, value) : value);
  const asked = whole.flatMap((value, at): Asked[] => askedOf(info.parameters[at] as ProcedureParameter, value, at));
  for (const { value, at, name } of asked)
    if (holds(value, isLocal)) fail('cascade.procedure.parameter.type', info.name, nameOf(info, at), name, typeOf(value));
  yield* converted(run, site, asked, whole, ({ at }, [path, expected, actual]) =>
    fail('cascade.procedure.parameter.type', info.name, path === '' ? nameOf(info, at) : `${nameOf(info, at)}.${path}`, expected, actual),
  );
  return whole;
}

/** The value of a procedure with such a return type; the elements of a Sequence are left as they are. @throws cascade.lang.conversion, cascade.resource.type.not.found */
export function* describedResult(run: Run, { returns }: ProcedureInfo, value: Value): Steps<Value> {
  if (!returns || value === null || value instanceof Sequence) return value;
  const { type, cardinality } = returns;
  const array = cardinality !== null;
  if (array && !Array.isArray(value)) return fail('cascade.lang.conversion', typeOf(value), `${type} ARRAY`);
  const whole = [yield* withoutSequences(run, value)];
  const asked = askedOf({ type, array }, whole[0] ?? null, 0);
  for (const one of asked) if (holds(one.value, isLocal)) fail('cascade.lang.conversion', typeOf(one.value), type);
  yield* converted(run, 'result/', asked, whole, (_, [path, expected, actual]) =>
    fail('cascade.lang.conversion', actual, path === '' ? expected : `${expected} of ${type}.${path}`),
  );
  return whole[0] ?? null;
}

const nameOf = (info: ProcedureInfo, position: number): string => info.parameters[position]?.name ?? '';

/** A lambda, a Map, a Value, a Lock: it stays where it is (C6), and stands in no property of a type. */
export const isLocal = (value: Value): boolean =>
  typeof value === 'function' || (value instanceof LocalValue && value.data() === undefined);

function* withoutSequences(run: Run, value: Value): Steps<Value> {
  refuseGiant(run, value);
  return run.madeSequence && holds(value, (inner) => inner instanceof Sequence) ? yield* materialized(run, value) : value;
}

function askedOf({ type, array }: Pick<ProcedureParameter, 'type' | 'array'>, value: Value, at: number): Asked[] {
  if (value === null || !isDescribed(type)) return [];
  if (!array) return [{ name: type, value, at, index: null }];
  const elements = Array.isArray(value) ? value : [];
  return elements.flatMap((element, index) => (element === null ? [] : [{ name: type, value: element, at, index }]));
}

/** Puts what the host converted in its place of `whole`. An Array of which an element changed is a new one. */
function* converted(
  run: Run,
  site: string,
  asked: readonly Asked[],
  whole: Value[],
  refuse: (asked: Asked, refused: readonly [path: string, expected: string, actual: string]) => never,
): Steps<void> {
  if (asked.length === 0) return;
  const payload = yield* encoded(run, { values: asked.map(({ name, value }) => [name, value]) });
  const verdicts = (yield* request(run, `${run.path}${site}type`, 'describe', payload, false)) as unknown as Described[];
  const copied = new Set<number>();
  for (const [position, one] of asked.entries()) {
    const verdict = verdicts[position] as Described;
    if ('refused' in verdict) refuse(one, verdict.refused);
    if (!('value' in verdict)) continue;
    if (one.index === null) whole[one.at] = verdict.value as Value;
    else {
      if (!copied.has(one.at)) whole[one.at] = [...(whole[one.at] as Value[])];
      copied.add(one.at);
      (whole[one.at] as Value[])[one.index] = verdict.value as Value;
    }
  }
}
