// The `_id` of a new instance: 4 bytes of the second, 5 of the newest ownership of the process, 3 of a counter, so that ids ascend as they are given
// (resources-and-api.md 1.3).

/** What the three bytes of the counter hold. */
const PER_SECOND = 0x1000000;

/**
 * Ids that ascend strictly, whatever the clock does: it never goes back here, and a full second borrows from the next. No other process
 * has the number in their middle, which rises with each namespace that this one acquires: its ids there are above those of former owners.
 */
export class IdGenerator {
  readonly #now: () => number;
  readonly #perSecond: number;
  #ownership: number;
  #second = 0;
  #counter = 0;
  #beginning = '';

  /** @param ownership a number below 2^40 @param now milliseconds since the epoch */
  constructor(ownership: number, now: () => number, perSecond = PER_SECOND) {
    this.#ownership = ownership;
    this.#now = now;
    this.#perSecond = perSecond;
  }

  /** The second of the newest id; 0: none was given. */
  get second(): number {
    return this.#second;
  }

  /** @returns 24 hexadecimal digits */
  next(): string {
    const current = Math.floor(this.#now() / 1000);
    if (current > this.#second) this.#begin(current);
    else if (this.#counter === this.#perSecond) this.#begin(this.#second + 1);
    return this.#beginning + digits(this.#counter++, 3);
  }

  /** From now on ids are above those of the second that have a lower number in their middle. */
  follow(second: number, ownership: number): void {
    this.#ownership = Math.max(this.#ownership, ownership);
    if (second > this.#second) this.#begin(second);
    else this.#beginning = digits(this.#second, 4) + digits(this.#ownership, 5);
  }

  #begin(second: number): void {
    this.#second = second;
    this.#counter = 0;
    this.#beginning = digits(second, 4) + digits(this.#ownership, 5);
  }
}

const digits = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0');

// State of a module: there must be one counter a process, however many engines it holds.
let clock: () => number = Date.now;
const ofThisProcess = new IdGenerator(0, () => clock());

/** From now on ids have the time of a clock that is the same for all processes of the installation, and goes on where the machine's is set. */
export function idsBy(now: () => number): void {
  clock = now;
}

/** The next id of this process. */
export const newId = (): string => ofThisProcess.next();

/** The second of the newest id of this process; 0: none was given. */
export const newestIdSecond = (): number => ofThisProcess.second;

/** Room for the epochs of an installation, in the 40 bits of an ownership. */
const INSTALLATIONS = 2 ** 39;

/**
 * The number of an ownership in ids. Epochs count from 1 in each installation: those of another begin elsewhere, so that no two give the
 * same id to different instances.
 * @param uuid the installation's own, by chance; absent where nothing is stored
 */
export const ownershipOf = (uuid: string | undefined, epoch: number): number =>
  epoch + (uuid === undefined ? 0 : Number.parseInt(uuid.replaceAll('-', '').slice(0, 10), 16) % INSTALLATIONS);

/**
 * Ids of this process are above all that the former owners of a namespace have given there.
 * @param second the second of the newest of them
 * @param ownership that of this process, whose epoch is the highest and no other process's
 */
export const followIds = (second: number, ownership: number): void => ofThisProcess.follow(second, ownership);
