// How a trigger of a WHEN clause begins (language.md 2.2): asked by the triggers themselves and by conditions, where OR may be of either.
import type { Cursor } from './cursor.ts';

const OPERATIONS = ['insert', 'update', 'delete', 'request', 'publish', 'event'];

/** Do these tokens begin a trigger, in any number of parentheses? */
export function startsTrigger(p: Cursor, ahead = 0): boolean {
  let at = ahead;
  while (p.at('(', at)) at += 1;
  return startsSingle(p, at);
}

export function startsSingle(p: Cursor, ahead = 0): boolean {
  if (p.at('occurs', ahead)) return p.at('on', ahead + 1);
  if (p.at('message', ahead)) return p.at('arrives', ahead + 1);
  return isOperation(p, ahead) && p.at('occurs', ahead + 1);
}

export const isOperation = (p: Cursor, ahead = 0): boolean => OPERATIONS.some((word) => p.at(word, ahead));
