// What people bring along from other languages: told of once, with what to write here, and then read as what was meant.

interface ForeignOperator {
  /** The operator of ours it is read as, so that one mistake gives one diagnostic; '' leaves it out. */
  readonly instead: string;
  readonly hint: string;
}
const NO_BITS = 'there are no bit operators';

/** Operators that are not in the language (section 2.3), longest first where one begins another. */
export const FOREIGN_OPERATORS: ReadonlyMap<string, ForeignOperator> = new Map([
  ['===', { instead: '==', hint: 'write ==' }],
  ['!==', { instead: '!=', hint: 'write !=' }],
  ['<>', { instead: '!=', hint: 'write !=' }],
  ['?.', { instead: '.', hint: 'test for null first: IF (x != null) …, or x != null && x.y' }],
  ['??', { instead: '||', hint: 'write x == null ? other : x' }],
  ['**=', { instead: '*=', hint: 'write x = x ** y' }],
  ['...', { instead: '', hint: 'there is no spread' }],
  ['->', { instead: '.', hint: 'a member is written x.y, a lambda p => body' }],
  ['::', { instead: '.', hint: 'a member is written x.y' }],
  ['>>>', { instead: '+', hint: NO_BITS }],
  ['<<', { instead: '+', hint: NO_BITS }],
  ['>>', { instead: '+', hint: NO_BITS }],
  ['&', { instead: '&&', hint: `${NO_BITS}; the logical one is &&` }],
  ['|', { instead: '||', hint: `${NO_BITS}; the logical one is ||` }],
  ['^', { instead: '**', hint: `${NO_BITS}; the power is **` }],
  ['~', { instead: '!', hint: `${NO_BITS}; the logical one is !` }],
]);

/** Characters that begin nothing here. */
export const FOREIGN_CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['#', 'a comment begins with //'],
  ['$', 'names have letters, digits and _ only'],
  ['`', 'a String stands in "…" or \'…\', and there is no interpolation'],
  ['“', 'a String stands in straight quotes: "…"'],
  ['”', 'a String stands in straight quotes: "…"'],
  ['‘', "a String stands in straight quotes: '…'"],
  ['’', "a String stands in straight quotes: '…'"],
]);

/** Words that would begin a statement elsewhere, when what follows shows that they are meant so. */
export const FOREIGN_STATEMENTS: ReadonlyMap<string, string> = new Map([
  ['break', 'there is no break: end a loop by UNTIL'],
  ['continue', 'there is no continue: put the rest of the block into an IF'],
  ['switch', 'there is no switch: write IF … ELSE IF …'],
  ['throw', 'write exception(code, message, params)'],
  ['do', 'there is no DO … WHILE: write WHILE (c) { … }'],
  ['foreach', 'write FOR EACH x IN collection { … }'],
  ['elseif', 'write ELSE IF'],
  ['elsif', 'write ELSE IF'],
  ['elif', 'write ELSE IF'],
  ['unless', 'write IF (!…)'],
  ['catch', 'CATCH belongs to a TRY'],
  ['finally', 'FINALLY belongs to a TRY'],
]);

/** Words that would be operators elsewhere. */
export const FOREIGN_INFIX: ReadonlyMap<string, string> = new Map([
  ['like', 'write path REGEX pattern'],
  ['between', 'write x >= low AND x <= high'],
  ['is', 'write x == null'],
  ['instanceof', 'write typeOf(x) == "…"'],
  ['xor', 'write a != b'],
  ['mod', 'write a % b'],
  ['div', 'write a / b'],
]);

/** SQL clauses after a SELECT. */
export const FOREIGN_CLAUSES: ReadonlyMap<string, string> = new Map([
  ['having', 'select the groups with a loop over the result'],
  ['join', 'select from one type, and in its block from the other'],
  ['inner', 'there is no join: select from one type, and in its block from the other'],
  ['left', 'there is no join: select from one type, and in its block from the other'],
  ['limit', 'write WITH limit = n'],
  ['skip', 'write WITH skip = n'],
  ['offset', 'write WITH skip = n'],
  ['union', 'select twice and join the arrays'],
]);
