// PROCESSED BY and the blocks that take results one by one (language.md 2.3 ProcessedBy, ProcBlock; L19).
import type { Condition, ErrorHandler, Expression, Identifier, ProcessedBy, ProcessingBlock, VariableRef } from '../ast.ts';
import { condition } from './conditions.ts';
import type { Cursor } from './cursor.ts';
import { alias, identifier, startsAlias } from './names.ts';

const COMPARING = ['==', '!=', '<', '<=', '>', '>=', 'eq', 'ne', 'lt', 'le', 'gt', 'ge', 'in', 'regex', 'and', 'or', '&&', '||', '.'];

const startsProcessed = (p: Cursor, ahead: number): boolean => p.at('processed', ahead) && p.at('by', ahead + 1);
export const startsProcessedBy = (p: Cursor, ahead = 0): boolean =>
  startsProcessed(p, ahead) || (startsAlias(p, ahead) && startsProcessed(p, ahead + 2));

/** `[AS r] PROCESSED BY …`, if it stands here. */
export function processedBy(p: Cursor): ProcessedBy | null {
  if (!startsProcessedBy(p)) return null;
  const start = p.start();
  const name = alias(p);
  p.take();
  p.take();
  const cardinality = nodeCardinality(p);
  const nodes = nodeChoice(p);
  const status = nameAfter(p, 'status');
  const context = nameAfter(p, 'context');
  const within = p.clause('within') ? (p.take(), p.grammar.expression(p)) : null;
  const until = p.mode.collection ? null : untilClause(p);
  const block = p.at('{') && !p.mode.collection ? p.grammar.block(p) : null;
  if (until && !block) p.missing("'{'", 'UNTIL belongs to a block');
  return p.node(start, {
    type: 'ProcessedBy',
    alias: name,
    cardinality,
    nodes,
    status,
    context,
    within,
    until,
    block,
    onError: errorHandler(p, 'remote'),
  });
}

/** Is the word alone, as a property of the nodes would not be? */
const isKeyword = (p: Cursor, word: string): boolean => p.at(word) && !COMPARING.some((text) => p.at(text, 1));

function nodeCardinality(p: Cursor): ProcessedBy['cardinality'] {
  if (p.at('exactly') && p.at('one', 1)) return (p.take(), p.take(), 'exactlyOne');
  if (p.at('at') && p.at('least', 1)) {
    p.take();
    p.take();
    p.expect('one');
    return 'atLeastOne';
  }
  if (!isKeyword(p, 'one') || !p.startsOperand(1)) return null;
  p.take();
  return 'one';
}

function nodeChoice(p: Cursor): 'all' | VariableRef | Condition {
  if (isKeyword(p, 'all')) {
    p.take();
    return 'all';
  }
  if (!p.at('@')) return condition(p);
  const start = p.start();
  p.take();
  const variable = identifier(p, 'a variable after @');
  return p.node(start, { type: 'VariableRef', variable });
}

function nameAfter(p: Cursor, word: string): Identifier | null {
  if (!p.at(word) || !p.at('to', 1)) return null;
  p.take();
  p.take();
  return identifier(p, 'a name');
}

/** `UNTIL condition`, if it stands here. */
export function untilClause(p: Cursor): Expression | null {
  if (!p.clause('until')) return null;
  p.take();
  return p.grammar.expression(p);
}

/** `[UNTIL c] { … }` after a SELECT or EXECUTE; in the collection of a loop both belong to the loop. */
export function processingBlock(p: Cursor): ProcessingBlock | null {
  if (p.mode.collection || !(p.at('{') || p.clause('until'))) return null;
  const start = p.start();
  const until = untilClause(p);
  if (!p.at('{')) p.missing("'{'", 'UNTIL belongs to a block');
  const block = p.grammar.block(p);
  return p.node(start, { type: 'ProcessingBlock', until, block });
}

/** `ON [REMOTE] ERROR (e) { … }`, if it stands here. */
export function errorHandler(p: Cursor, remote: 'remote' | 'local'): ErrorHandler | null {
  const isRemote = p.at('on') && p.at('remote', 1) && p.at('error', 2) && remote === 'remote';
  if (!isRemote && !(p.at('on') && p.at('error', 1))) return null;
  const start = p.start();
  p.take();
  if (isRemote) p.take();
  p.take();
  const variable = inParentheses(p);
  if (!p.at('{')) p.missing("'{'");
  const block = p.grammar.block(p);
  return p.node(start, { type: 'ErrorHandler', variable, block });
}

/** `(name)`, of CATCH and ON ERROR. */
export function inParentheses(p: Cursor): Identifier {
  const at = p.here();
  return p.group(
    '(',
    () => identifier(p, 'a name for the error'),
    () => ({ type: 'Identifier', name: '_', ...at }),
  );
}
