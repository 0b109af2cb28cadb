// How deep values may nest: one bound for what a program works with, one for what the service takes from outside and keeps.
import { fail } from '../errors.ts';
import type { Value } from './kinds.ts';

/** Levels below the outermost List or Object that whatever walks through a value goes down; a cycle has more. */
export const MAX_DEPTH = 1000;
/** Levels of what is stored, comes in a request, or is told of by an error (resources-and-api.md 1.6, 5.9). */
export const MAX_DATA_DEPTH = 100;

/** Frames that a walk through nested values may have above those of the program: several for each level. */
const WALK_FRAMES = 5_000;

/**
 * `cascade.lang.range` from deep inside a walk through nested values: the error has its whole stack, so that the place in the program is
 * still in it. It says whether the value holds itself or just nests deeper than `MAX_DEPTH`.
 * @param whole where the walk began
 */
export function failDeep(parameter: string, whole: Value): never {
  const usual = Error.stackTraceLimit;
  Error.stackTraceLimit = WALK_FRAMES;
  try {
    return fail('cascade.lang.range', parameter, holdsItself(whole) ? 'a cycle' : `a depth of more than ${MAX_DEPTH}`);
  } finally {
    Error.stackTraceLimit = usual;
  }
}

const isOpenable = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether a value is reached from itself. Each is looked at once, and without recursion: it is deeper than a stack. */
function holdsItself(whole: Value): boolean {
  const done = new Set<unknown>();
  const open = new Set<unknown>();
  const way: { readonly value: object; readonly parts: readonly unknown[]; next: number }[] = [];
  const enter = (value: object): void => {
    open.add(value);
    way.push({ value, parts: Object.values(value), next: 0 });
  };
  if (isOpenable(whole)) enter(whole);
  for (let at = way.at(-1); at; at = way.at(-1)) {
    if (at.next >= at.parts.length) {
      open.delete(at.value);
      done.add(at.value);
      way.pop();
      continue;
    }
    const part = at.parts[at.next++];
    if (!isOpenable(part) || done.has(part)) continue;
    if (open.has(part)) return true;
    enter(part);
  }
  return false;
}
