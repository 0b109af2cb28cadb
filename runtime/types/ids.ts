// The `_id` of a new instance: 4 bytes of the second, 5 of the process, 3 of a counter, so that ids ascend as they are given
// (resources-and-api.md 1.3).
import { ObjectId } from 'mongodb';

/** What the three bytes of the counter hold. */
const PER_SECOND = 0x1000000;

/**
 * Ids that ascend strictly, whatever the clock does: it never goes back here, and a full second borrows from the next.
 * @param process a number below 2^40, higher for a later process of the installation
 * @param now milliseconds since the epoch
 */
export function idGenerator(process: number, now: () => number, perSecond = PER_SECOND): () => ObjectId {
  let second = 0;
  let counter = 0;
  return () => {
    const current = Math.floor(now() / 1000);
    if (current > second) {
      second = current;
      counter = 0;
    } else if (counter === perSecond) {
      second++;
      counter = 0;
    }
    const bytes = Buffer.allocUnsafe(12);
    bytes.writeUInt32BE(second, 0);
    bytes.writeUIntBE(process, 4, 5);
    bytes.writeUIntBE(counter++, 9, 3);
    return new ObjectId(bytes);
  };
}

let ofThisProcess: (() => ObjectId) | null = null;

/**
 * The next id of this process, which is told from others by the millisecond of its first id. State of a module, as there must be one
 * counter a process however many engines it holds.
 */
export function newId(): ObjectId {
  ofThisProcess ??= idGenerator(Date.now() % 2 ** 40, Date.now);
  return ofThisProcess();
}
