// Statements to ESTree. A body's last statement gives its value (language.md C5, 5): the tail says what becomes of it.
import type * as es from 'estree';
import type { If, Select, Statement, Try } from '../ast.ts';
import * as b from './build.ts';
import { type ModuleWriter, type Tail, variable, writeVariable } from './context.ts';
import { emitAssign, emitChange, emitStep, OPERATION } from './expressions.ts';
import { emitFor, emitRecommendations, emitWhile } from './loops.ts';
import { emitOperation, isTailEffect, type Operation } from './operations.ts';
import { emitNodeBlocks, hasNodeBlocks } from './processed-by.ts';
import { emitProcessing, hasProcessing } from './processing.ts';

type Table<N extends { type: string }> = {
  [T in N['type']]: (node: Extract<N, { type: T }>, tail: Tail, module: ModuleWriter) => es.Statement[];
};

const table: Table<Statement> = {
  Var: (node, tail, module) => give(b.assign(variable(node.name.name), node.value ? module.value(node.value) : b.literal(null)), tail),
  Assign: (node, tail, module) => {
    const { target, operator, value } = node;
    if (operator === '=')
      return give(
        emitAssign(target, module, () => module.value(value)),
        tail,
      );
    const name = OPERATION[operator.slice(0, -1) as keyof typeof OPERATION];
    return give(
      emitChange(target, module, (read) => module.helper(name, node, read, module.value(value))),
      tail,
    );
  },
  If: (node, tail, module) => [emitIf(node, tail, module)],
  For: (node, _tail, module) => emitFor(node, module),
  While: (node, _tail, module) => emitWhile(node, module),
  Try: (node, tail, module) => [emitTry(node, tail, module)],
  Return: (node, tail, module) => {
    if (tail === 'effect' && node.value && isTailEffect(node.value)) return [b.statement(emitOperation(node.value, true, module))];
    const value = node.value ? module.value(node.value) : b.literal(null);
    return [tail === 'value' || tail === 'before' ? b.returns(value) : b.statement(value)];
  },
  ExpressionStatement: ({ expression }, tail, module) => {
    if (expression.type !== 'Postfix' || tail === 'value') return give(module.value(expression), tail);
    return [b.statement(emitStep(expression, module))]; // nobody wants the value before the change
  },
  Recommendations: (node, tail, module) => emitRecommendations(node, tail, module),
  Recommend: (node, tail, module) => emitResource(node, tail, module),
  Publish: (node, tail, module) => emitResource(node, tail, module),
  PublishRequest: (node, tail, module) => emitResource(node, tail, module),
  Create: (node, tail, module) => emitResource(node, tail, module),
  Drop: (node, tail, module) => emitResource(node, tail, module),
  Select: (node, tail, module) => emitSelectStatement(node, tail, module),
  Insert: (node, tail, module) => emitResource(node, tail, module),
  Upsert: (node, tail, module) => emitResource(node, tail, module),
  Update: (node, tail, module) => emitResource(node, tail, module),
  Delete: (node, tail, module) => emitResource(node, tail, module),
  Execute: (node, tail, module) => emitResource(node, tail, module),
  Filter: (node, tail, module) => give(module.value(node), tail),
  Map: (node, tail, module) => give(module.value(node), tail),
};

export function emitStatement(node: Statement, tail: Tail, module: ModuleWriter): es.Statement[] {
  return (table[node.type] as (node: Statement, tail: Tail, module: ModuleWriter) => es.Statement[])(node, tail, module);
}

/** A value in statement position. */
function give(value: es.Expression, tail: Tail): es.Statement[] {
  return [tail === 'value' ? b.returns(value) : b.statement(value)];
}

function emitResource(node: Exclude<Operation, Select>, tail: Tail, module: ModuleWriter): es.Statement[] {
  if (hasNodeBlocks(node)) return emitNodeBlocks(node, module);
  if (hasProcessing(node)) return emitProcessing(node, tail, module);
  return give(emitOperation(node, tail === 'effect' && isTailEffect(node), module), tail);
}

/** SELECT as a statement also sets its variable (language.md E4). */
function emitSelectStatement(node: Select, tail: Tail, module: ModuleWriter): es.Statement[] {
  if (hasNodeBlocks(node)) return emitNodeBlocks(node, module);
  if (hasProcessing(node)) return emitProcessing(node, tail, module);
  const name = module.model.selects.get(node);
  const value = module.value(node);
  return give(name === undefined ? value : writeVariable(node, name, value, module), tail);
}

function emitIf(node: If, tail: Tail, module: ModuleWriter): es.Statement {
  const then = b.block(module.statements(node.then.body, tail));
  const { otherwise } = node;
  if (otherwise === null) return b.when(module.decision(node.condition), then);
  const alternate = otherwise.type === 'If' ? emitIf(otherwise, tail, module) : b.block(module.statements(otherwise.body, tail));
  return b.when(module.decision(node.condition), then, alternate);
}

/** Limits are not caught: `$caught` throws them on, and FINALLY asks first whether the run lives (language.md T5). */
function emitTry(node: Try, tail: Tail, module: ModuleWriter): es.Statement {
  const inner = tail === 'effect' ? 'none' : tail; // an effect inside TRY is not the run's last word: it may fail and be caught
  const error = module.name('e');
  const body = b.block(module.statements(node.body.body, inner));
  const caught = module.helper('caught', node.variable, b.id('$'), b.id(error));
  const handler = [
    b.declare('let', [variable(node.variable.name).name, caught]),
    ...module.traceOf(node.variable),
    ...module.statements(node.handler.body, inner),
  ];
  const { finalizer } = node;
  const live = finalizer && b.when(module.helper('live', finalizer, b.id('$')), b.block(module.statements(finalizer.body, 'none')));
  const clause: es.CatchClause = { type: 'CatchClause', param: b.id(error), body: b.block(handler) };
  const guarded: es.TryStatement = { type: 'TryStatement', block: body, handler: clause, finalizer: null };
  if (!live) return guarded;
  // A limit may be hit in the handler, too, where no `$caught` sees it.
  const passing = module.name('e');
  const traceOf = b.statement(module.helper('passed', node.variable, b.id('$'), b.id(passing)));
  return {
    type: 'TryStatement',
    block: b.block([guarded]),
    handler: { type: 'CatchClause', param: b.id(passing), body: b.block([traceOf]) },
    finalizer: b.block([live]),
  };
}
