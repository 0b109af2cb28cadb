// Statements behind one that never ends normally: `exception()`, `rethrow()`, an IF both of whose branches throw, an endless WHILE.
// RETURN is none of these (language.md R2): what follows it runs.
import type { If, Statement, Value } from '../ast.ts';
import type { Model } from '../2-check/model.ts';
import type { Report } from '../2-check/report.ts';
import { type AnyNode, childrenOf } from '../2-check/walk.ts';
import { isEndless } from './conditions.ts';

const THROWING: ReadonlySet<string> = new Set(['exception', 'rethrow']);

/** Warns of the first statement of each list that is never reached. */
export function adviseReachability(body: readonly Statement[], calls: Model['calls'], report: Report): void {
  const throws = (node: Value | null): boolean => {
    const target = node?.type === 'Call' || node?.type === 'MethodCall' ? calls.get(node) : undefined;
    return target?.kind === 'builtin' && THROWING.has(target.info.name);
  };
  const listEnds = (list: readonly Statement[]): boolean => list.some(ends);
  const branchesEnd = (node: If): boolean => {
    if (!node.otherwise || !listEnds(node.then.body)) return false;
    return node.otherwise.type === 'If' ? branchesEnd(node.otherwise) : listEnds(node.otherwise.body);
  };
  const ends = (node: Statement): boolean => {
    switch (node.type) {
      case 'ExpressionStatement':
        return throws(node.expression);
      case 'Var':
      case 'Assign':
      case 'Return':
        return throws(node.value);
      case 'If':
        return branchesEnd(node);
      case 'Try':
        return (listEnds(node.body.body) && listEnds(node.handler.body)) || (node.finalizer !== null && listEnds(node.finalizer.body));
      case 'While':
        return isEndless(node);
      case 'For':
      case 'Recommendations':
      case 'Recommend':
      case 'Publish':
      case 'PublishRequest':
      case 'Create':
      case 'Drop':
      case 'Select':
      case 'Insert':
      case 'Upsert':
      case 'Update':
      case 'Delete':
      case 'Execute':
      case 'Filter':
      case 'Map':
        return false;
    }
  };
  const list = (statements: readonly Statement[]): void => {
    const last = statements.findIndex(ends);
    const next = last < 0 ? undefined : statements[last + 1];
    if (next) report(next, 'cascade.check.statement.unreachable', 'this statement is never reached');
  };
  const visit = (node: AnyNode): void => {
    if (node.type === 'Block') list((node as unknown as { body: readonly Statement[] }).body);
    for (const child of childrenOf(node)) visit(child);
  };
  list(body);
  for (const statement of body) visit(statement);
}
