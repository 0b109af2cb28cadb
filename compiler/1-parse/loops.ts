// FOR, WHILE, FILTER, MAP and the recommendation statement (language.md 2.3, F5, 5.15).
import type { Block, Expression, Filter, For, Identifier, MapLoop, Recommend, Recommendations, Value, While } from '../ast.ts';
import type { Cursor } from './cursor.ts';
import { identifier } from './names.ts';
import { options } from './options.ts';
import { untilClause } from './processed-by.ts';
import { collection, value } from './values.ts';

interface LoopHead {
  readonly variable: Identifier;
  readonly collection: Value;
  readonly until: Expression | null;
}
export interface Lists {
  /** Statements up to the word END. */
  readonly untilEnd: (p: Cursor) => Block;
  /** `{ … }`, or told of and one statement read in its place. */
  readonly block: (p: Cursor) => Block;
}

function loopHead(p: Cursor): LoopHead {
  if (['var', 'let', 'const'].some((word) => p.at(word)) && p.isWord(1) && !p.at('in', 1)) {
    p.soft(p.here(), 'the variable of a loop is not declared', 'write FOR (x IN collection)');
    p.take();
  }
  const variable = identifier(p, 'a name for the element');
  if (p.at('of')) {
    p.soft(p.here(), "'of' cannot stand here", 'write FOR (x IN collection)');
    p.take();
  } else if (!p.accept('in')) p.missing("'IN'", 'the form is FOR (x IN collection)');
  return { variable, collection: collection(p), until: untilClause(p) };
}

function headInParentheses(p: Cursor): LoopHead {
  const at = p.here();
  return p.group(
    '(',
    () => loopHead(p),
    () => ({ variable: { type: 'Identifier', name: '_', ...at }, collection: p.nothing(), until: null }),
  );
}

/** `FOR x IN …`, `FOR (x IN …)`, with or without EACH, which may be a variable, too. */
export function forLoop(p: Cursor, lists: Lists): For {
  const start = p.start();
  p.take();
  if (p.at('each') && (p.at('(', 1) || (p.isWord(1) && p.at('in', 2)))) p.take();
  if (isCounting(p)) countingLoop(p);
  const head = p.at('(') ? headInParentheses(p) : loopHead(p);
  if (p.at('until') && !p.isPlainName())
    p.fail('UNTIL stands before the closing parenthesis', 'write FOR (x IN collection UNTIL condition) { … }');
  const body = p.at('do') ? lists.untilEnd(p) : lists.block(p);
  return p.node(start, { type: 'For', ...head, body });
}

/** `for (var i = 0; i < n; i++)`. */
const isCounting = (p: Cursor): boolean => p.at('(') && (p.at(';', 1) || p.at('=', 2) || (p.isWord(1) && p.isWord(2) && p.at('=', 3)));

function countingLoop(p: Cursor): never {
  p.fail('FOR goes over a collection and has no counter', 'write FOR (i IN range(0, n)) { … }');
}

export function whileLoop(p: Cursor, lists: Lists): While {
  const start = p.start();
  p.take();
  const inside = (): Value => value(p);
  if (!p.at('(')) p.soft(p.here(), `expected '(', found ${p.describe()}`, 'a condition stands in parentheses');
  const condition = p.at('(') ? p.group('(', inside, () => p.nothing()) : inside();
  return p.node(start, { type: 'While', condition, body: lists.block(p) });
}

export function map(p: Cursor): MapLoop {
  const start = p.start();
  p.take();
  if (!p.at('(')) p.missing("'('", 'the form is MAP (x IN collection) { … }');
  const head = headInParentheses(p);
  return p.node(start, { type: 'Map', ...head, body: p.grammar.block(p) });
}

/** FILTER as a value. */
export function filter(p: Cursor): Filter {
  const found = filterOrRecommendations(p);
  if (found.type === 'Filter') return found;
  p.soft(found, 'a recommendation statement has no place inside another', 'its result is the variable after TO');
  const { variable, collection, until, body, start, end } = found;
  return { type: 'Filter', variable, collection, until, body, start, end };
}

export function filterOrRecommendations(p: Cursor): Filter | Recommendations {
  const start = p.start();
  p.take();
  if (!p.at('(')) p.missing("'('", 'the form is FILTER (x IN collection) { … }');
  const head = headInParentheses(p);
  if (!p.at('recommendations')) return p.node(start, { type: 'Filter', ...head, body: p.grammar.block(p) });
  if (head.until) p.soft(head.until, 'UNTIL stands after RECOMMENDATIONS TO here');
  p.take();
  p.expect('to');
  const result = identifier(p, 'a name for the result');
  const until = untilClause(p);
  p.expect('do', 'the form is RECOMMENDATIONS TO v UNTIL condition DO MATCH { … }');
  p.expect('match', 'the form is RECOMMENDATIONS TO v UNTIL condition DO MATCH { … }');
  const body = p.within({ match: true }, () => p.grammar.block(p));
  if (p.at('end') && !p.isPlainName()) p.take();
  return p.node(start, { type: 'Recommendations', variable: head.variable, collection: head.collection, result, until, body });
}

/** RECOMMEND with a candidate, and not a call or variable of that name. */
export function startsRecommend(p: Cursor): boolean {
  if (!p.at('recommend') || !p.startsOperand(1)) return false;
  return p.mode.match || !(p.isPlainName() || p.at('-', 1) || p.at('+', 1) || p.isFresh(1));
}

export function recommend(p: Cursor): Recommend {
  const start = p.start();
  p.take();
  const candidate = p.grammar.expression(p);
  return p.node(start, { type: 'Recommend', candidate, options: options(p) });
}
