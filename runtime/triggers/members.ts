// The accesses `.p` and `[i]` in conditions (language.md 4.8): a null step gives null. XML answers as in programs (integrations.md 2.7).
import { Matcher } from '../../stdlib/builtins/index.ts';
import { fail } from '../../stdlib/errors.ts';
import { getOwn, isInteger, isNumber, isObject, numberOf, typeOf, type Value, XmlNode } from '../../stdlib/values/index.ts';

export function memberOf(value: Value, name: string): Value {
  if (value === null || value === undefined) return null;
  if (isObject(value)) return getOwn(value, name);
  if (value instanceof XmlNode) return value.property(name);
  if ((Array.isArray(value) || typeof value === 'string') && (name === 'length' || name === 'size')) return value.length;
  if (Array.isArray(value)) return value.map((element) => memberOf(element, name));
  return fail('cascade.lang.property', name, typeOf(value));
}

export function elementOf(value: Value, index: Value): Value {
  if (value === null || value === undefined) return null;
  if (value instanceof XmlNode && (isNumber(index) || typeof index === 'string')) return value.property(String(index));
  if (value instanceof Matcher && isInteger(index)) return index >= 0 ? value.at(Number(index)) : null;
  if (typeof index === 'string' && (isObject(value) || !/^[0-9]+$/.test(index))) return memberOf(value, index);
  if (!Array.isArray(value) && typeof value !== 'string') return fail('cascade.lang.property', 'index', typeOf(value));
  const position = isNumber(index) ? numberOf(index) : typeof index === 'string' ? Number(index) : -1;
  if (position < 0 || !Number.isInteger(position)) return fail('cascade.lang.index', isInteger(index) ? index : null, value.length);
  return value[position] ?? null;
}
