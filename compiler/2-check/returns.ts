// RETURN gives the value of a body but does not end it, so anywhere but in tail position it does nothing (language.md R1, R2).
import type { Statement } from '../ast.ts';
import type { Report } from './report.ts';
import { valueStatements } from './statement-traits.ts';
import { type AnyNode, childrenOf } from './walk.ts';

/** Warns of every RETURN of a body that is not in tail position. */
export function checkReturns(body: readonly Statement[], report: Report): void {
  const tails = new Set<object>(valueStatements(body));
  const visit = (node: AnyNode): void => {
    if (node.type === 'Return' && !tails.has(node))
      report(node, 'cascade.lang.return.position', 'RETURN does not end execution: the statements after it still run');
    const inner = innerBody(node);
    if (inner) for (const statement of valueStatements(inner)) tails.add(statement);
    for (const child of childrenOf(node)) visit(child);
  };
  for (const statement of body) visit(statement);
}

/** Bodies with a value of their own: of FILTER, MAP and lambdas. */
function innerBody(node: AnyNode): readonly Statement[] | null {
  if (node.type !== 'Filter' && node.type !== 'Map' && node.type !== 'Lambda') return null;
  const { body } = node as unknown as { body: { type: string; body: readonly Statement[] } };
  return body.type === 'Block' ? body.body : null;
}
