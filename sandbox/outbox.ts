// The text that a step gives back, as items. It comes from the other side of the border: what does not have the right form is refused.
// Values in it are passed on as text: a receiver decodes them when it needs to.
import type { Out } from '../stdlib/isolate/index.ts';

type With<Item extends Out, At extends string> = { [K in keyof Item]: K extends At ? string : Item[K] };
/** As in the protocol, with the texts in the places of their lengths. */
export type OutItem =
  | Exclude<Out, ['op' | 'done', ...unknown[]]>
  | With<Extract<Out, ['op', ...unknown[]]>, '5'>
  | With<Extract<Out, ['done', ...unknown[]]>, '2'>;

const LENGTHS: Record<Out[0], number> = { op: 7, resolve: 3, done: 4, ended: 3, fail: 4, slice: 4, log: 5 };

/** @throws SyntaxError, TypeError when it is no outbox */
export function readOutbox(text: string): OutItem[] {
  const behind = text.indexOf('\n'); // JSON as it is written there has none
  const items = JSON.parse(behind < 0 ? text : text.slice(0, behind)) as unknown;
  if (!Array.isArray(items)) throw new TypeError('the outbox is no array');
  for (const item of items as unknown[])
    if (!Array.isArray(item) || !Object.hasOwn(LENGTHS, String(item[0])) || item.length !== LENGTHS[item[0] as Out[0]])
      throw new TypeError('the outbox holds what is no item');
    else if (item[0] === 'ended' && !areRanges(item[1])) throw new TypeError('the outbox holds no list of runs');
  placeTexts(items as unknown[][], text, behind < 0 ? text.length : behind + 1);
  return items as OutItem[];
}

/** Where an item holds the length of a text. */
const TEXT_AT: Partial<Record<Out[0], number>> = { op: 5, done: 2 };

/** @throws TypeError unless the texts are just as long as the items say together */
function placeTexts(items: unknown[][], text: string, from: number): void {
  let at = from;
  for (const item of items) {
    const place = TEXT_AT[item[0] as Out[0]];
    if (place === undefined) continue;
    const length = item[place];
    if (!Number.isSafeInteger(length) || (length as number) < 1) throw new TypeError('the outbox names no length');
    item[place] = text.slice(at, (at += length as number));
  }
  if (at !== text.length) throw new TypeError('the outbox holds other texts than it names');
}

/** Ranges of more than there can be would keep the service busy. */
const MAX_ENDED = 1 << 20;

function areRanges(runs: unknown): boolean {
  if (!Array.isArray(runs) || runs.length % 2 !== 0) return false;
  let sum = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const [first, count] = [runs[i] as unknown, runs[i + 1] as unknown];
    if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || (count as number) < 1) return false;
    sum += count as number;
  }
  return sum <= MAX_ENDED;
}
