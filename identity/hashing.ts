// How passwords are hashed: at one cost, and so many at one time, since each takes memory and a core, and whoever is there may ask for it.
import { apiError } from '../model/errors/index.ts';
import { HASHES_AT_ONCE, hashPassword, isOutdated, matchesPassword, PASSWORD_COST, type PasswordCost } from './passwords.ts';

const MOST_WAITING = 50;
const RETRY_AFTER_SECONDS = 1;

/** A bounded line: so many at once, so many waiting, the others are refused. */
export class HashingLine {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws security.rate.limited: too many are waiting */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= HASHES_AT_ONCE) {
      if (this.#waiting.length >= MOST_WAITING) throw apiError('cascade.security.rate.limited', RETRY_AFTER_SECONDS);
      await new Promise<void>((go) => this.#waiting.push(go)); // the place is handed on
    } else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

export class PasswordHashing {
  readonly #line = new HashingLine();
  readonly #cost: PasswordCost;

  constructor(cost: PasswordCost = PASSWORD_COST) {
    this.#cost = cost;
  }

  /** @throws security.rate.limited */
  hash(password: string): Promise<string> {
    return this.#line.run(() => hashPassword(password, this.#cost));
  }

  /**
   * Compares a password, in its turn.
   * @param lookUp what there is to compare with, asked when its turn has come; null: no such user
   * @returns what was found, when the password is its; and its hash of the present cost, where it was of a lower one
   * @throws security.rate.limited, and what `lookUp` throws
   */
  compare<T extends { password: string }>(
    password: string,
    lookUp: () => Promise<T | null>,
  ): Promise<{ found: T; renewed?: string } | null> {
    return this.#line.run(async () => {
      const found = await lookUp();
      const matches = await matchesPassword(password, found?.password ?? null, this.#cost);
      if (!found || !matches) return null;
      return isOutdated(found.password, this.#cost) ? { found, renewed: await hashPassword(password, this.#cost) } : { found };
    });
  }
}
