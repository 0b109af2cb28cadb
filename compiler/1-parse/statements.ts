// Statements and their lists (language.md 1.2 and 2.3). What begins with a word of its own is found in a table; the rest is an
// expression or an assignment.
import type { Block, If, ResourceStatement, Return, Statement, Try, Value, VariableDeclaration } from '../ast.ts';
import { startsWhere } from './conditions.ts';
import { type Cursor, PANIC, quoted } from './cursor.ts';
import { execute } from './execute.ts';
import { expression } from './expressions.ts';
import { FOREIGN_STATEMENTS } from './foreign.ts';
import { CLAUSE_WORDS, CONTEXTUAL, RESERVED, RESOURCE_WORDS, STATEMENT_WORDS } from './keywords.ts';
import { filter, filterOrRecommendations, forLoop, type Lists, map, recommend, startsRecommend, whileLoop } from './loops.ts';
import { identifier, startsAlias } from './names.ts';
import { startsOptions } from './options.ts';
import { isTarget } from './primary.ts';
import { inParentheses, startsProcessedBy } from './processed-by.ts';
import { create, drop, publish } from './publish.ts';
import { select } from './select.ts';
import { startsSingle } from './trigger-words.ts';
import { END } from './tokens.ts';
import { value } from './values.ts';
import { insert, remove, update, upsert } from './write.ts';

const RESOURCE_STATEMENTS: Readonly<Record<string, (p: Cursor) => ResourceStatement>> = {
  select,
  insert,
  upsert,
  update,
  delete: remove,
  execute,
  filter,
  map,
};
export function resourceStatement(p: Cursor): ResourceStatement {
  return RESOURCE_STATEMENTS[p.text()]!(p);
}

const STATEMENTS: ReadonlyMap<string, (p: Cursor) => Statement> = new Map<string, (p: Cursor) => Statement>([
  ...Object.entries(RESOURCE_STATEMENTS),
  ['filter', filterOrRecommendations],
  ['var', declaration],
  ['if', (p) => p.chained(() => conditional(p))],
  ['for', (p) => forLoop(p, lists)],
  ['return', returning],
  ['publish', publish],
  ['create', create],
  ['alter', create],
  ['drop', drop],
]);

const lists: Lists = { untilEnd, block: blockOrStatement };

/** Statements until `isEnd`; what is wrong in one does not spoil the next. */
export function statementList(p: Cursor, isEnd: (p: Cursor) => boolean, into: Statement[] = []): Statement[] {
  const outer = { statement: p.statementStart, list: p.listStart };
  p.listStart = p.pos;
  while (!p.isEnd() && !isEnd(p)) {
    if (p.accept(';')) continue;
    const first = p.pos;
    try {
      into.push(statement(p));
    } catch (error) {
      if (error !== PANIC) throw error;
      p.synchronise(first);
    }
  }
  p.statementStart = outer.statement;
  p.listStart = outer.list;
  return into;
}

export function block(p: Cursor): Block {
  const start = p.start();
  if (!p.at('{')) p.missing("'{'");
  const opener = p.take();
  const body = p.nested(() => p.plain(() => statementList(p, atBrace)), opener);
  if (!p.at('}')) p.missing("'}'");
  p.take();
  return p.node(start, { type: 'Block', body });
}
const atBrace = (p: Cursor): boolean => p.at('}');

/** Braces are required; where they are missing, one statement is read as the block. */
function blockOrStatement(p: Cursor): Block {
  if (p.at('{') || p.isEnd() || p.at('}')) return block(p);
  const start = p.start();
  p.soft(p.here(), `expected '{', found ${p.describe()}`, 'a block stands in braces, also when it is one statement');
  const body = p.nested(() => p.plain(() => [statement(p)]));
  return p.node(start, { type: 'Block', body });
}

/** `DO … END`. */
function untilEnd(p: Cursor): Block {
  const start = p.start();
  p.take();
  const body = p.nested(() => p.plain(() => statementList(p, (at) => at.at('}') || atEnd(at))));
  p.expect('end', 'DO is closed by END');
  return p.node(start, { type: 'Block', body });
}
const atEnd = (p: Cursor): boolean => p.at('end') && !p.isPlainName();

/** Does the token look like the beginning of a statement, when it is the first on its line? For finding one's feet after a mistake. */
export function startsStatement(p: Cursor): boolean {
  if (!p.isWord() || p.at(':', 1) || p.at(',', 1)) return false;
  if (p.isPlainName()) return true;
  if (startsSingle(p) || CLAUSE_WORDS.has(p.text())) return false;
  return !RESERVED.has(p.text()) || STATEMENT_WORDS.has(p.text()) || RESOURCE_WORDS.has(p.text()) || p.at('timeout') || p.at('system');
}

/** After a header that could not be read: on to the first line that looks like a statement. */
export function recoverHeader(p: Cursor): void {
  p.synchronise(p.pos, Infinity);
}

function statement(p: Cursor): Statement {
  p.statementStart = p.pos;
  if (!p.isWord()) return p.at('}') ? p.fail("this '}' closes nothing") : assignmentOrExpression(p);
  if (p.isAssigning(1) || (p.at('.', 1) && p.isWord(2) && !p.at('system'))) return reservedAsName(p);
  const parse = STATEMENTS.get(p.text());
  if (parse) return parse(p);
  if (p.at('try') && p.at('{', 1)) return attempt(p);
  if (p.at('while') && (p.at('(', 1) || isBareLoop(p))) return whileLoop(p, lists);
  if (startsRecommend(p)) return recommend(p);
  strayWord(p);
  return foreignDeclaration(p) ?? assignmentOrExpression(p);
}

/** `while a < 3 {`: meant as a loop, unless there is such a variable. */
const isBareLoop = (p: Cursor): boolean => !p.declared.has(p.written()) && p.isWord(1) && !p.isFresh(1) && !CONTEXTUAL.has(p.text(1));

/** A word that is assigned to or has a member is a name; a reserved one is told of and read as one all the same. */
function reservedAsName(p: Cursor): Statement {
  if (p.isReserved()) {
    if (!p.isMisnamed()) p.found.report(p.here(), 'cascade.lang.name.reserved', p.written());
    p.tolerated = p.pos;
  }
  return assignmentOrExpression(p);
}

function assignmentOrExpression(p: Cursor): Statement {
  const start = p.start();
  const left = expression(p);
  if (!p.isAssigning()) return p.node(start, { type: 'ExpressionStatement', expression: left });
  if (!isTarget(p, left)) {
    const isComparison = left.type === 'Binary' || left.type === 'Logical';
    p.fail('this cannot be assigned to', isComparison ? 'for a comparison write ==' : 'assign to a variable, a member or a subscript');
  }
  const operator = p.text() as '=' | '+=' | '-=' | '*=' | '/=' | '%=';
  p.take();
  return p.node(start, { type: 'Assign', target: left, operator, value: value(p) });
}

function declaration(p: Cursor): VariableDeclaration {
  const start = p.start();
  p.take();
  if (p.at('{') || p.at('[')) p.fail('there is no destructuring', 'declare one variable at a time');
  const name = identifier(p, 'a name for the variable');
  if (p.at(',')) p.fail('one VAR declares one variable', `write var ${name.name} var …`);
  if (p.at(':')) p.fail('a variable has no declared type', `write var ${name.name} = …`);
  const given = p.accept('=') ? value(p) : null;
  if (p.at(',')) p.fail('one VAR declares one variable', `write var ${name.name} = … var …`);
  return p.node(start, { type: 'Var', name, value: given });
}

/** ELSE IF is read in a loop, so that a long chain needs no stack here. */
function conditional(p: Cursor): If {
  const branches: { start: number; condition: Value; then: Block; end: number }[] = [];
  let otherwise: If | Block | null = null;
  do {
    const start = p.start();
    p.take();
    const condition = test(p);
    const then = blockOrStatement(p);
    branches.push({ start, condition, then, end: then.end });
    p.grow();
    if (!p.accept('else')) break;
    if (!p.at('if')) otherwise = blockOrStatement(p);
  } while (otherwise === null);
  const end = otherwise?.end ?? branches.at(-1)!.end;
  for (const { start, condition, then } of branches.reverse()) otherwise = { type: 'If', condition, then, otherwise, start, end };
  return otherwise as If;
}

function test(p: Cursor): Value {
  if (p.at('('))
    return p.group(
      '(',
      () => testInside(p),
      () => p.nothing(),
    );
  p.soft(p.here(), `expected '(', found ${p.describe()}`, 'a condition stands in parentheses');
  return value(p);
}

function testInside(p: Cursor): Value {
  const inside = value(p);
  if (p.at('=')) p.fail("'=' assigns", 'for a comparison write ==');
  if (p.at('{')) p.missing("')'");
  return inside;
}

function attempt(p: Cursor): Try {
  const start = p.start();
  p.take();
  const body = block(p);
  if (!p.at('catch')) p.missing("'CATCH'", 'every TRY has a CATCH (e) { … }, which may be empty');
  p.take();
  if (!p.at('(')) p.missing("'('", 'CATCH names the error: CATCH (e) { … }');
  const variable = inParentheses(p);
  const handler = block(p);
  const finalizer = p.at('finally') && p.at('{', 1) ? (p.take(), block(p)) : null;
  return p.node(start, { type: 'Try', body, variable, handler, finalizer });
}

/** R3: bare before `}`, `;`, the end, or the word of another statement on a new line. */
function returning(p: Cursor): Return {
  const start = p.start();
  p.take();
  const isBare = p.isEnd() || p.at('}') || p.at(';') || (p.isFresh() && startsByWord(p)) || (atEnd(p) && p.isFresh());
  return p.node(start, { type: 'Return', value: isBare ? null : value(p) });
}

function startsByWord(p: Cursor): boolean {
  if (!p.isWord() || p.isAssigning(1)) return p.isWord() && p.isAssigning(1);
  if (STATEMENTS.has(p.text()) || p.at('timeout')) return !p.at('.', 1);
  return (p.at('try') && p.at('{', 1)) || (p.at('while') && p.at('(', 1)) || startsRecommend(p);
}

// ---------------------------------------------------------------- what cannot stand here
/** A clause without its statement, a word of other languages, or a second definition. */
function strayWord(p: Cursor): void {
  const word = p.text();
  const clause =
    (startsWhere(p) && p.startsOperand(1) && !p.isPlainName()) ||
    (startsOptions(p) && p.at('=', 2)) ||
    ((word === 'order' || word === 'group') && p.at('by', 1)) ||
    startsProcessedBy(p) ||
    (startsAlias(p) && !p.isFresh()) ||
    (word === 'on' && p.at('error', 1) && p.at('(', 2));
  if (clause) p.fail(`${word.toUpperCase()} cannot stand here`, 'the clauses of a statement have a fixed order');
  if (word === 'else') p.fail('ELSE without an IF before it');
  if (word === 'timeout') p.fail('TIMEOUT stands at the end of a WHEN rule, outside all blocks');
  const isDefinition = ['rule', 'ruleset', 'procedure'].includes(word) && p.isWord(1);
  if (isDefinition) {
    p.soft(p.here(), 'a text holds one RULE or PROCEDURE', 'put the other one into a text of its own');
    p.stop();
  }
  foreignWord(p, word);
}

function foreignWord(p: Cursor, word: string): void {
  const hint = FOREIGN_STATEMENTS.get(word);
  if (hint === undefined) return;
  const isLoopWord = (word === 'break' || word === 'continue') && !p.declared.has(p.written());
  const isAlone = isLoopWord && !p.isPlainName() && (p.isFresh(1) || p.at('}', 1) || p.at(';', 1) || p.kind(1) === END);
  const hasBlock = p.at('(', 1) && p.at('{', p.afterPartner(1));
  const hasOperand = word === 'throw' && p.startsOperand(1) && !p.isFresh(1) && !p.isPlainName() && !CONTEXTUAL.has(p.text(1));
  const isLoop = word === 'foreach' && p.isWord(1) && p.at('in', 2);
  const doWhile = word === 'do' && p.at('{', 1) && p.at('while', p.afterPartner(1)) ? p.afterPartner(p.afterPartner(1) + 1) : 0;
  if (!isAlone && !hasBlock && !hasOperand && !isLoop && doWhile <= 0 && !(word === 'finally' && p.at('{', 1))) return;
  p.soft(p.here(), `${quoted(p.written())} is not in the language`, hint);
  for (let rest = hasBlock ? p.afterPartner(1) : Math.max(doWhile, 1); rest > 0; rest -= 1) p.take();
  p.giveUp();
}

/** `let x = …`, `const x = …`: told of and read as VAR. */
function foreignDeclaration(p: Cursor): Statement | null {
  const isForeign = (p.at('let') || p.at('const')) && p.isWord(1) && !p.isFresh(1) && p.at('=', 2);
  if (!isForeign) return null;
  p.soft(p.here(), `${quoted(p.written())} is not in the language`, 'write var');
  return declaration(p);
}
