// rhea, changed where it reads: Integers and instants are exact, and a message that cannot be read is that message's fate and not the
// connection's, which the broker would deliver it to again and again. It writes nothing to the console. These are internal parts: its version
// is pinned.
import rhea, { type Message } from 'rhea';

const ULONG = 0x80;
const LONG = 0x81;
const TIMESTAMP = 0x83;
/** Instants of the language are at most so far from the epoch. */
const MOST_MS = 8_640_000_000_000_000n;
/** Elements of the arrays of one message: elements of some types take no bytes, so that a short message could name billions of them. */
const MOST_ELEMENTS = 1_000_000;

/** In place of a message: why it cannot be read. */
export class Unreadable {
  readonly reason: string;
  constructor(error: unknown) {
    this.reason = error instanceof Error ? error.message : String(error);
  }
}

type Reads = (bytes: Buffer, offset: number) => unknown;
interface Reader {
  elements?: number;
}
interface Internals {
  readonly by_code: Readonly<Record<number, { read: Reads }>>;
  readonly Reader: { readonly prototype: { read_array_items(this: Reader, count: number, type: unknown): unknown[] } };
}

const exact = (value: bigint): number | bigint => (Number.isSafeInteger(Number(value)) ? Number(value) : value);

function readExactly({ by_code: types, Reader: { prototype } }: Internals): void {
  types[ULONG]!.read = (bytes, offset) => exact(bytes.readBigUInt64BE(offset));
  types[LONG]!.read = (bytes, offset) => exact(bytes.readBigInt64BE(offset));
  types[TIMESTAMP]!.read = (bytes, offset) => {
    const ms = bytes.readBigInt64BE(offset);
    return ms <= MOST_MS && ms >= -MOST_MS ? new Date(Number(ms)) : exact(ms);
  };
  const read = prototype.read_array_items;
  prototype.read_array_items = function (count, type) {
    this.elements = (this.elements ?? 0) + count;
    if (this.elements > MOST_ELEMENTS) throw new RangeError(`arrays of more than ${MOST_ELEMENTS} elements`);
    return read.call(this, count, type);
  };
}

function readSafely(messages: { decode(bytes: Buffer): Message | Unreadable }): void {
  const { decode } = messages;
  messages.decode = (bytes) => {
    try {
      return decode(bytes);
    } catch (error) {
      return new Unreadable(error);
    }
  };
}

type Handlers = Record<'input' | 'output' | '_disconnected', (this: unknown, ...given: unknown[]) => unknown>;

/**
 * It tells the console of the process what it thinks of frames and messages, which a broker may send as many of as it likes. What matters is an
 * event as well.
 */
function workQuietly(connection: Handlers): void {
  const nothing = (): void => undefined;
  for (const name of ['input', 'output', '_disconnected'] as const) {
    const work = connection[name];
    connection[name] = function (...given) {
      const { warn, error } = console;
      Object.assign(console, { warn: nothing, error: nothing });
      try {
        return work.apply(this, given);
      } finally {
        Object.assign(console, { warn, error });
      }
    };
  }
}

workQuietly(Object.getPrototypeOf(rhea.create_container().create_connection()) as Handlers);
readExactly(rhea.types as unknown as Internals);
readSafely(rhea.message as unknown as { decode(bytes: Buffer): Message | Unreadable });

export default rhea;
