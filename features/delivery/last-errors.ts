// The errors with which rules have ended on events that wait for an acknowledgement, for their dead letters (integrations.md 12.4). An error
// is kept in memory until the next delivery stores it; what is beyond the bound, or is newer than the last delivery when the process ends, is
// not told of.
import { cutText } from '../../stdlib/values/index.ts';
import type { ObjectId } from 'mongodb';

export interface LastError {
  readonly code: string;
  readonly message: string;
}

const MOST = 2_000;
const LONGEST_MESSAGE = 1_024;

export class LastErrors {
  readonly #errors = new Map<string, LastError>();

  add(id: ObjectId, { code, message }: LastError): void {
    const key = id.toHexString();
    this.#errors.delete(key); // moves it to the end
    this.#errors.set(key, { code, message: cutText(message, LONGEST_MESSAGE) });
    if (this.#errors.size > MOST) for (const oldest of this.#errors.keys()) return void this.#errors.delete(oldest);
  }

  /** It is kept elsewhere now; another one that came meanwhile stays. */
  stored(id: ObjectId, error: LastError): void {
    const key = id.toHexString();
    if (this.#errors.get(key) === error) this.#errors.delete(key);
  }

  of(id: ObjectId): LastError | null {
    return this.#errors.size === 0 ? null : (this.#errors.get(id.toHexString()) ?? null);
  }
}
