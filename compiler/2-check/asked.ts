// What of a condition only the program can give (calls of the user's own procedures, lambdas, what asks the host): each becomes a function
// of the module whose value the condition is decided with (language.md W4, 6.1). Inside conditions a null step gives null (4.8).
import type { Expression, Span } from '../ast.ts';
import { dottedPath } from './calls.ts';

/** An expression without its places: the same for the same text, whatever blanks and comments are in it. */
export const textOf = (node: Expression): string =>
  JSON.stringify(node, (key, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return key === 'start' || key === 'end' || key.endsWith('Span') ? undefined : value;
  });

/** The same, but each path through what is null gives null. */
export function nullSafe<T>(node: T): T {
  if (Array.isArray(node)) return node.map(nullSafe) as T;
  if (node === null || typeof node !== 'object') return node;
  const expression = node as unknown as Expression;
  if (expression.type === 'Member' && dottedPath(expression)) return guardedPath(expression) as T;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, nullSafe(value as unknown)])) as T;
}

/** `a.b.c` as `a == null || a.b == null ? null : a.b.c` */
function guardedPath(path: Extract<Expression, { type: 'Member' }>): Expression {
  const { start, end } = path;
  const place: Span = { start, end };
  const steps: Expression[] = [];
  for (let step = path.object; ; step = step.object) {
    steps.unshift(step);
    if (step.type !== 'Member') break;
  }
  const condition = steps
    .map((left): Expression => ({ type: 'Binary', operator: '==', operatorSpan: place, left, right: { type: 'Null', ...place }, ...place }))
    .reduce((left, right) => ({ type: 'Logical', operator: '||', left, right, ...place }));
  return { type: 'Ternary', condition, then: { type: 'Null', ...place }, otherwise: path, ...place };
}
