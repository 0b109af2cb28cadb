// What an expression over a row reads of it (language.md E7 to E9): paths of properties, without the row's own name in front (W2).
import type * as es from 'estree';
import type { Expression, Span } from '../ast.ts';
import { isAggregate } from '../2-check/aggregates.ts';
import { dottedPath } from '../2-check/calls.ts';
import type { Model } from '../2-check/index.ts';
import { childrenOf } from '../2-check/walk.ts';
import * as b from './build.ts';
import type { ModuleWriter } from './context.ts';

/** How a path of the text becomes a path of the query. */
export type PathOf = (steps: readonly string[]) => string;
/** A first step that is the result variable is dropped (W2). */
export const pathOn =
  (variable: string | null): PathOf =>
  (steps) =>
    (steps.length > 1 && steps[0] === variable ? steps.slice(1) : steps).join('.');

/** The path that a name or member reads; null: it reads none, or from a parameter of a lambda. */
export function rowPath(node: Expression, variable: string | null, locals: readonly string[]): string | null {
  const steps = dottedPath(node);
  return steps && !locals.includes(steps[0] ?? '') ? pathOn(variable)(steps) : null;
}

/** The name under which the row itself has what the member reads, where it does not read inside one of the row's properties. */
export function rowProperty(node: Expression, { row, rowLocals }: ModuleWriter): string | null {
  const path = row && rowPath(node, row.variable, rowLocals);
  return path && (!path.includes('.') || row.groups.includes(path)) ? path : null;
}

export function emitRowProperty(name: string, at: Span, module: ModuleWriter): es.Expression {
  return module.helper('get', at, b.id(module.row?.name ?? ''), b.literal(name), b.literal('the row'));
}

/**
 * All paths that the expression reads of the row.
 * @param from `groups`: of the row of a group, which aggregates do not read
 */
export function rowReads(expression: Expression, variable: string | null, model: Model, from: 'instances' | 'groups'): string[] {
  const found: string[] = [];
  const visit = (node: Expression, locals: readonly string[]): void => {
    if (model.constants.has(node) || (from === 'groups' && isAggregate(node))) return;
    const path = rowPath(node, variable, locals);
    if (path !== null) return void found.push(path);
    const receiver = node.type === 'Call' ? model.calls.get(node)?.receiver : null; // of `a.b.size()`, which is read as the call of one name
    if (receiver) visit(receiver, locals);
    const inner = node.type === 'Lambda' ? [...locals, ...node.parameters.map((parameter) => parameter.name)] : locals;
    for (const child of childrenOf(node)) visit(child as Expression, inner);
  };
  visit(expression, []);
  return found;
}
