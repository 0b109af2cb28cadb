// What still runs of the part that `&&` or `||` skips: calls of user procedures and resource statements, left to right, once each
// (language.md 4.5). Properties, built-ins and the branches of a ternary around them are not evaluated.
import type * as es from 'estree';
import type { Call, Expression, MethodCall, Value } from '../ast.ts';
import { traitsOf } from '../2-check/statement-traits.ts';
import { childrenOf } from '../2-check/walk.ts';
import type { ModuleWriter } from './context.ts';

export function skipped(node: Expression, module: ModuleWriter): es.Expression[] {
  const found: es.Expression[] = [];
  collect(node, module, found);
  return found;
}

function collect(node: { readonly type: string }, module: ModuleWriter, found: es.Expression[]): void {
  if (node.type === 'Lambda' || node.type === 'Filter' || node.type === 'Map') return;
  const call = node.type === 'Call' || node.type === 'MethodCall' ? module.model.calls.get(node as Call | MethodCall) : undefined;
  if (traitsOf(node)?.runsWhereSkipped || call?.kind === 'user') {
    module.copy();
    found.push(module.value(node as Value));
  } else if (node.type === 'Ternary') collect((node as Extract<Expression, { type: 'Ternary' }>).condition, module, found);
  else {
    if (call?.receiver && node.type === 'Call') collect(call.receiver, module, found);
    for (const child of childrenOf(node)) collect(child, module, found);
  }
}
