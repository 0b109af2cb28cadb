// The type of a feature's implementations of built-ins: one entry for each, by name.
import type { Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import type { Namespace } from './types.ts';

/**
 * @param args one for each parameter, checked and completed in the isolate by the declaration of the same name (stdlib/builtins)
 * @throws CascadeError the exception that the program gets
 */
export type HostBuiltin = (space: Namespace, args: readonly Value[], actor: Actor) => Answer | Promise<Answer>;
export type HostBuiltins = Readonly<Record<string, HostBuiltin>>;
