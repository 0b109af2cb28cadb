// Long values in pieces: who works on one is a generator that yields after each piece, so that its caller can do something else in between.
import { isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';

/** Work that yields where it may give way. */
export type InPieces<Result> = Generator<undefined, Result>;

/** The result of such work without a pause, for what is short. */
export function atOnce<Result>(work: InPieces<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** What is worked on at once: scalars, members and elements at all depths, and so many characters of text for each. */
const PIECE = 256;
const CHARACTERS = 64;

/** From here on a value is worked on in pieces: below, all work on it together takes about a millisecond. */
const LONG = 4_000;

/** How many values that is, texts by their length; counting ends at `most`. */
export function weightOf(value: Value | undefined, most: number, before = 0): number {
  if (typeof value === 'string') return before + 1 + value.length / CHARACTERS;
  if (typeof value !== 'object' || value === null) return before + 1;
  let weight = before + 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && weight < most; index++) weight = weightOf(value[index], most, weight);
  } else if (isObject(value)) {
    for (const name in value) {
      if (weight >= most) break;
      weight = weightOf(value[name], most, weight + name.length / CHARACTERS);
    }
  }
  return weight;
}

/** Whether work on it has to give way. A single long text is not: what works on it is the engine's own, and fast. */
export const isLong = (value: Value | undefined): boolean => typeof value === 'object' && value !== null && weightOf(value, LONG) >= LONG;

/** Whether it is more than a piece, and can be divided. */
export const isDivisible = (value: Value | undefined): value is Value[] | ObjectValue =>
  typeof value === 'object' && value !== null && (Array.isArray(value) || isObject(value)) && weightOf(value, PIECE) >= PIECE;

/** Elements that follow each other: together a piece, or a single one that is more. */
export interface Run {
  readonly from: number;
  readonly to: number;
  readonly isDivisible: boolean;
}

/** An array, or the members of an object by the place of their names, as runs of pieces. */
export function* runsOf(count: number, at: (index: number) => Value | undefined): Generator<Run> {
  let from = 0;
  let weight = 0;
  for (let index = 0; index < count; index++) {
    const value = at(index);
    const own = weightOf(value, PIECE);
    if (own >= PIECE && isDivisible(value)) {
      if (from < index) yield { from, to: index, isDivisible: false };
      yield { from: index, to: index + 1, isDivisible: true };
      from = index + 1;
      weight = 0;
    } else if ((weight += own) >= PIECE) {
      yield { from, to: index + 1, isDivisible: false };
      from = index + 1;
      weight = 0;
    }
  }
  if (from < count) yield { from, to: count, isDivisible: false };
}

/** The whole text of a value; of an array that of its elements, with commas, in brackets. */
export interface Speller {
  (value: Value): string;
  /** Of a member by its name, where it is spelled in another way than what it is in. */
  readonly member?: (name: string) => Speller;
}

/** The text of a value as JSON, made of texts of pieces. */
export function* spellInPieces(value: Value, spell: Speller): InPieces<string> {
  if (!isDivisible(value)) return spell(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const run of runsOf(value.length, (index) => value[index])) {
      const piece = run.isDivisible
        ? yield* spellInPieces(value[run.from] as Value, spell)
        : spell(value.slice(run.from, run.to)).slice(1, -1);
      text += run.from === 0 ? piece : `,${piece}`;
      yield;
    }
    return `[${text}]`;
  }
  const names = Object.keys(value);
  for (const run of runsOf(names.length, (index) => value[names[index] as string])) {
    for (let index = run.from; index < run.to; index++) {
      const name = names[index] as string;
      const member = value[name] as Value;
      const own = spell.member?.(name) ?? spell;
      const piece: string = run.isDivisible ? yield* spellInPieces(member, own) : own(member);
      text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${piece}`;
    }
    yield;
  }
  return `{${text}}`;
}
