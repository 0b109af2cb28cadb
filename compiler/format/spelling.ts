// How a token that is no name is spelled: statements that compute in small letters, those that speak of data in capitals, as print/ has it.
import { type Tokens, WORD } from '../1-parse/index.ts';

const SMALL = new Set(
  'var if else for each while try catch finally return do end true false null millisecond milliseconds second seconds minute minutes hour hours day days week weeks'.split(
    ' ',
  ),
);

/** Everything but words as it is written: a String keeps its quotes, a number its digits. */
export function spelled(tokens: Tokens, at: number): string {
  if (tokens.kinds[at] !== WORD) return tokens.source.slice(tokens.starts[at], tokens.ends[at]);
  const word = tokens.texts[at]!;
  // DO MATCH of FILTER … RECOMMENDATIONS, unlike the `do` of a loop.
  if (word === 'do' && tokens.texts[at + 1] === 'match') return 'DO';
  return SMALL.has(word) ? word : word.toUpperCase();
}
