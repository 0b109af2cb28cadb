// What of a condition only the program can give (calls of the user's own procedures, lambdas, what asks the host): each becomes a function
// of the module whose value the condition is decided with (language.md W4, 6.1).
import type { Expression } from '../ast.ts';

/** An expression without its places: the same for the same text, whatever blanks and comments are in it. */
export const textOf = (node: Expression): string =>
  JSON.stringify(node, (key, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return key === 'start' || key === 'end' || key.endsWith('Span') ? undefined : value;
  });
