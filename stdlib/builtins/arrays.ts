// List built-ins (builtins.md 7). Sorting is in sorting.ts.
import { fail } from '../errors.ts';
import { deepEquals, eq } from '../operators/index.ts';
import { failDeep, MAX_DEPTH, originalOf, text, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import { COMPARED, type Declaration } from './declaration.ts';
import { grow, made, madeList, refuseLength } from './growth.ts';
import { sort } from './sorting.ts';
import { sliceBounds } from './strings.ts';

/** Of a built-in that does something with each element. */
const throughAll = (arr: Value[]): number => arr.length;
/** Of one that only moves them: they stand side by side in memory. */
const movingAll = (arr: Value[]): number => arr.length / 32;

const push = (context: BuiltinContext, arr: Value[], element: Value): boolean => {
  grow(context, arr, 1);
  arr.push(element);
  return true;
};
const includes = (_: BuiltinContext, arr: Value[], element: Value): boolean => arr.some((each) => eq(element, each));

/** Nested Lists in place, at every depth. */
function flatten(context: BuiltinContext, arr: Value[]): Value[] {
  const flat: Value[] = [];
  const visit = (list: Value[], depth: number): void => {
    if (depth > MAX_DEPTH) failDeep('arr', arr);
    for (const each of list) {
      if (Array.isArray(each)) visit(each, depth + 1);
      else {
        grow(context, flat, 1);
        flat.push(each);
      }
    }
  };
  visit(arr, 0);
  arr.length = 0;
  for (const each of flat) arr.push(each);
  return arr;
}

function join(context: BuiltinContext, arr: Value[], separator: string): string {
  let result = '';
  for (let i = 0; i < arr.length; i++) {
    const each = arr[i] as Value;
    result += (i === 0 ? '' : separator) + (each === null ? '' : text(each));
    refuseLength(result.length);
  }
  return made(context, result);
}

/** Removes in place what equals the element, all of it or the first; whether anything went. */
function remove(arr: Value[], element: Value, all: boolean): boolean {
  // Every comparison comes before the first move: one that fails leaves the List as it was.
  if (!all) {
    const at = arr.findIndex((each) => eq(element, each));
    if (at >= 0) arr.splice(at, 1);
    return at >= 0;
  }
  const goes = arr.map((each) => eq(element, each));
  let kept = 0;
  for (const [index, each] of arr.entries()) if (!goes[index]) arr[kept++] = each;
  const hasRemoved = kept < arr.length;
  arr.length = kept;
  return hasRemoved;
}

function removeAt(arr: Value[], index: number): Value {
  if (index < 0 || index >= arr.length) fail('cascade.lang.index', index, arr.length);
  return arr.splice(index, 1)[0] as Value;
}

function splice(context: BuiltinContext, arr: Value[], begin: number, deleteCount: number | null, list: Value[]): Value[] {
  const [from] = sliceBounds(arr.length, begin, null);
  const count = Math.max(0, Math.min(deleteCount ?? arr.length, arr.length - from));
  grow(context, arr, list.length);
  const tail = arr.slice(from + count);
  const removed = arr.slice(from, from + count);
  const inserted = list === arr ? list.slice() : list;
  arr.length = from;
  for (const each of inserted) arr.push(each);
  for (const each of tail) arr.push(each);
  return madeList(context, removed);
}

export const arrays: readonly Declaration[] = [
  { call: 'add(arr: List, element: any|null) => Boolean', forms: 'FM', about: 'Appends; mutates.', mutates: true, run: push },
  { call: 'push(arr: List, element: any|null) => Boolean', forms: 'FM', about: 'Appends; mutates.', mutates: true, run: push },
  {
    call: 'addAll(arr: List, elementArr: List) => Boolean',
    forms: 'FM',
    about: 'Appends all elements; whether there were any; mutates.',
    mutates: true,
    run: (context, arr: Value[], others: Value[]) => {
      grow(context, arr, others.length);
      for (const each of others.slice()) arr.push(each);
      return others.length > 0;
    },
  },
  {
    call: 'clear(arr: List) => null',
    forms: 'FM',
    about: 'Empties; mutates.',
    mutates: true,
    run: (_, arr: Value[]) => {
      arr.length = 0;
      return null;
    },
  },
  {
    call: 'concat(arr: List, joinedArray: any|Sequence) => List',
    forms: 'FM',
    about: 'A new List; what is no List is appended as one element.',
    run: (context, arr: Value[], joined: Value) => {
      grow(context, arr, Array.isArray(joined) ? joined.length : 1);
      // A shared Map is appended itself: its contents stand for it in the text of the other declaration.
      return madeList(context, Array.isArray(joined) ? arr.concat(joined) : [...arr, originalOf(joined)]);
    },
  },
  {
    call: 'contains(arr: List, element: any|null) => Boolean',
    forms: 'FM',
    about: 'Whether an element equals it.',
    errors: COMPARED,
    turns: throughAll,
    run: includes,
  },
  {
    call: 'includes(arr: List, element: any|null) => Boolean',
    forms: 'FM',
    about: 'Whether an element equals it.',
    errors: COMPARED,
    turns: throughAll,
    run: includes,
  },
  {
    call: 'fill(arr: List, value: any|null, begin: Integer = 0, end?: Integer) => List',
    forms: 'FM',
    about: 'Sets existing slots from begin to end; mutates.',
    mutates: true,
    turns: movingAll,
    run: (_, arr: Value[], value: Value, begin: number, end: number | null) => arr.fill(value, ...sliceBounds(arr.length, begin, end)),
  },
  {
    call: 'flatten(arr: List) => List',
    forms: 'FM',
    about: 'Nested Lists are replaced by their elements, at every depth; mutates.',
    mutates: true,
    errors: ['cascade.lang.range'],
    turns: throughAll,
    run: (context, arr: Value[]) => flatten(context, arr),
  },
  {
    call: 'get(arr: List, index: Integer) => any',
    forms: 'M',
    about: 'The element; outside: index error.',
    errors: ['cascade.lang.index'],
    run: (_, arr: Value[], index: number) => {
      if (index < 0 || index >= arr.length) fail('cascade.lang.index', index, arr.length);
      return arr[index] ?? null;
    },
  },
  {
    call: 'indexOf(arr: List, element: any|null) => Integer',
    forms: 'FM',
    about: 'The first position of an equal element, or -1.',
    errors: COMPARED,
    turns: throughAll,
    run: (_, arr: Value[], element: Value) => arr.findIndex((each) => eq(element, each)),
  },
  {
    call: 'lastIndexOf(arr: List, element: any|null) => Integer',
    forms: 'FM',
    about: 'The last position of an equal element, or -1.',
    errors: COMPARED,
    turns: throughAll,
    run: (_, arr: Value[], element: Value) => arr.findLastIndex((each) => eq(element, each)),
  },
  { call: 'isEmpty(arr: List) => Boolean', forms: 'M', about: 'Whether there is no element.', run: (_, arr: Value[]) => arr.length === 0 },
  {
    call: 'join(arr: List, separator: String = ",") => String',
    forms: 'FM',
    about: 'The texts of all elements; null is empty.',
    contents: true,
    errors: ['cascade.lang.range'],
    turns: throughAll,
    run: (context, arr: Value[], separator: string) => join(context, arr, separator),
  },
  { call: 'length(arr: List) => Integer', forms: 'FM', about: 'The number of elements.', run: (_, arr: Value[]) => arr.length },
  { call: 'size(arr: List) => Integer', forms: 'FM', about: 'The number of elements.', run: (_, arr: Value[]) => arr.length },
  {
    call: 'equals(arr: List, other: any|null) => Boolean',
    forms: 'M',
    about: 'Whether other is an equal List.',
    turns: throughAll,
    run: (_, arr: Value[], other: Value) => deepEquals(arr, other),
  },
  {
    call: 'pop(arr: List) => any',
    forms: 'FM',
    about: 'Removes and gives the last; mutates.',
    mutates: true,
    run: (_, arr: Value[]) => arr.pop() ?? null,
  },
  {
    call: 'shift(arr: List) => any',
    forms: 'FM',
    about: 'Removes and gives the first; mutates.',
    mutates: true,
    turns: movingAll,
    run: (_, arr: Value[]) => arr.shift() ?? null,
  },
  {
    call: 'unshift(arr: List, element: any|null) => null',
    forms: 'FM',
    about: 'Inserts in front; mutates.',
    mutates: true,
    turns: movingAll,
    run: (context, arr: Value[], element: Value) => {
      grow(context, arr, 1);
      arr.unshift(element);
      return null;
    },
  },
  {
    call: 'remove(arr: List, element: any|null) => Boolean',
    forms: 'FM',
    about: 'Removes all equal elements; mutates.',
    mutates: true,
    errors: COMPARED,
    turns: throughAll,
    run: (_, arr: Value[], element: Value) => remove(arr, element, true),
  },
  {
    call: 'removeElement(arr: List, element: any|null) => Boolean',
    forms: 'FM',
    about: 'Removes the first equal element; mutates.',
    mutates: true,
    errors: COMPARED,
    turns: throughAll,
    run: (_, arr: Value[], element: Value) => remove(arr, element, false),
  },
  {
    call: 'removeAt(arr: List, index: Integer) => any',
    forms: 'FM',
    about: 'Removes and gives the element; outside: index error; mutates.',
    mutates: true,
    errors: ['cascade.lang.index'],
    turns: movingAll,
    run: (_, arr: Value[], index: number) => removeAt(arr, index),
  },
  {
    call: 'reverse(arr: List) => List',
    forms: 'FM',
    about: 'Turns the order around; mutates.',
    mutates: true,
    turns: movingAll,
    run: (_, arr: Value[]) => arr.reverse(),
  },
  {
    call: 'slice(arr: List, begin: Integer = 0, end?: Integer) => List',
    forms: 'FM',
    about: 'A new List from begin up to end; negative positions count from the end.',
    run: (context, arr: Value[], begin: number, end: number | null) => madeList(context, arr.slice(...sliceBounds(arr.length, begin, end))),
  },
  {
    call: 'sort(arr: List, property?: String) => List',
    forms: 'FM',
    about: 'Ascending and stable, null first; mutates.',
    mutates: true,
    errors: ['cascade.lang.currency.mismatch'],
    turns: (arr: Value[]) => arr.length * Math.log2(arr.length + 1),
    run: (_, arr: Value[], property: string | null) => sort(arr, property),
  },
  {
    call: 'splice(arr: List, begin: Integer, deleteCount?: Integer, list: List = []) => List',
    forms: 'FM',
    about: 'Replaces a part by the elements of list and gives what it removed; mutates.',
    mutates: true,
    turns: throughAll,
    run: (context, arr: Value[], begin: number, deleteCount: number | null, list: Value[]) =>
      splice(context, arr, begin, deleteCount, list),
  },
];
