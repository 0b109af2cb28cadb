// How an area declares its built-ins: one entry each, in a table.
import type { Value } from '../values/index.ts';
import type { BuiltinContext, RunFacts } from './context.ts';

/** Arguments come checked, widened and completed, in the forms of types.ts; a rest parameter as an array. */
export type Implementation = (context: BuiltinContext, ...args: never[]) => Value;

interface Described {
  /** Name, parameters and result, as signature.ts reads them. */
  readonly call: string;
  /** F function form, M method form, S with its service's name only. */
  readonly forms: 'F' | 'M' | 'FM' | 'S';
  /** One line for the documentation. */
  readonly about: string;
}

export interface PureDeclaration extends Described {
  readonly run: Implementation;
}

/** One for which the program waits: its arguments are checked in the isolate, then the host is asked (runtime/builtins). */
export interface HostDeclaration extends Described {
  readonly effect: 'suspends';
  /** What the run itself knows; where it is given, the host is not asked. */
  readonly known?: (facts: RunFacts) => Value;
  /** Concerns a shared object (builtins.md 10): it is made, called, or a lambda decides what becomes of an entry. */
  readonly shared?: 'create' | 'call' | 'lambda';
  /** The host answers with the first page of a Sequence, as to `open` (stdlib/isolate/protocol.ts). */
  readonly pages?: true;
}

export type Declaration = PureDeclaration | HostDeclaration;
