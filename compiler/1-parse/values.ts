// Value: an expression, or in the places that allow it a SELECT, INSERT … (language.md 2.3, L12).
import type { Expression, Value } from '../ast.ts';
import type { Cursor } from './cursor.ts';
import { RESOURCE_WORDS } from './keywords.ts';

export function value(p: Cursor): Value {
  return startsResourceStatement(p) ? p.grammar.resourceStatement(p) : p.grammar.expression(p);
}

/** The collection of a loop: the loop's block and UNTIL are not the SELECT's. */
export const collection = (p: Cursor): Value => p.within({ collection: true }, () => value(p));

export const startsResourceStatement = (p: Cursor): boolean =>
  p.isReserved() && RESOURCE_WORDS.has(p.text()) && !p.isAssigning(1) && !p.at('.', 1) && !p.at('=>', 1) && !p.isMisnamed();

/** A resource statement where only an expression may stand: told of, and read over. */
export function misplaced(p: Cursor): Expression {
  const word = p.text().toUpperCase();
  p.soft(p.here(), `${word} cannot stand inside an expression`, 'give its value to a variable first, or take it as an argument');
  p.nested(() => p.grammar.resourceStatement(p));
  return p.nothing();
}
