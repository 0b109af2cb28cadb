// What goes through all entries of a Map or Cache: on the entries as they were at the call, in pieces, since a namespace may have millions.
import { deepEquals } from '../../stdlib/operators/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { type StoredValue, valueOf } from './stored-value.ts';

/** Yields where others may have the thread. */
export type Walk = Generator<undefined, StoredValue>;
export const isWalk = (result: StoredValue | Walk | undefined): result is Walk => result !== undefined && 'next' in result;

/** What is done without a pause: so many entries, or characters. */
const PIECE = 256;
const PIECE_CHARACTERS = 64 * 1024;
/** More than a run may be given (runs/history.ts). */
const MOST_CHARACTERS = 64 * 1024 * 1024;

interface Listed {
  readonly keys: readonly string[];
  readonly values: readonly StoredValue[];
}

/** After which of the entries to pause. */
class Pace {
  #entries = 0;
  #characters = 0;

  isOver(characters: number): boolean {
    this.#characters += characters;
    if (++this.#entries < PIECE && this.#characters < PIECE_CHARACTERS) return false;
    this.#entries = this.#characters = 0;
    return true;
  }
}

export function* containing({ values }: Listed, wanted: StoredValue): Walk {
  const value = valueOf(wanted);
  const pace = new Pace();
  for (const one of values) {
    if (one.json === wanted.json || deepEquals(valueOf(one), value)) return { json: 'true', refs: [] };
    if (pace.isOver(one.json.length)) yield;
  }
  return { json: 'false', refs: [] };
}

/** The List of what is made of each entry. @throws CascadeError when it is too large for any run */
export function* listing({ keys, values }: Listed, make: (key: string, value: StoredValue) => StoredValue): Walk {
  const pace = new Pace();
  let json = '';
  const refs: StoredValue['refs'][number][] = [];
  for (let i = 0; i < keys.length; i++) {
    const one = make(keys[i] as string, values[i] as StoredValue);
    json += json === '' ? one.json : `,${one.json}`;
    for (const ref of one.refs) refs.push(ref);
    if (json.length > MOST_CHARACTERS) throw apiError('cascade.execution.memory', 'Map', MOST_CHARACTERS);
    if (pace.isOver(one.json.length)) yield;
  }
  return { json: `[${json}]`, refs };
}
