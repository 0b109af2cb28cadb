// JSON Patch (RFC 6902) on the external form of an instance (resources-and-api.md 2.8). A path may lack its leading slash.

import { isServiceSet } from '../../model/types/index.ts';
import { eq } from '../../stdlib/operators/index.ts';
import { deepCopy, getOwn, isNumber, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { MAX_BODY_VALUES } from '../../model/values/index.ts';

/** Bound of the operations of a patch. */
const MOST_OPERATIONS = 10_000;
/** Bound of what `copy` adds: values, and characters of texts and names. It is the largest size of an instance. */
const MOST_COPIED = 15 * 1024 * 1024;
/** Bound of the values that `copy` adds, which take far more memory than they count above: as many as a body may hold. */
const MOST_COPIED_VALUES = MAX_BODY_VALUES;
/** Bound of the array elements that operations move, which takes about a second. */
const MOST_MOVED = 100_000_000;

/** The remaining budget of a patch: the process serves nobody else while it is applied. */
interface Budget {
  copied: number;
  values: number;
  moved: number;
}

/**
 * The properties that the operations change, as they are after all of them; null for removed ones. The instance itself is not modified.
 * @param instance in its external form, against which a `test` compares
 * @param removed gets the names of removed properties
 * @param byValue lists of which `remove` of `/<name>/-` takes the elements that are equal to its `value`, after both are converted to one
 *   form
 * @throws cascade.patch.…; cascade.request.too.many.instances and cascade.resource.too.large beyond the budget
 */
export function patchChanges(
  instance: ObjectValue,
  patch: Value,
  removed: Set<string> = new Set(),
  byValue: Readonly<Record<string, (element: Value) => Value>> = {},
): ObjectValue {
  if (!Array.isArray(patch) && !isObject(patch)) throw apiError('cascade.request.body.invalid', 'a JSON Patch is expected', 0);
  const patched = deepCopy(instance) as ObjectValue;
  const touched = new Set<string>();
  const operations = Array.isArray(patch) ? patch : [patch];
  if (operations.length > MOST_OPERATIONS) throw apiError('cascade.request.too.many.instances', MOST_OPERATIONS);
  const budget: Budget = { copied: MOST_COPIED, values: MOST_COPIED_VALUES, moved: MOST_MOVED };
  for (const operation of operations) applyOne(patched, operation, touched, budget, byValue);
  const changes: ObjectValue = {};
  for (const name of touched) {
    const isThere = Object.hasOwn(patched, name);
    if (!isThere && Object.hasOwn(instance, name)) removed.add(name);
    setOwn(changes, name, isThere ? getOwn(patched, name) : null);
  }
  return changes;
}

function applyOne(
  root: ObjectValue,
  operation: Value,
  touched: Set<string>,
  budget: Budget,
  byValue: Readonly<Record<string, (element: Value) => Value>>,
): void {
  if (!isObject(operation)) throw apiError('cascade.patch.invalid', '', '');
  const op = textOf(operation, 'op');
  const path = textOf(operation, 'path');
  if (op === null || path === null) throw apiError('cascade.patch.invalid', op ?? '', path ?? '');
  const steps = stepsOf(op, path);
  if (op !== 'test') touched.add(steps[0] as string);
  const value = (): Value => {
    if (!Object.hasOwn(operation, 'value')) throw apiError('cascade.patch.invalid', op, path);
    return getOwn(operation, 'value');
  };
  const from = (): string[] => {
    const source = textOf(operation, 'from');
    if (source === null) throw apiError('cascade.patch.invalid', op, path);
    return stepsOf(op, source);
  };
  switch (op) {
    case 'add':
      return add(root, steps, value(), op, path, budget);
    case 'replace':
      read(root, steps, op, path);
      return put(root, steps, value(), op, path);
    case 'remove':
      if (steps.length === 2 && steps[1] === '-' && Object.hasOwn(byValue, steps[0] as string) && Object.hasOwn(operation, 'value'))
        return removeValue(root, steps[0] as string, value(), byValue[steps[0] as string]!);
      read(root, steps, op, path);
      return remove(root, steps, op, path, budget);
    case 'copy': {
      const source = read(root, from(), op, path);
      spendCopy(source, budget);
      return add(root, steps, deepCopy(source), op, path, budget);
    }
    case 'move': {
      const source = from();
      touched.add(source[0] as string);
      // Into itself (RFC 6902 4.4): where it is an element of an array, the next one would be in its place.
      if (source.length < steps.length && source.every((step, i) => step === steps[i]))
        throw apiError('cascade.patch.path.missing', op, path);
      const moved = read(root, source, op, path);
      remove(root, source, op, path, budget);
      return add(root, steps, moved, op, path, budget);
    }
    case 'test':
      if (!sameJson(read(root, steps, op, path), value())) throw apiError('cascade.patch.test.failed', path);
      return;
    default:
      throw apiError('cascade.patch.invalid', op, path);
  }
}

function stepsOf(op: string, path: string): string[] {
  const text = path.startsWith('/') ? path.slice(1) : path;
  const steps = text.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (isServiceSet(steps[0] ?? '')) throw apiError('cascade.patch.path.forbidden', op, path);
  return steps;
}

function spendCopy(value: Value, budget: Budget): void {
  budget.copied -= typeof value === 'string' ? 1 + value.length : 1;
  budget.values--;
  if (budget.copied < 0 || budget.values < 0) throw apiError('cascade.resource.too.large', MOST_COPIED);
  if (Array.isArray(value)) for (const element of value) spendCopy(element, budget);
  else if (isObject(value))
    for (const name of Object.keys(value)) {
      budget.copied -= name.length;
      spendCopy(getOwn(value, name), budget);
    }
}

function spendMove(elements: number, budget: Budget): void {
  budget.moved -= elements;
  if (budget.moved < 0) throw apiError('cascade.resource.too.large', MOST_COPIED);
}

/** Equality of JSON (RFC 6902 4.6): no conversions, numbers by value, members in any order. */
function sameJson(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return eq(a, b);
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((element, i) => sameJson(element, b[i] as Value));
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && sameJson(getOwn(a, name), getOwn(b, name)))
  );
}

const textOf = (operation: ObjectValue, name: string): string | null => {
  const value = Object.hasOwn(operation, name) ? getOwn(operation, name) : null;
  return typeof value === 'string' ? value : null;
};

/** The object or array that contains the last step of a path. */
function holder(root: ObjectValue, steps: readonly string[], op: string, path: string): ObjectValue | Value[] {
  let current: Value = root;
  for (const step of steps.slice(0, -1)) current = child(current, step, op, path);
  if (Array.isArray(current) || isObject(current)) return current;
  throw apiError('cascade.patch.path.missing', op, path);
}

function child(value: Value, step: string, op: string, path: string): Value {
  if (Array.isArray(value)) {
    const index = position(value, step);
    if (index !== null && index < value.length) return value[index] as Value;
  } else if (isObject(value) && Object.hasOwn(value, step)) return getOwn(value, step);
  throw apiError('cascade.patch.path.missing', op, path);
}

const position = (array: readonly Value[], step: string): number | null =>
  step === '-' ? array.length : /^(0|[1-9][0-9]*)$/.test(step) && Number(step) <= array.length ? Number(step) : null;

const read = (root: ObjectValue, steps: readonly string[], op: string, path: string): Value =>
  child(holder(root, steps, op, path), steps[steps.length - 1] as string, op, path);

function add(root: ObjectValue, steps: readonly string[], value: Value, op: string, path: string, budget: Budget): void {
  const last = steps[steps.length - 1] as string;
  // Appending to a property that is null or absent creates its array.
  if (last === '-' && steps.length === 2) {
    const property = steps[0] as string;
    if (!Object.hasOwn(root, property) || getOwn(root, property) === null) return setOwn(root, property, [value]);
  }
  const target = holder(root, steps, op, path);
  if (!Array.isArray(target)) return setOwn(target, last, value);
  const index = position(target, last);
  if (index === null) throw apiError('cascade.patch.path.missing', op, path);
  spendMove(target.length - index, budget);
  target.splice(index, 0, value);
}

function put(root: ObjectValue, steps: readonly string[], value: Value, op: string, path: string): void {
  const target = holder(root, steps, op, path);
  const last = steps[steps.length - 1] as string;
  if (Array.isArray(target)) target[Number(last)] = value;
  else setOwn(target, last, value);
}

/** Removes the elements that equal the value, if any. */
function removeValue(root: ObjectValue, name: string, value: Value, formOf: (element: Value) => Value): void {
  const list = Object.hasOwn(root, name) ? getOwn(root, name) : null;
  const wanted = formOf(value);
  if (Array.isArray(list))
    setOwn(
      root,
      name,
      list.filter((element) => !sameJson(formOf(element), wanted)),
    );
}

function remove(root: ObjectValue, steps: readonly string[], op: string, path: string, budget: Budget): void {
  const target = holder(root, steps, op, path);
  const last = steps[steps.length - 1] as string;
  if (Array.isArray(target)) {
    spendMove(target.length - Number(last), budget);
    target.splice(Number(last), 1);
  } else delete target[last];
}
