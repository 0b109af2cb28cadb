// `exception`, `rethrow`, and the exception object that CATCH and ON ERROR see (builtins.md 14, language.md 9).
import { CascadeError, fail } from '../errors.ts';
import { getOwn, type ObjectValue, originalOf, text, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { formatMessage, turnsOfMessage } from './format.ts';

/** Which error an exception object was made of, so that `rethrow` keeps its status (language.md H3). */
const CAUGHT = new WeakMap<ObjectValue, CascadeError>();

/** The Object that a handler gets; `errors` lists all that were found together. */
export function toExceptionObject(error: CascadeError): ObjectValue {
  const object: ObjectValue = { code: error.code, message: error.message, params: [...error.params], isFormatted: true };
  if (error.errors) object.errors = error.errors.map(({ code, message, params }) => ({ code, message, params: [...params] }));
  CAUGHT.set(object, error);
  return object;
}

function listOf(params: Value): Value[] {
  if (params === null) return [];
  return Array.isArray(params) ? params : [params];
}

function formatted(context: BuiltinContext, message: string, params: Value): string {
  context.spend(turnsOfMessage(message));
  return formatMessage(message, listOf(params), context);
}

function exception(context: BuiltinContext, code: string, message: Value, params: Value): never {
  if (code === '') fail('cascade.lang.range', 'code', code);
  const raised = typeof message === 'string' ? formatted(context, message, params) : text(message);
  throw new CascadeError(code, raised, listOf(originalOf(params)));
}

function rethrow(context: BuiltinContext, caught: ObjectValue): never {
  const code = getOwn(caught, 'code');
  if (typeof code !== 'string' || code === '') return fail('cascade.lang.range', 'exception', 'an Object without code');
  const message = getOwn(caught, 'message');
  const original = originalOf(caught) as ObjectValue;
  const isFormatted = getOwn(caught, 'isFormatted') === true || typeof message !== 'string';
  const known = CAUGHT.get(original);
  const same = known?.code === code ? known : undefined;
  const raised = isFormatted ? text(message) : formatted(context, message, getOwn(caught, 'params'));
  // What a program raises has status 400, whatever its code says.
  throw new CascadeError(
    code,
    raised,
    listOf(getOwn(original, 'params')),
    same?.status ?? 400,
    same?.message === raised ? same.errors : null,
  );
}

export const exceptions: readonly Declaration[] = [
  {
    call: 'exception(code: String, message: any|null, params?: any) => never',
    forms: 'F',
    about: 'Raises an exception; the message is formatted with params.',
    contents: true,
    errors: ['cascade.lang.range'],
    run: exception,
  },
  {
    call: 'rethrow(exception: Object) => never',
    forms: 'F',
    about: 'Raises a caught exception again.',
    contents: true,
    errors: ['cascade.lang.range'],
    run: rethrow,
  },
];
