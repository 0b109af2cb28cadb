// How an area answers its built-ins: one entry each, by name.
import type { Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import type { Namespace } from './types.ts';

/**
 * @param args one a parameter, checked and completed in the isolate by the declaration of the same name (stdlib/builtins)
 * @throws CascadeError what the program gets as an exception
 */
export type HostBuiltin = (space: Namespace, args: readonly Value[], actor: Actor) => Answer | Promise<Answer>;
export type HostBuiltins = Readonly<Record<string, HostBuiltin>>;
