// Checkpoints of statements that take several batches (a bulk operation, several instances): each part is recorded as a step, and a replay
// after a crash continues behind the last one.

import type { Step } from '../transactions/index.ts';

/** The site under which a checkpoint is recorded. Sites of statements hold no `#`. */
export const checkpointSite = (site: string, number: number): string => `${site}#${number}`;

export class Checkpoints {
  /** Null: none yet, as for nearly all runs. */
  #byStatement: Map<string, Map<number, string>> | null = null;

  /** Null: none yet. */
  #seen: Map<string, string> | null = null;

  /** Adds the step if it is a checkpoint. */
  add({ site, nth, answer, seen }: Pick<Step, 'site' | 'nth' | 'answer' | 'seen'>): void {
    const end = site.lastIndexOf('#');
    if (end < 0 || !('ok' in answer)) return;
    const statement = `${site.slice(0, end)}.${nth}`;
    this.#byStatement ??= new Map();
    const parts = this.#byStatement.get(statement) ?? new Map<number, string>();
    this.#byStatement.set(statement, parts.set(Number(site.slice(end + 1)), answer.ok));
    if (seen === undefined) return;
    const before = (this.#seen ??= new Map()).get(statement);
    this.#seen.set(statement, before === undefined ? seen : `${before}\n${seen}`);
  }

  /** The notes of a statement's checkpoints, by number. */
  of(site: string, nth: number): ReadonlyMap<number, string> {
    return this.#byStatement?.get(`${site}.${nth}`) ?? NONE;
  }

  /** What a statement's checkpoints have shown or marked, in its stored form. */
  seenOf(site: string, nth: number): string | undefined {
    return this.#seen?.get(`${site}.${nth}`);
  }
}

const NONE: ReadonlyMap<number, string> = new Map();
