// Substitutions (resources-and-api.md 3.4): names that stand for operators, so that `$` need not be stored, and for what the caller is.
import { DateTime, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../errors/index.ts';
import { isOperatorName } from './operators.ts';
import type { ConditionContext } from './types.ts';

const VALUE = 'ars_substitution';
const OPERATOR = 'ars_substitution_';

const VALUES: Readonly<Record<string, (context: ConditionContext) => Value>> = {
  ars_username: (context) => context.username,
  ars_currentDateTime: (context) => new DateTime(context.now),
  ars_currentNamespace: (context) => context.namespace,
};

/** The where with every substitution made. What holds none is returned as it is. */
export function substitute(value: Value, context: ConditionContext): Value {
  if (Array.isArray(value)) return mapped(value, (element) => substitute(element, context));
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, VALUE)) return valueOf(value, context);
  return withMembers(value, operatorOf, (member) => substitute(member, context));
}

/** How a constraint is stored: no member begins with `$`. */
export function toStoredForm(where: Value): Value {
  if (Array.isArray(where)) return mapped(where, toStoredForm);
  if (!isObject(where)) return where;
  return withMembers(where, (name) => (isOperatorName(name) ? OPERATOR + name.slice(1) : name), toStoredForm);
}

function valueOf(object: ObjectValue, context: ConditionContext): Value {
  const name = getOwn(object, VALUE);
  const found = typeof name === 'string' && Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  if (!found || Object.keys(object).length !== 1) throw apiError('cascade.query.substitution.unknown', name);
  return found(context);
}

function operatorOf(name: string): string {
  if (!name.startsWith(OPERATOR)) return name;
  const operator = `$${name.slice(OPERATOR.length)}`;
  if (!isOperatorName(operator)) throw apiError('cascade.query.substitution.unknown', name);
  return operator;
}

function mapped(array: readonly Value[], change: (element: Value) => Value): Value[] {
  const changed = array.map(change);
  return changed.some((element, i) => element !== array[i]) ? changed : (array as Value[]);
}

function withMembers(object: ObjectValue, rename: (name: string) => string, change: (member: Value) => Value): ObjectValue {
  const result: ObjectValue = {};
  let same = true;
  for (const name of Object.keys(object)) {
    const member = getOwn(object, name);
    const newName = rename(name);
    const newMember = change(member);
    same &&= newName === name && newMember === member;
    setOwn(result, newName, newMember);
  }
  return same ? object : result;
}
