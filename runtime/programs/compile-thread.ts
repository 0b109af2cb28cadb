// The task of the thread that compiles long texts, so that they do not block the main thread.
import { type Compiled, compile, type ServiceStateNames } from '../../compiler/index.ts';
import { lowerPriority } from '../../platform/threads/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';

lowerPriority();

export interface CompileTask {
  readonly text: string;
  readonly kind: 'rule' | 'procedure';
  /** Whether the text may use names that are reserved for the service. */
  readonly ofService: boolean;
  /** State variables of services, as far as they are known to be needed. */
  readonly states: Readonly<Record<string, ServiceStateNames | null>>;
}

/** `needs`: the service whose state variables are needed first; only the text names it. */
export type CompileReply = { readonly compiled: Compiled } | { readonly needs: string };

export default function compileInThread({ text, kind, ofService, states }: CompileTask): CompileReply {
  let needs: string | undefined;
  const stateOf = (service: string): ServiceStateNames | null => {
    if (Object.hasOwn(states, service)) return states[service] ?? null;
    needs = service;
    return null;
  };
  const compiled = compile(text, { builtins: builtinTable(), kind, ofService, stateOf });
  return needs === undefined ? { compiled } : { needs };
}
