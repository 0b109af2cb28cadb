// The text that a step gives back, as items. It comes from the other side of the border: what does not have the right form is refused.
import type { Out } from '../stdlib/isolate/protocol.ts';

const LENGTHS: Record<Out[0], number> = { op: 7, resolve: 3, done: 4, ended: 3, fail: 4, slice: 4, log: 5 };

/** @throws SyntaxError, TypeError when it is no outbox */
export function readOutbox(text: string): Out[] {
  const items = JSON.parse(text) as unknown;
  if (!Array.isArray(items)) throw new TypeError('the outbox is no array');
  for (const item of items as unknown[])
    if (!Array.isArray(item) || !Object.hasOwn(LENGTHS, String(item[0])) || item.length !== LENGTHS[item[0] as Out[0]])
      throw new TypeError('the outbox holds what is no item');
    else if (item[0] === 'ended' && !areRanges(item[1])) throw new TypeError('the outbox holds no list of runs');
  return items as Out[];
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
