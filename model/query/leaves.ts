// The values that a path leads to in an instance: through arrays of Objects, and by position (resources-and-api.md 3.1, language.md W8). In
// the XML of a message (integrations.md 2.7) it leads through children and attributes to their text.
import { Currency, isObject, type Value, XmlNode } from '../../stdlib/values/index.ts';
import type { ConditionPath } from './types.ts';

export interface Leaves {
  /** What was found, arrays as one value. */
  readonly values: Value[];
  /** What was found by its position in an array: an array there does not stand for its elements. */
  readonly positioned: Value[];
  /** Some way ended before the path did. */
  missing: boolean;
}

export function leavesOf(root: Value, path: ConditionPath): Leaves {
  const leaves: Leaves = { values: [], positioned: [], missing: false };
  if (!path.known) return leaves;
  collect(root, path.steps, 0, leaves);
  if (path.part === null) return leaves;
  const part = path.part;
  const parts = (values: Value[]): Value[] => values.map((value) => partOf(value, part));
  return { values: parts(leaves.values), positioned: parts(leaves.positioned), missing: leaves.missing };
}

/**
 * The value at a path of one step, when nothing but that value counts: it is there, not null, and no array.
 * @returns undefined when the leaves must be looked at
 */
export function plainValue(root: Value, path: ConditionPath): Value | undefined {
  if (path.steps.length !== 1 || path.part !== null || !isObject(root)) return undefined;
  const step = path.steps[0] as string;
  const value = Object.hasOwn(root, step) ? root[step] : null;
  return value === null || Array.isArray(value) ? undefined : value;
}

/** The same as `leavesOf` from a value that may be an array itself: then it stands for its elements, too. */
export function leavesThrough(root: Value, path: ConditionPath): Leaves {
  const step = path.steps[0];
  if (path.steps.length === 1 && path.part === null && isObject(root)) {
    const there = Object.hasOwn(root, step as string);
    return { values: there ? [root[step as string] as Value] : [], positioned: [], missing: !there };
  }
  if (!Array.isArray(root) && step !== undefined) return leavesOf(root, path);
  const leaves: Leaves = { values: [], positioned: [], missing: false };
  descend(root, path.steps, 0, leaves);
  return leaves;
}

function partOf(value: Value, part: 'code' | 'value'): Value {
  if (Array.isArray(value)) return value.map((element) => partOf(element, part));
  if (!(value instanceof Currency)) return null;
  return part === 'code' ? value.code : value.amount;
}

const POSITION = /^(?:0|[1-9][0-9]{0,8})$/;
/** Whether a step may be a position in an array. */
export const isPosition = (step: string): boolean => POSITION.test(step);

/** `root` is an Object, or an array seen as one with its positions as names (an element of an array in `$elemMatch`). */
export function collect(root: Value, steps: readonly string[], at: number, leaves: Leaves): void {
  const step = steps[at] as string;
  if (isObject(root)) {
    if (Object.hasOwn(root, step)) descend(root[step] as Value, steps, at + 1, leaves);
    else leaves.missing = true;
  } else if (Array.isArray(root)) {
    if (isPosition(step) && Number(step) < root.length) descend(root[Number(step)] as Value, steps, at + 1, leaves);
    else leaves.missing = true;
  } else if (root instanceof XmlNode) {
    const found = root.property(step);
    if (found === null) leaves.missing = true;
    else descend(found, steps, at + 1, leaves);
  } else leaves.missing = true;
}

/**
 * XML compares as its text: a list as the text of the whole and, like an array, as that of each element. An empty one is not there, though
 * its text is "".
 */
function addXml(node: XmlNode, leaves: Leaves): void {
  leaves.values.push(node.text());
  if (node.elements.length === 0) leaves.missing = true;
  if (node.elements.length > 1) for (const element of node.elements) leaves.values.push(element.text());
}

function descend(value: Value, steps: readonly string[], at: number, leaves: Leaves): void {
  if (at === steps.length) {
    if (value instanceof XmlNode) addXml(value, leaves);
    else leaves.values.push(value);
  } else if (Array.isArray(value)) {
    const step = steps[at] as string;
    if (isPosition(step) && Number(step) < value.length) {
      const found = value[Number(step)] as Value;
      if (at + 1 === steps.length) leaves.positioned.push(found);
      else descend(found, steps, at + 1, leaves);
    }
    for (const element of value) if (isObject(element)) collect(element, steps, at, leaves);
  } else {
    collect(value, steps, at, leaves);
  }
}
