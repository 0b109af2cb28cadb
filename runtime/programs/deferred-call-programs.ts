// Programs that consist of a single call: the deferred call of a condition that takes too long for the host (runs/decision.ts), and a built-in
// that EXECUTE ASYNC queues.

import { boundedCache } from '../../platform/structures/index.ts';
import type { CompiledProcedure } from '../../compiler/index.ts';
import { lookup } from '../../stdlib/builtins/index.ts';
import type { DeferredCall } from '../../model/query/index.ts';
import type { Program } from '../../sandbox/index.ts';
import { compileText, programOf } from './programs.ts';

const made = boundedCache<string, Program>(1_000);

/** A call of a built-in, or of an operator such as `a regex b`. */
export interface SingleCall {
  readonly builtin: string | null;
  readonly operator?: DeferredCall['operator'];
  readonly args: readonly unknown[];
  /** The arguments' names; absent: they are given by their places. */
  readonly named?: readonly string[];
  /** Its value is nobody's: it need not be data. */
  readonly discarded?: true;
}

/** The program for a call; it gets the arguments in order. */
export function programFor({ builtin, operator = 'regex', args, named, discarded }: SingleCall): Program {
  const names = args.map((_, i) => `a${i}`);
  const call = builtin === null ? names.join(` ${operator} `) : callOf(builtin, named ? named.map((name, i) => `${name}: a${i}`) : names);
  const body = discarded ? `${call}\nreturn null` : `return ${call}`;
  let program = made.get(body);
  if (!program) {
    const { module } = compileText(`PROCEDURE singleCall(${names.join(', ')})\n${body}`, 'procedure') as CompiledProcedure;
    made.set(body, (program = programOf(module, '')));
  }
  return program;
}

function callOf(builtin: string, names: readonly string[]): string {
  const isMethodOnly = lookup(builtin)?.info.forms === 'M';
  const [receiver, ...rest] = names;
  return isMethodOnly ? `${receiver}.${builtin}(${rest.join(', ')})` : `${builtin}(${names.join(', ')})`;
}
