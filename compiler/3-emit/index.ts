// Third phase: the tree and what was found about it to JavaScript, and conditions of triggers to data. Nothing can go wrong with the text here.
import type * as es from 'estree';
import type { Expression, Statement, Value } from '../ast.ts';
import type { Model } from '../2-check/index.ts';
import type { CompiledModule } from '../types.ts';
import * as b from './build.ts';
import { endingInValue } from './calls.ts';
import { ModuleWriter, type Tail, variable } from './context.ts';
import { emitExpression } from './expressions.ts';
import { emitLazy } from './loops.ts';
import { emitOperation, isOperation } from './operations.ts';
import { print } from './print.ts';
import { membersRead } from './reads.ts';
import { emitNodeBlocks, hasNodeBlocks } from './processed-by.ts';
import { emitProcessing, hasProcessing } from './processing.ts';
import { emitStatement } from './statements.ts';
import { emitTraced } from './trace.ts';

export { TooLarge } from './context.ts';
export { emitUnit } from './unit.ts';

/** An expression, or a resource statement that stands for a value. */
function emitValue(node: Value, module: ModuleWriter): es.Expression {
  if (hasNodeBlocks(node) || hasProcessing(node)) {
    const emitted = (): es.Statement[] => (hasNodeBlocks(node) ? emitNodeBlocks(node, module) : emitProcessing(node, 'value', module));
    const body = module.body(() => endingInValue(emitted()));
    return b.delegate(module.helper('block', node, b.generator([], body)));
  }
  if (node.type === 'Filter' || node.type === 'Map') return emitLazy(node, module);
  return isOperation(node) ? emitOperation(node, false, module) : emitExpression(node, module);
}

/** @param traced the form that tells which lines it takes. @throws TooLarge */
export function emit(model: Model, source: string, traced: boolean): CompiledModule {
  const module = new ModuleWriter(model, source, { value: emitValue, statement: traced ? emitTraced : emitStatement }, traced);
  const { definition } = model;
  const suspends = module.suspends(definition.body);
  const main = emitBody('main', definition.body, model.variables.main, module);
  const functions = [main];
  const timeout = definition.type === 'Rule' ? definition.timeout : null;
  if (timeout) functions.push(emitBody('timeout', timeout, model.variables.timeout, module));
  for (const [n, { expression }] of model.rule?.asked.entries() ?? []) functions.push(emitAsked(`asked${n}`, expression, module));
  const names = functions.map((made) => b.id(made.id.name));
  const result = names.length > 1 ? b.array(names) : b.id('main');
  const { text, map } = print(program(module, functions, result));
  return { source: text, map, constants: JSON.stringify(module.constants), suspends, reads: readsOf(model, main) };
}

function readsOf({ rule }: Model, main: es.FunctionDeclaration): readonly string[] | null {
  const [name, ...others] = rule?.variables ?? [];
  const [binds, ...different] = new Set(rule?.triggers.map((trigger) => trigger.binds));
  return name === undefined || binds === undefined || others.length + different.length > 0
    ? null
    : membersRead(main, variable(name).name, binds);
}

function emitBody(name: string, body: readonly Statement[], variables: readonly string[], module: ModuleWriter): es.FunctionDeclaration {
  const { model } = module;
  const params = [b.id('$'), ...parameters(model).map(variable)];
  const before = name === 'main' && (isBefore(model) || isOfSource(model));
  const tail: Tail = model.procedure ? 'value' : before ? 'before' : 'effect';
  const statements = module.body(() => {
    const made = module.statements(body, tail);
    const image = model.rule?.variables[0];
    return before && image !== undefined ? [...made, b.returns(variable(image))] : made; // language.md O2
  });
  const declared = variables.length > 0 ? [b.declare('let', ...variables.map((v) => [variable(v).name, b.literal(null)] as const))] : [];
  return b.declaredFunction(name, params, [...declared, ...statements], module.suspends(body));
}

/** What a condition asks for, of the event variables. */
function emitAsked(name: string, expression: Expression, module: ModuleWriter): es.FunctionDeclaration {
  const params = [b.id('$'), ...parameters(module.model).map(variable)];
  module.nullSafe = true;
  const body = module.body(() => [b.returns(module.value(expression))]);
  module.nullSafe = false;
  return b.declaredFunction(name, params, body, module.suspends(expression));
}

const isBefore = ({ definition }: Model): boolean => definition.type === 'Rule' && definition.trigger.type === 'Before';

/** A rule on a source may stand in its pipeline, where its value is the message from then on (integrations.md 1.6). */
const isOfSource = ({ rule }: Model): boolean =>
  rule?.triggers.length === 1 && rule.triggers[0]?.paths[0]?.startsWith('/sources/') === true;

function parameters(model: Model): readonly string[] {
  return model.rule?.variables ?? model.procedure?.parameters.map((parameter) => parameter.name) ?? [];
}

/** `(function ($rt) { 'use strict'; const …; function main($, …) { … } return main; })` */
function program(module: ModuleWriter, functions: readonly es.Statement[], result: es.Expression): es.Program {
  const runtime = (name: string): es.Expression => b.field(b.id('$rt'), name);
  const constants: (readonly [string, es.Expression])[] = [
    ...[...module.helpers].sort().map((name) => [`$${name}`, runtime(name)] as const),
    ...[...module.builtins].map(([constant, [form, name]]) => [constant, b.call(runtime(form), b.literal(name))] as const),
    ...[...module.reals.values()].map(({ name, value }) => [name, b.call(runtime('real'), realLiteral(value))] as const),
  ];
  const body: es.Statement[] = [
    { type: 'ExpressionStatement', expression: { type: 'Literal', value: 'use strict' } },
    ...constants.map((constant) => b.declare('const', constant)),
    ...functions,
    b.returns(result),
  ];
  const factory: es.Expression = {
    type: 'FunctionExpression',
    id: null,
    params: [b.id('$rt')],
    body: b.block(body),
    generator: false,
    async: false,
  };
  return { type: 'Program', sourceType: 'script', body: [b.statement(factory)] };
}

/** The largest Reals print as `1e+300`; infinity cannot be written as a literal of the language. */
const realLiteral = (value: number): es.Expression => b.literal(value);
