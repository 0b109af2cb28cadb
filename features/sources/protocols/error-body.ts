// The body of an answer that tells of a failure, as a parameter of the error: logs, records of runs and dead letters store it.
import type { HttpAnswer } from '../http/index.ts';

const MOST_BYTES = 32_768;

/** @param read the value of the body, where it is short enough: of a longer one the beginning is shown, as text */
export async function bodyOfFailure<T>(answer: HttpAnswer, read: () => Promise<T>): Promise<T | string> {
  if (answer.body.length <= MOST_BYTES) return read();
  const shown = answer.body.toString('utf8', 0, MOST_BYTES).replace(/\ufffd{1,3}$/, ''); // a character that was cut
  return `${shown}…`;
}
