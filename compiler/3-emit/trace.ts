// The traced form of a module, in which a repeated run tells which lines it takes and what they change (`cascade replay`). It asks the host at the
// same sites as the plain form; what runs in the service is never traced.
import type * as es from 'estree';
import type { Statement, Value } from '../ast.ts';
import * as b from './build.ts';
import { type ModuleWriter, type Tail, variable } from './context.ts';
import { emitStatement } from './statements.ts';

/** A statement between the mark of its line and the variables that it has changed; a value that it gives is shown on its way out. */
export function emitTraced(node: Statement, tail: Tail, module: ModuleWriter): es.Statement[] {
  const made = emitStatement(node, tail, module);
  const begin = b.statement(module.trace(node, []));
  const last = made.at(-1);
  if (last?.type === 'ReturnStatement' && last.argument)
    return [begin, ...made.slice(0, -1), b.returns(module.trace(node, ['value'], last.argument))];
  const names = module.row === null ? changedBy(node, module) : [];
  if (names.length === 0) return [begin, ...made];
  return [begin, ...made, b.statement(module.trace(node, names, ...names.map(variable)))];
}

/** Variables that a statement itself may change; those of its blocks are told of there, those of a state only the host knows. */
function changedBy(node: Statement, module: ModuleWriter): string[] {
  switch (node.type) {
    case 'Var':
      return [node.name.name];
    case 'Assign':
      return ofRoot(node.target, module);
    case 'ExpressionStatement':
      return ofRoot(node.expression, module);
    case 'Select': {
      const name = node.processing === null ? module.model.selects.get(node) : undefined;
      return name === undefined || module.model.state.has(node) ? [] : [name];
    }
    case 'Recommendations':
      return [node.result.name];
    default:
      return [];
  }
}

/** `o` of `o.a[1] = 2`, `o.push(3)` and `o.n++`. */
function ofRoot(node: Value, module: ModuleWriter): string[] {
  for (let at: Value | null = node; at !== null; )
    if (at.type === 'Name') return module.model.state.has(at) ? [] : [at.name];
    else if (at.type === 'Postfix') at = at.target;
    else if (at.type === 'Member' || at.type === 'Subscript') at = at.object;
    else if (at.type === 'Call' || at.type === 'MethodCall') at = module.model.calls.get(at)?.receiver ?? null;
    else return [];
  return [];
}
