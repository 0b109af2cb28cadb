// JSON text to values, exact (resources-and-api.md 1.4): JSON.parse where it cannot lose anything, else the exact parser.
import { isUtf8 } from 'node:buffer';
import { JsonProblem, MAX_DATA_DEPTH, type Value } from '../../stdlib/values/index.ts';
import { type CascadeError, apiError } from '../errors/index.ts';
import { exactReader, type JsonReports, parseExactly } from './exact-json.ts';
import { suitsJsonParse } from './plain-json.ts';

/** What a client sends may hold as many members and elements at all depths: a body of 10 MB has room for millions, and each costs more than its bytes. */
export const MAX_BODY_VALUES = 500_000;

export interface ParseJsonOptions {
  maxDepth?: number;
  /** Any number by default. */
  maxValues?: number;
  /** The error for a text that is no JSON: `reason` in words, `offset` in bytes of UTF-8. */
  refuse?: (reason: string, offset: number) => CascadeError;
  /** Told where each text begins that has a lone surrogate, for who can say more about it; absent: they are refused. */
  onLoneSurrogate?: (offset: number) => void;
  /** Told where each number begins that is beyond every double; it becomes a Real with its digits. */
  onBeyondDoubles?: (offset: number) => void;
}

const bodyInvalid = (reason: string, offset: number): CascadeError => apiError('cascade.request.body.invalid', reason, offset);

/**
 * Integers are exact over 64 bits, a number with point or exponent is a Real, the last of equal member names wins, `__proto__` is plain data.
 * An integer beyond 64 bits and a Real whose double does not hold its digits keep them in `Real.text` (exact-json.ts).
 */
export function parseJson(source: string | Uint8Array, options: ParseJsonOptions = {}): Value {
  const { maxDepth = MAX_DATA_DEPTH, maxValues = Number.POSITIVE_INFINITY, refuse = bodyInvalid } = options;
  const text = typeof source === 'string' ? source : decode(source, refuse);
  if (suitsJsonParse(text, maxDepth, maxValues) && (typeof source !== 'string' || text.isWellFormed())) {
    try {
      return JSON.parse(text) as Value;
    } catch {
      // The exact parser below finds the same error, and its place.
    }
  }
  try {
    return parseExactly(text, { maxDepth, maxValues }, inBytes(text, options));
  } catch (error) {
    throw refused(error, text, refuse);
  }
}

/** Characters between two looks at the clock. */
const PIECE = 2_048;
/** What is read in one go; how much that is depends on what stands there: numbers take ten times as long as texts. */
const SLICE_MS = 1;

/**
 * As parseJson, for a long text: others have their turn between two pieces of it.
 * @param pause gives the others their turn; before each slice, the first included
 * @param now milliseconds of a steady clock; a parameter for the tests
 */
export async function parseLongJson(
  source: Uint8Array,
  pause: () => Promise<void>,
  options: ParseJsonOptions = {},
  now: () => number = () => performance.now(),
): Promise<Value> {
  const { maxDepth = MAX_DATA_DEPTH, maxValues = Number.POSITIVE_INFINITY, refuse = bodyInvalid } = options;
  await pause();
  let until = now() + SLICE_MS;
  const text = decode(source, refuse);
  const reader = exactReader(text, { maxDepth, maxValues }, inBytes(text, options));
  try {
    while (!reader.read(PIECE)) {
      if (now() < until) continue;
      await pause();
      until = now() + SLICE_MS;
    }
  } catch (error) {
    throw refused(error, text, refuse);
  }
  return reader.value;
}

const inBytes = (text: string, { onLoneSurrogate, onBeyondDoubles }: ParseJsonOptions): JsonReports => {
  const reportInBytes = (report: ((offset: number) => void) | undefined) =>
    report && ((index: number) => report(Buffer.byteLength(text.slice(0, index))));
  return { onLoneSurrogate: reportInBytes(onLoneSurrogate), onBeyondDoubles: reportInBytes(onBeyondDoubles) };
};

const refused = (error: unknown, text: string, refuse: NonNullable<ParseJsonOptions['refuse']>): unknown =>
  error instanceof JsonProblem ? refuse(error.reason, Buffer.byteLength(text.slice(0, error.index))) : error;

function decode(bytes: Uint8Array, refuse: NonNullable<ParseJsonOptions['refuse']>): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (isUtf8(buffer)) return text;
  // Bytes that are no UTF-8 came out as U+FFFD: encoded again, the text differs from them first at the first such byte.
  const again = Buffer.from(text);
  const first = buffer.findIndex((byte, index) => byte !== again[index]);
  throw refuse('invalid UTF-8', first < 0 ? buffer.length : first);
}
