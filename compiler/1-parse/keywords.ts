// The words of the language (language.md L8 to L12). Whether a word is a keyword is nearly always decided by what follows it.
import { FOREIGN_STATEMENTS } from './foreign.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** L9: may not name a variable, parameter, alias or resource. */
export const RESERVED: ReadonlySet<string> = words(
  'alter before component create delete drop else event_stream execute filter for function if insert java map not procedure ' +
    'publish return rule ruleset select system timeout update upsert var when',
);

/** L10: literals, never identifiers. */
export const LITERAL_WORDS: ReadonlySet<string> = words('true false null');

/** L12: words that begin a statement which is also a Value in the places the grammar names. */
export const RESOURCE_WORDS: ReadonlySet<string> = words('select insert upsert update delete execute filter map');

/** L12 and section 2.3: words that begin a statement and never stand in an expression. */
export const STATEMENT_WORDS: ReadonlySet<string> = words('alter create drop for if publish return try var');

/** Milliseconds of the interval units, singular and plural (section 1.1). */
export const UNIT_MS: ReadonlyMap<string, bigint> = new Map(
  Object.entries({ millisecond: 1n, second: 1_000n, minute: 60_000n, hour: 3_600_000n, day: 86_400_000n, week: 604_800_000n }).flatMap(
    ([unit, ms]): [string, bigint][] => [
      [unit, ms],
      [`${unit}s`, ms],
    ],
  ),
);

/** L10: words that are keywords in some place and names in every other. The printer takes care with them. */
export const CONTEXTUAL: ReadonlySet<string> = new Set([
  ...words(
    'activationconstraint after all and array arrives as asc async at by catch constrain context default desc description do each ' +
      'end eq error event eventstream every exactly expect finally from ge geointersects geonear geowithin global group gt hidden ' +
      'import in into le least lt match message multi ne node occurs on one or order package partition private processed recommend ' +
      'recommendations regex remote request required schedule sequence series service skip source stateless status to topic try type ' +
      'until using values where while with within',
  ),
  ...UNIT_MS.keys(),
]);

/** Is the word a keyword in some place, or taken for one of another language? As a name it needs care. */
export const isContextual = (word: string): boolean => {
  const lower = word.toLowerCase();
  return CONTEXTUAL.has(lower) || CLAUSE_WORDS.has(lower) || FOREIGN_STATEMENTS.has(lower) || lower === 'let' || lower === 'const';
};

/** Clauses: at the beginning of a line they go on with the statement before, they do not begin one. */
export const CLAUSE_WORDS: ReadonlySet<string> = words(
  'after and as before by catch constrain context do else end expect finally from group in on or order processed recommendations ' +
    'schedule status to until using values where with within',
);

/** Functions over all rows in the bindings of a SELECT (language.md E8). */
export const AGGREGATES: ReadonlySet<string> = new Set(['count', 'sum', 'avg', 'rise', 'min', 'max', 'first', 'last']);
