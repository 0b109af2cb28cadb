// Currencies inside Objects, which are stored as their text `USD:9.0000`, in a pipeline: their parts are taken out of it.

import type { Document } from 'mongodb';

/** Where such a Currency is. */
export interface MoneyText {
  /** The stored path of the text. */
  readonly path: string;
  /** Null for the Currency itself. */
  readonly part: 'code' | 'value' | null;
  /** How many arrays there may be on the way. */
  readonly arrays: number;
}

/** The part as an expression; missing where the text is, and an array where the path leads through one. */
export const partOf = ({ path, arrays }: MoneyText, part: 'code' | 'value'): Document => through(`$${path}`, arrays, PARTS[part]);

/** What a Currency is ordered by: first the code, then the value. */
export const orderOf = (money: MoneyText): Document =>
  money.part === null ? { c: partOf(money, 'code'), v: partOf(money, 'value') } : partOf(money, money.part);

const PARTS = {
  code: (text: string): Document => ifText(text, { $substrBytes: [text, 0, 3] }),
  value: (text: string): Document =>
    ifText(text, { $convert: { input: { $substrBytes: [text, 4, -1] }, to: 'decimal', onError: null, onNull: null } }),
};

const ifText = (text: string, part: Document): Document => ({ $cond: [{ $eq: [{ $type: text }, 'string'] }, part, '$$REMOVE'] });

function through(input: string, arrays: number, one: (text: string) => Document): Document {
  if (arrays === 0) return one(input);
  const as = `text${arrays}`;
  return { $cond: [{ $isArray: input }, { $map: { input, as, in: through(`$$${as}`, arrays - 1, one) } }, one(input)] };
}
