// Object built-ins and those of Utils that work on Objects (builtins.md 9, 20).
import { fail } from '../errors.ts';
import { deepEquals } from '../operators/index.ts';
import { deepCopyCounted, failDeep, getOwn, isObject, MAX_DEPTH, type ObjectValue, setOwn, typeOf, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { grow, madeList } from './growth.ts';

/** `key` in front of what a property costs. */
const PROPERTY_BYTES = 32;

function put(context: BuiltinContext, obj: ObjectValue, key: string, value: Value): Value {
  const before = getOwn(obj, key);
  context.charge(PROPERTY_BYTES + key.length * 2);
  setOwn(obj, key, value);
  return before;
}

function deleteKey(_: BuiltinContext, obj: ObjectValue, key: string): Value {
  const before = getOwn(obj, key);
  delete obj[key];
  return before;
}

const has = (_: BuiltinContext, obj: ObjectValue, key: string): boolean => Object.hasOwn(obj, key);
const keys = (context: BuiltinContext, obj: ObjectValue): Value[] => madeList(context, Object.keys(obj));
const copyOf = (context: BuiltinContext, v: Value): Value => deepCopyCounted(v, (bytes) => context.charge(bytes));
const clone = (procedure: string) => (context: BuiltinContext, obj: Value) =>
  isObject(obj) || Array.isArray(obj)
    ? copyOf(context, obj)
    : fail('cascade.procedure.parameter.type', procedure, 'obj', 'Object', typeOf(obj));

/** Objects by key, Lists by index, else the source replaces. What comes from the source is copied. */
function deepMerge(context: BuiltinContext, target: Value, source: Value, whole = source, depth = 0): Value {
  if (depth > MAX_DEPTH) failDeep('source', whole);
  if (isObject(target) && isObject(source)) {
    for (const key of Object.keys(source)) {
      const value = source[key] as Value;
      put(
        context,
        target,
        key,
        Object.hasOwn(target, key) ? deepMerge(context, target[key] as Value, value, whole, depth + 1) : copyOf(context, value),
      );
    }
    return target;
  }
  if (Array.isArray(target) && Array.isArray(source)) {
    grow(context, target, Math.max(0, source.length - target.length));
    for (let i = 0; i < source.length; i++) {
      const value = source[i] as Value;
      target[i] = i < target.length ? deepMerge(context, target[i] as Value, value, whole, depth + 1) : copyOf(context, value);
    }
    return target;
  }
  return copyOf(context, source);
}

/** Those of the service's own properties that users set themselves. */
const SETTABLE = new Set(['ars_group', 'ars_properties']);

function stripSystemProperties(object: ObjectValue): ObjectValue {
  const result: ObjectValue = {};
  for (const key of Object.keys(object)) {
    if (key !== '_id' && (!key.startsWith('ars_') || SETTABLE.has(key))) setOwn(result, key, object[key] as Value);
  }
  return result;
}

export const objects: readonly Declaration[] = [
  {
    call: 'clear(obj: Object) => null',
    forms: 'FM',
    about: 'Removes every property; mutates.',
    mutates: true,
    run: (_, obj: ObjectValue) => {
      for (const key of Object.keys(obj)) delete obj[key];
      return null;
    },
  },
  {
    call: 'deleteKey(obj: Object, key: String) => any',
    forms: 'FM',
    about: 'Removes a property and gives its value; mutates.',
    mutates: true,
    run: deleteKey,
  },
  { call: 'remove(obj: Object, key: String) => any', forms: 'M', about: 'The same as deleteKey.', mutates: true, run: deleteKey },
  { call: 'has(obj: Object, key: String) => Boolean', forms: 'FM', about: 'Whether the property is there, be it null.', run: has },
  { call: 'containsKey(obj: Object, key: String) => Boolean', forms: 'M', about: 'The same as has.', run: has },
  {
    call: 'get(obj: Object, key: String) => any',
    forms: 'M',
    about: 'The value, null when absent.',
    run: (_, obj: ObjectValue, key: string) => getOwn(obj, key),
  },
  {
    call: 'getOrDefault(obj: Object, key: String, defaultValue: any|null) => any',
    forms: 'M',
    about: 'The value, or the default when absent.',
    run: (_, obj: ObjectValue, key: string, fallback: Value) => (Object.hasOwn(obj, key) ? getOwn(obj, key) : fallback),
  },
  {
    call: 'put(obj: Object, key: String, value: any|null) => any',
    forms: 'M',
    about: 'Sets and gives the previous value; mutates.',
    mutates: true,
    run: put,
  },
  { call: 'keySet(obj: Object) => List', forms: 'FM', about: 'The names of the properties in their order.', run: keys },
  { call: 'keys(obj: Object) => List', forms: 'FM', about: 'The same as keySet.', run: keys },
  {
    call: 'values(obj: Object) => List',
    forms: 'FM',
    about: 'The values in the order of the properties.',
    run: (context, obj: ObjectValue) => madeList(context, Object.values(obj)),
  },
  {
    call: 'entrySet(obj: Object) => List',
    forms: 'FM',
    about: '`{key, value}` for every property.',
    run: (context, obj: ObjectValue) =>
      madeList(
        context,
        Object.entries(obj).map(([key, value]) => ({ key, value })),
      ),
  },
  {
    call: 'size(obj: Object) => Integer',
    forms: 'M',
    about: 'The number of properties.',
    run: (_, obj: ObjectValue) => Object.keys(obj).length,
  },
  {
    call: 'isEmpty(obj: Object) => Boolean',
    forms: 'M',
    about: 'Whether there is no property.',
    run: (_, obj: ObjectValue) => Object.keys(obj).length === 0,
  },
  {
    call: 'equals(obj: Object, other: any|null) => Boolean',
    forms: 'M',
    about: 'Whether other is an equal Object.',
    run: (_, obj: ObjectValue, other: Value) => deepEquals(obj, other),
  },
  {
    call: 'Object.clone(obj: any) => Object',
    forms: 'S',
    about: 'A deep copy of an Object or List.',
    errors: ['cascade.lang.range'],
    run: clone('Object.clone'),
  },
  {
    call: 'Utils.clone(obj: any) => Object',
    forms: 'S',
    about: 'The same as Object.clone; deprecated.',
    errors: ['cascade.lang.range'],
    run: clone('Utils.clone'),
  },
  {
    call: 'Utils.deepMerge(target: Object, source: Object) => Object',
    forms: 'S',
    about: 'Merges source into target: Objects by key, Lists by index; mutates.',
    mutates: true,
    errors: ['cascade.lang.range'],
    run: (context, target: ObjectValue, source: ObjectValue) => deepMerge(context, target, source),
  },
  {
    call: 'Utils.stripSystemProperties(object: Object|null) => Object',
    forms: 'S',
    about: 'A new Object without _id and the properties of the service.',
    run: (_, object: ObjectValue | null) => object && stripSystemProperties(object),
  },
];
