// Several problems of one body, told at once.
import { CascadeError, CascadeErrors } from '../errors/index.ts';

/** Nobody reads more of them, and a body may hold a million: what has so many is not looked at any further. */
const MOST = 200;

export class Problems {
  readonly found: CascadeError[] = [];

  /** @throws them all when they are as many as are told */
  add(problem: CascadeError): void {
    this.found.push(problem);
    if (this.found.length >= MOST) this.raise();
  }

  /** Runs a check; what it refuses is kept, and undefined takes the place of its result. */
  attempt<T>(check: () => T): T | undefined {
    try {
      return check();
    } catch (error) {
      this.caught(error);
      return undefined;
    }
  }

  /** @throws what is no refusal; as add */
  caught(error: unknown): void {
    if (error instanceof CascadeErrors) for (const one of error.errors) this.add(one);
    else if (error instanceof CascadeError) this.add(error);
    else throw error;
  }

  /** @throws the one problem itself, several together */
  raise(): void {
    const [first, second] = this.found;
    if (second) throw new CascadeErrors(this.found);
    if (first) throw first;
  }
}
