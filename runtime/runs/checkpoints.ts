// The parts of statements that store in several batches (a bulk operation, several instances): each is recorded as a step of its own,
// so that a repetition after a crash goes on behind the last one.

import type { Step } from '../transactions/index.ts';

/** Under which a part is recorded. Sites of statements hold no `#`. */
export const checkpointSite = (site: string, number: number): string => `${site}#${number}`;

export class Checkpoints {
  /** Null: none yet, as of nearly all runs. */
  #byStatement: Map<string, Map<number, string>> | null = null;

  /** Takes up a step if it is one of a part. */
  add({ site, nth, answer }: Pick<Step, 'site' | 'nth' | 'answer'>): void {
    const end = site.lastIndexOf('#');
    if (end < 0 || !('ok' in answer)) return;
    const statement = `${site.slice(0, end)}.${nth}`;
    this.#byStatement ??= new Map();
    const parts = this.#byStatement.get(statement) ?? new Map<number, string>();
    this.#byStatement.set(statement, parts.set(Number(site.slice(end + 1)), answer.ok));
  }

  /** The notes of one statement's parts, by number. */
  of(site: string, nth: number): ReadonlyMap<number, string> {
    return this.#byStatement?.get(`${site}.${nth}`) ?? NONE;
  }
}

const NONE: ReadonlyMap<number, string> = new Map();
