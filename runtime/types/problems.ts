// Several problems of one body, told at once.
import { CascadeError, CascadeErrors } from '../faults.ts';

export class Problems {
  readonly found: CascadeError[] = [];

  add(problem: CascadeError): void {
    this.found.push(problem);
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

  /** @throws what is no refusal */
  caught(error: unknown): void {
    if (error instanceof CascadeErrors) this.found.push(...error.errors);
    else if (error instanceof CascadeError) this.found.push(error);
    else throw error;
  }

  /** @throws the one problem itself, several together */
  raise(): void {
    const [first, second] = this.found;
    if (second) throw new CascadeErrors(this.found);
    if (first) throw first;
  }
}
