// Text to tree (language.md 1 and 2): the parser's door. It never throws, keeps its recursion bounded and takes linear time, whatever the text.
import type { Definition } from '../ast.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { Cursor } from './cursor.ts';
import { definition } from './definitions.ts';
import { expression } from './expressions.ts';
import { lex } from './lexer.ts';
import { block, resourceStatement, startsStatement } from './statements.ts';

export { AGGREGATES, isContextual } from './keywords.ts';
export { END, PUNCTUATOR, STRING, type Tokens, VERSION, WORD } from './tokens.ts';
export { lex };

const MOST_BYTES = 1 << 20;

/**
 * The tree of a rule or procedure; what is wrong is reported, and the tree then holds what could be read. Null when there is nothing to
 * hold: no header, or too large a text.
 */
export function parse(source: string, found: Diagnostics): Definition | null {
  const bytes = sizeBytes(source);
  if (bytes > MOST_BYTES) {
    found.report({ start: 0, end: 0 }, 'cascade.lang.source.size', bytes);
    return null;
  }
  return definition(new Cursor(lex(source, found), found, { expression, block, resourceStatement, startsStatement }));
}

/** In UTF-8. */
function sizeBytes(source: string): number {
  if (source.length > MOST_BYTES || source.length * 3 <= MOST_BYTES) return source.length;
  let bytes = 0;
  for (const character of source) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
