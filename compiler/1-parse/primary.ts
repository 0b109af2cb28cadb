// Operands and what is hung onto them: members, subscripts, calls, ++ (language.md 2.4, levels 1 and 2).
import type { Expression, Identifier, Name, QualifiedName, Target } from '../ast.ts';
import { callArguments } from './arguments.ts';
import { type Cursor, quoted } from './cursor.ts';
import { CONTEXTUAL, RESOURCE_WORDS, STATEMENT_WORDS } from './keywords.ts';
import { array, integerOrInterval, isLeastInteger, leastInteger, object, real, strayUnit } from './literals.ts';
import { anyWord, reference, textOf } from './names.ts';
import { INTEGER, REAL, STRING, WORD } from './tokens.ts';
import { misplaced } from './values.ts';

/** An operand as far as it has been read. */
interface Operand {
  node: Expression;
  /** While it is a chain of names: what a call would have as its callee. */
  names: Identifier[] | null;
  /** The last step was `.name`, so `(` makes it a method call on what stood before. */
  step: { object: Expression; method: Identifier } | null;
}

export function postfix(p: Cursor): Expression {
  return p.chained(() => {
    const start = p.start();
    const first = primary(p);
    const operand: Operand = { node: first.node, names: first.isName ? [nameOf(first.node as Name)] : null, step: null };
    while (step(p, operand, start));
    reportSystem(p, operand);
    strayUnit(p, operand.node);
    return increment(p, operand.node, start);
  });
}

const nameOf = (node: Name): Identifier => ({ type: 'Identifier', name: node.name, start: node.start, end: node.end });

/** One `.name`, `[index]` or `(arguments)` more, if it stands here. */
function step(p: Cursor, operand: Operand, start: number): boolean {
  if (p.at('.')) return member(p, operand, start);
  if (p.breaksLine()) return false;
  if (p.at('[')) return subscript(p, operand, start);
  if (p.at('(') && (operand.names || operand.step)) return call(p, operand, start);
  return false;
}

function member(p: Cursor, operand: Operand, start: number): boolean {
  p.take();
  if (p.kind() === INTEGER) p.fail("expected a name after '.'", 'an element is written x[0]; a Real needs a digit before the point');
  const object = operand.node;
  const name = anyWord(p, "a name after '.'");
  operand.node = p.node(start, { type: 'Member', object, property: name.name, propertySpan: { start: name.start, end: name.end } });
  p.grow();
  operand.names?.push(name);
  operand.step = operand.names ? null : { object, method: name };
  return true;
}

function subscript(p: Cursor, operand: Operand, start: number): boolean {
  const read = (): Expression => {
    const inside = p.grammar.expression(p);
    if (p.at(':')) p.fail('there are no slices', 'write slice(array, from, to)');
    return inside;
  };
  const object = operand.node;
  const index = p.group('[', read, () => p.nothing());
  operand.node = p.node(start, { type: 'Subscript', object, index });
  p.grow();
  reportSystem(p, operand);
  operand.names = operand.step = null;
  return true;
}

function call(p: Cursor, operand: Operand, start: number): boolean {
  const { names, step } = operand;
  if (names) {
    const callee: QualifiedName = p.node(start, { type: 'QualifiedName', parts: names, text: textOf(names) });
    operand.node = p.node(start, { type: 'Call', callee, arguments: callArguments(p, callee.text, start) });
  } else if (step) {
    const given = callArguments(p, step.method.name, start);
    operand.node = p.node(start, { type: 'MethodCall', object: step.object, method: step.method, arguments: given });
  }
  operand.names = operand.step = null;
  return true;
}

/** L11: `system` may begin the name of a procedure, but is no variable. */
function reportSystem(p: Cursor, operand: Operand): void {
  const first = operand.names?.[0];
  if (first?.name.toLowerCase() === 'system') p.found.report(first, 'cascade.lang.name.reserved', first.name);
}

function increment(p: Cursor, operand: Expression, start: number): Expression {
  const operator = p.at('++') ? '++' : p.at('--') ? '--' : null;
  if (operator === null || p.isFresh()) return operand;
  if (!isTarget(p, operand)) p.soft(p.here(), `${quoted(operator)} needs a variable, a member or a subscript before it`);
  p.take();
  if (!isTarget(p, operand)) return operand;
  return p.node(start, { type: 'Postfix', operator, target: operand });
}

/** May it be assigned to? A name, or a chain of members and subscripts that begins with one, outside parentheses. */
export function isTarget(p: Cursor, node: Expression): node is Target {
  let at = node;
  while (at.type === 'Member' || at.type === 'Subscript') {
    if (p.parenthesised.has(at)) return false;
    at = at.object;
  }
  return at.type === 'Name' && !p.parenthesised.has(at);
}

interface Primary {
  readonly node: Expression;
  readonly isName: boolean;
}
const plain = (node: Expression): Primary => ({ node, isName: false });

function primary(p: Cursor): Primary {
  const start = p.start();
  switch (p.kind()) {
    case WORD:
      return word(p);
    case INTEGER:
      return plain(integerOrInterval(p));
    case REAL:
      return plain(real(p));
    case STRING: {
      const value = p.text();
      p.take();
      return plain(p.node(start, { type: 'String', value }));
    }
  }
  if (p.at('(')) return plain(parentheses(p));
  if (p.at('[')) return plain(array(p));
  if (p.at('{')) return plain(object(p));
  if (isLeastInteger(p)) return plain(leastInteger(p));
  if (p.at('@')) {
    reference(p);
    return word(p);
  }
  return p.missing('an expression', p.at('.') && p.kind(1) === INTEGER ? 'a Real has a digit before its point: 0.5' : undefined);
}

function parentheses(p: Cursor): Expression {
  const inside = p.group(
    '(',
    () => p.grammar.expression(p),
    () => p.nothing(),
  );
  p.parenthesised.add(inside);
  return inside;
}

function word(p: Cursor): Primary {
  const start = p.start();
  const text = p.text();
  if (text === 'true' || text === 'false') {
    p.take();
    return plain(p.node(start, { type: 'Boolean', value: text === 'true' }));
  }
  if (text === 'null') {
    p.take();
    return plain(p.node(start, { type: 'Null' }));
  }
  if (p.breaksLine() && p.isAssigning(1) && p.pos !== p.statementStart) p.missing('an expression');
  if ((p.isReserved() && !(text === 'system' && p.at('.', 1)) && !p.isMisnamed()) || text === 'try') return reserved(p);
  if (foreignPrefix(p)) return plain(p.nothing());
  return name(p);
}

function name(p: Cursor): Primary {
  const start = p.start();
  const written = p.written();
  p.take();
  return { node: p.node(start, { type: 'Name', name: written }), isName: true };
}

/** A reserved word where an operand should be: a statement that cannot stand here, or a name that cannot be one (L9, L12). */
function reserved(p: Cursor): Primary {
  const word = p.text();
  const isUsedAsName = p.isAssigning(1) || p.at('.', 1) || p.at('=>', 1);
  if (RESOURCE_WORDS.has(word) && !isUsedAsName) {
    if (p.breaksLine()) p.missing('an expression');
    return plain(misplaced(p));
  }
  if (word === 'not') p.fail('NOT cannot stand here', 'it binds less than ==: write a == (NOT b), or !b');
  if (word === 'function' && !isUsedAsName)
    p.fail('there are no functions inside a text', 'write a lambda, p => body, or a PROCEDURE of its own');
  if (p.breaksLine() || word === 'else' || (STATEMENT_WORDS.has(word) && !isUsedAsName)) p.missing('an expression');
  p.found.report(p.here(), 'cascade.lang.name.reserved', p.written());
  return name(p);
}

/** `new X(…)`, `typeof x`, `EXISTS (SELECT …)`: told of, and what follows read over. */
function foreignPrefix(p: Cursor): boolean {
  const operandFollows =
    !p.isFresh(1) && (p.isWord(1) ? !CONTEXTUAL.has(p.text(1)) && !p.isReserved(1) : p.kind(1) === STRING || p.kind(1) === INTEGER);
  const hint =
    p.at('new') && operandFollows && (p.at('(', 2) || p.at('.', 2))
      ? 'an object is written {key: value}'
      : p.at('typeof') && operandFollows
        ? 'write typeOf(x)'
        : p.at('exists') && p.at('(', 1) && p.at('select', 2)
          ? 'select ONE into a variable first, and test it'
          : undefined;
  if (hint === undefined) return false;
  p.soft(p.here(), `${quoted(p.written())} is not in the language`, hint);
  p.take();
  if (p.at('(') && p.afterPartner() > 0) for (let rest = p.afterPartner(); rest > 0; rest -= 1) p.take();
  else postfix(p);
  return true;
}
