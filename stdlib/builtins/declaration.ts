// How an area declares its built-ins: one entry each, in a table.
import type { LangCode } from '../errors.ts';
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
  /** Codes that it raises beside those that `isOfArguments` knows. */
  readonly errors?: readonly DeclaredCode[];
  /** It takes something of its run: chance, messages, a Sequence. */
  readonly ofRun?: true;
  /** It writes what is in shared Maps among its arguments (compiler/types.ts). */
  readonly contents?: true;
}

/** A code of this catalogue or of the host's (model/errors/api-errors.ts). `*`: whatever the operation or procedure raises that it carries out. */
export type DeclaredCode =
  | LangCode
  | 'cascade.authorization.denied'
  | 'cascade.document.too.large'
  | 'cascade.namespace.not.authorized'
  | 'cascade.notification.payload'
  | 'cascade.notification.source'
  | 'cascade.notification.users'
  | 'cascade.operation.unknown'
  | 'cascade.query.too.expensive'
  | 'cascade.request.parameter.invalid'
  | 'cascade.resource.not.found'
  | 'cascade.source.inactive'
  | 'cascade.source.unavailable'
  | 'cascade.topic.name.invalid'
  | '*';

/** Of those that compare by `==`: values that cannot be compared, or not in time. */
export const COMPARED: readonly DeclaredCode[] = ['cascade.lang.class.cast', 'cascade.lang.arithmetic.overflow', 'cascade.lang.range'];

/**
 * Whether any built-in may raise the code, which its declaration then leaves out: it tells of arguments that are not those of the
 * signature, of a value that is no data or has no text, or of a limit of the run.
 */
export const isOfArguments = (code: string): boolean =>
  /^cascade\.(?:procedure\.(?:argument\.|parameter\.(?:missing|type)$)|lang\.(?:null|string\.size|sequence\.\w+)$|execution\.|builtin\.method\.)/.test(
    code,
  );

export interface PureDeclaration extends Described {
  readonly run: Implementation;
  /** It changes its first argument. */
  readonly mutates?: true;
  /** What a call takes that goes through all of an argument, in turns of a loop; absent where that is little, or told as it goes (`charge`, `spend`). */
  readonly turns?: (...args: never[]) => number;
}

/** One for which the program waits: its arguments are checked in the isolate, then the host is asked (features/builtins). */
export interface HostDeclaration extends Described {
  readonly effect: 'suspends';
  /** What the run itself knows; where it is given, the host is not asked. */
  readonly known?: (facts: RunFacts) => Value;
  /** Concerns a shared object (builtins.md 10): it is made, called, or a lambda decides what becomes of an entry. */
  readonly shared?: 'create' | 'call' | 'lambda';
  /** The host answers with the first page of a Sequence, as to `open` (stdlib/isolate/protocol.ts). */
  readonly pages?: true;
  /** The host answers with base64 of the Binary. */
  readonly binary?: true;
}

export type Declaration = PureDeclaration | HostDeclaration;
