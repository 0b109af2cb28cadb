// Programs of a single call each: what a condition asks for that takes too long where conditions are decided (runs/decision.ts).

import type { CompiledProcedure } from '../../compiler/index.ts';
import { lookup } from '../../stdlib/builtins/index.ts';
import type { DeferredCall } from '../../model/query/index.ts';
import type { Program } from '../../sandbox/index.ts';
import { compileText, programOf } from './programs.ts';

/** As many as there are built-ins, and numbers of arguments. */
const made = new Map<string, Program>();

/** It is given the arguments in their order. */
export function programFor({ builtin, args }: DeferredCall): Program {
  const names = args.map((_, i) => `a${i}`);
  const call = builtin === null ? names.join(' regex ') : callOf(builtin, names);
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
