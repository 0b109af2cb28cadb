// Statements that ask the host for one operation, as values.
import type * as es from 'estree';
import type { Execute, Recommend, Select, Statement, Value } from '../ast.ts';
import * as b from './build.ts';
import { emitExecuted } from './calls.ts';
import type { ModuleWriter } from './context.ts';
import { emitFederated, isFederated } from './processed-by.ts';
import { optionValue } from './references.ts';
import { argumentsOf, executeAllOf, isRequesting, type Requesting, requestOf } from './requests.ts';
import { emitSelect } from './select.ts';

export type Operation = Requesting | Execute | Recommend | Select;

export function isOperation(node: Statement | Value): node is Operation {
  return isRequesting(node) || node.type === 'Execute' || node.type === 'Recommend' || node.type === 'Select';
}

/** @param tail the run ends with it, and its value is not used */
export function emitOperation(node: Operation, tail: boolean, module: ModuleWriter): es.Expression {
  if (isFederated(node)) return emitFederated(node, module);
  if (node.type === 'Select') return emitSelect(node, module);
  if (node.type === 'Execute') return emitExecute(node, tail, module);
  if (node.type === 'Recommend') return emitRecommend(node, module);
  const { kind, payload } = requestOf(node, module);
  return module.operation(kind, node, payload, tail);
}

/** Whether the statement can be a run's last effect: one operation and then nothing (mechanisms.md a3). */
export function isTailEffect(node: Statement | Value): node is Operation {
  if (isFederated(node)) return false;
  if (node.type === 'Execute') return node.async;
  if (node.type === 'Update') return node.onError === null;
  return isOperation(node) && node.type !== 'Select' && node.type !== 'Recommend';
}

function emitRecommend(node: Recommend, module: ModuleWriter): es.Expression {
  const loop = module.model.recommendations.get(node);
  const list = (loop && module.recommended.get(loop)) ?? b.literal(null);
  const option = (name: string): es.Expression => {
    const value = optionValue(node.options, name);
    return value ? module.value(value) : b.literal(null);
  };
  return module.helper('recommend', node, b.id('$'), list, module.value(node.candidate), option('relevance'), option('reason'));
}

/** EXECUTE p(a) is p(a); ASYNC and `*` are the host's business (language.md 5.14). */
function emitExecute(node: Execute, tail: boolean, module: ModuleWriter): es.Expression {
  const target = module.model.calls.get(node);
  if (!node.procedure || !target) {
    const { kind, payload } = executeAllOf(node, module);
    return module.operation(kind, node, payload, tail);
  }
  const partitionKey = optionValue(node.options, 'partitionKey');
  if (!node.async) return emitExecuted(target, node.arguments, partitionKey, node.procedure, module);
  const names = target.kind === 'user' ? target.names : [target.info.name];
  const members: [string, es.Expression][] = [
    ['names', b.array(names.map((name) => b.literal(name)))],
    ...argumentsOf(node, module),
    ['async', b.literal(node.async)],
  ];
  if (target.kind === 'builtin') members.push(['builtin', b.literal(true)]);
  if (partitionKey) members.push(['partitionKey', module.value(partitionKey)]);
  return module.operation('execute', node, b.object(members), tail);
}
