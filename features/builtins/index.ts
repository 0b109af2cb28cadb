// Built-ins that need no namespace.
import type { Value } from '../../stdlib/values/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { tokens } from './tokens.ts';

/** Answers a request of the kind `builtin` that needs no namespace; null for one that does. @throws CascadeError */
export function answerAlone(name: string, args: readonly Value[]): Answer | null {
  return Object.hasOwn(tokens, name) ? tokens[name as keyof typeof tokens](null, args) : null;
}
export { releaseRequests } from './events.ts';
export { builtins } from './feature.ts';
export { typed } from './typed-rows.ts';
