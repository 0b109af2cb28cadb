// The `_id` of a new instance: 4 bytes of the second, 5 of the process, 3 of a counter, so that ids ascend as they are given
// (resources-and-api.md 1.3).

/** What the three bytes of the counter hold. */
const PER_SECOND = 0x1000000;

/**
 * Ids that ascend strictly, whatever the clock does: it never goes back here, and a full second borrows from the next.
 * @param process a number below 2^40, higher for a later process of the installation
 * @param now milliseconds since the epoch
 * @returns their 24 digits
 */
export function idGenerator(process: number, now: () => number, perSecond = PER_SECOND): () => string {
  const middle = digits(process, 5);
  let second = 0;
  let counter = 0;
  let beginning = '';
  const begin = (next: number): void => {
    second = next;
    counter = 0;
    beginning = digits(second, 4) + middle;
  };
  return () => {
    const current = Math.floor(now() / 1000);
    if (current > second) begin(current);
    else if (counter === perSecond) begin(second + 1);
    return beginning + digits(counter++, 3);
  };
}

const digits = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0');

let ofThisProcess: (() => string) | null = null;
let clock: () => number = Date.now;

/** From now on ids have the time of a clock that is the same for all processes of the installation, and goes on where the machine's is set. */
export function idsBy(now: () => number): void {
  clock = now;
}

/**
 * The next id of this process, which is told from others by the millisecond of its first id. State of a module, as there must be one
 * counter a process however many engines it holds.
 */
export function newId(): string {
  ofThisProcess ??= idGenerator(clock() % 2 ** 40, () => clock());
  return ofThisProcess();
}
