// Programs that consist of a single call: the deferred call of a condition that takes too long for the host (runs/decision.ts).

import type { CompiledProcedure } from '../../compiler/index.ts';
import { lookup } from '../../stdlib/builtins/index.ts';
import type { DeferredCall } from '../../model/query/index.ts';
import type { Program } from '../../sandbox/index.ts';
import { compileText, programOf } from './programs.ts';

/** Bounded by the number of built-ins and of their arguments. */
const made = new Map<string, Program>();

/** The program for a call; it gets the arguments in order. */
export function programFor({ builtin, operator = 'regex', args }: DeferredCall): Program {
  const names = args.map((_, i) => `a${i}`);
  const call = builtin === null ? names.join(` ${operator} `) : callOf(builtin, names);
  let program = made.get(call);
  if (!program) {
    const { module } = compileText(`PROCEDURE conditionWork(${names.join(', ')})\nreturn ${call}`, 'procedure') as CompiledProcedure;
    made.set(call, (program = programOf(module, '')));
  }
  return program;
}

function callOf(builtin: string, names: readonly string[]): string {
  const isMethodOnly = lookup(builtin)?.info.forms === 'M';
  const [receiver, ...rest] = names;
  return isMethodOnly ? `${receiver}.${builtin}(${rest.join(', ')})` : `${builtin}(${names.join(', ')})`;
}
