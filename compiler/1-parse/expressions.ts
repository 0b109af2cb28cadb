// Expressions by precedence (language.md 2.4): ternary, lambda, binary operators, prefixes. Operands are in primary.ts.
import type { Binary, BinaryOperator, Expression, Identifier, Lambda } from '../ast.ts';
import { type Cursor, quoted } from './cursor.ts';
import { FOREIGN_INFIX } from './foreign.ts';
import { LITERAL_WORDS } from './keywords.ts';
import { isLeastInteger } from './literals.ts';
import { postfix } from './primary.ts';
import { startsTrigger } from './trigger-words.ts';

const OR = 1;
const AND = 2;
const NOT = 3;
const EQUALITY = 4;
const RELATIONAL = 5;
const ADDITIVE = 6;
const MULTIPLICATIVE = 7;

type InfixOperator = BinaryOperator | '&&' | '||';
interface Infix {
  readonly operator: InfixOperator;
  readonly level: number;
}
const infix = (level: number, words: Readonly<Record<string, InfixOperator>>): [string, Infix][] =>
  Object.entries(words).map(([text, operator]) => [text, { operator, level }]);
const INFIX: ReadonlyMap<string, Infix> = new Map([
  ...infix(OR, { '||': '||', or: '||' }),
  ...infix(AND, { '&&': '&&', and: '&&' }),
  ...infix(EQUALITY, { '==': '==', '!=': '!=', eq: '==', ne: '!=' }),
  ...infix(RELATIONAL, { '<': '<', '<=': '<=', '>': '>', '>=': '>=', lt: '<', le: '<=', gt: '>', ge: '>=' }),
  ...infix(RELATIONAL, { in: 'in', regex: 'regex', geonear: 'geonear', geointersects: 'geointersects', geowithin: 'geowithin' }),
  ...infix(ADDITIVE, { '+': '+', '-': '-' }),
  ...infix(MULTIPLICATIVE, { '*': '*', '/': '/', '%': '%' }),
]);

/** Expr: anything, a lambda included. */
export function expression(p: Cursor): Expression {
  return startsLambda(p) ? lambda(p) : ternary(p);
}

/** Everything but lambda and ternary: the level of conditions. */
export function logical(p: Cursor): Expression {
  return binary(p, OR);
}

function ternary(p: Cursor): Expression {
  const start = p.start();
  const condition = binary(p, OR);
  if (!p.accept('?')) return condition;
  return p.nested(() => {
    const then = expression(p);
    p.expect(':', 'the form is condition ? then : else');
    const otherwise = expression(p);
    return p.node(start, { type: 'Ternary', condition, then, otherwise });
  });
}

function startsLambda(p: Cursor): boolean {
  if (p.at('(')) return p.at('=>', p.afterPartner()) && p.afterPartner() > 0;
  return p.isWord() && p.at('=>', 1);
}

function lambda(p: Cursor): Lambda {
  const start = p.start();
  const parameters = p.at('(')
    ? p.group(
        '(',
        () => lambdaParameters(p),
        () => [],
      )
    : [parameter(p)];
  p.expect('=>');
  const body = p.at('{') ? p.grammar.block(p) : p.nested(() => expression(p));
  return p.node(start, { type: 'Lambda', parameters, body });
}

function lambdaParameters(p: Cursor): Identifier[] {
  const parameters: Identifier[] = [];
  if (p.at(')')) return parameters;
  do parameters.push(parameter(p));
  while (p.accept(','));
  return parameters;
}

function parameter(p: Cursor): Identifier {
  const start = p.start();
  if (!p.isWord()) p.missing('a parameter of the lambda', 'a lambda is written p => body, or (a, b) => body');
  if (p.isReserved()) p.found.report(p.here(), 'cascade.lang.name.reserved', p.written());
  else if (LITERAL_WORDS.has(p.text())) p.soft(p.here(), `${quoted(p.written())} is a literal and cannot be used as a name`);
  const name = p.written();
  p.declared.add(name);
  p.take();
  return p.node(start, { type: 'Identifier', name });
}

/** Operators of this level and above. All associate to the left; comparisons do not chain. */
function binary(p: Cursor, least: number): Expression {
  return p.chained(() => {
    const start = p.start();
    let left = p.at('not') && least <= NOT ? negation(p) : unary(p);
    for (let next = infixHere(p); next && next.level >= least; next = infixHere(p)) {
      const operatorSpan = p.here();
      p.take();
      const right = binary(p, next.level + 1);
      const { operator } = next;
      left = isLogical(operator)
        ? p.node(start, { type: 'Logical', operator, left, right })
        : p.node(start, { type: 'Binary', operator, operatorSpan, left, right });
      p.grow();
      if (next.level === RELATIONAL && infixHere(p)?.level === RELATIONAL)
        p.soft(p.here(), 'comparisons cannot be chained', 'write a < b && b < c');
    }
    return foreignInfix(p, left);
  });
}
const isLogical = (operator: InfixOperator): operator is '&&' | '||' => operator === '&&' || operator === '||';

/** The infix operator here. A word is none when it is used as a name; in a WHEN clause OR and AND may join triggers instead. */
function infixHere(p: Cursor): Infix | undefined {
  const found = p.kind() <= 1 ? INFIX.get(p.text()) : undefined;
  if (!found || !p.isWord()) return found;
  if ((!p.startsOperand(1) && p.isPlainName()) || (p.mode.trigger && found.level <= AND && startsTrigger(p, 1))) return undefined;
  return found;
}

/** `x LIKE y` and the like: told of, and what belongs to it read over. */
function foreignInfix(p: Cursor, left: Expression): Expression {
  if (!p.isWord() || p.breaksLine() || p.isPlainName()) return left;
  if (p.at('not')) {
    if (!['in', 'like', 'between', 'regex'].some((word) => p.at(word, 1))) return left;
    p.soft(p.here(), `${quoted(p.written())} stands before what it negates`, 'write NOT (x IN y)');
    p.take();
    if (!FOREIGN_INFIX.has(p.text())) {
      p.take();
      binary(p, ADDITIVE);
      return left;
    }
  }
  const word = p.text();
  const hint = FOREIGN_INFIX.get(word);
  const operandFollows = p.startsOperand(1) && !p.isFresh(1) && !INFIX.has(p.text(1));
  if (hint === undefined || !operandFollows) return left;
  p.soft(p.here(), `${quoted(p.written())} is not an operator`, hint);
  p.take();
  if (word === 'is' && p.at('not')) p.take();
  binary(p, ADDITIVE);
  if (word === 'between' && p.accept('and')) binary(p, ADDITIVE);
  return left;
}

/** NOT: below the comparisons, so `NOT a == b` is `NOT (a == b)`. */
function negation(p: Cursor): Expression {
  const start = p.start();
  p.take();
  const operand = p.nested(() => binary(p, NOT));
  return p.node(start, { type: 'Unary', operator: '!', operand });
}

function unary(p: Cursor): Expression {
  const start = p.start();
  if (isLeastInteger(p)) return power(p);
  for (const operator of ['-', '!', '+'] as const) {
    if (!p.accept(operator)) continue;
    const operand = p.nested(() => unary(p));
    return p.node(start, { type: 'Unary', operator, operand });
  }
  for (const operator of ['++', '--'] as const) {
    if (!p.at(operator)) continue;
    p.soft(p.here(), `${quoted(operator)} stands after its variable, on the same line`, `write x${operator}`);
    p.take();
    return p.startsOperand() && !p.breaksLine() ? p.nested(() => unary(p)) : p.nothing();
  }
  return power(p);
}

/** `**` binds to the right, and stronger than a prefix on its left: `-2 ** 2` is -4. */
function power(p: Cursor): Expression {
  const start = p.start();
  const left = postfix(p);
  if (!p.at('**')) return left;
  const operatorSpan = p.here();
  p.take();
  const right = p.nested(() => unary(p));
  return p.node<Omit<Binary, 'start' | 'end'>>(start, { type: 'Binary', operator: '**', operatorSpan, left, right });
}
