// Modules and programs that are loaded: the emitted functions by the names that the host gave (mechanisms.md f).
import { fromInner, type Value } from '../values/index.ts';
import type { Inner, ModuleId, ProgramId } from './protocol.ts';
import type { Runtime } from './runtime.ts';

/** A function of a module. */
export interface Entry {
  readonly code: (...args: never[]) => unknown;
  readonly isGenerator: boolean;
}
/** 'main', 'timeout', or 'asked<n>': a value that a condition of the rule asks for. */
export type EntryName = string;
type Module = ReadonlyMap<EntryName, Entry>;
/** What a module's text evaluates to. */
export type Factory = (runtime: Runtime) => unknown;

interface Program {
  readonly module: Module;
  readonly constants: readonly Value[];
}

const GeneratorFunction = Object.getPrototypeOf(function* () {}) as object;

export class Programs {
  readonly #runtime: () => Runtime;
  readonly #modules = new Map<ModuleId, Module>();
  readonly #programs = new Map<ProgramId, Program>();
  /** @param runtime made late, as it needs the programs itself */
  constructor(runtime: () => Runtime) {
    this.#runtime = runtime;
  }

  define(mod: ModuleId, factory: Factory): void {
    const made = factory(this.#runtime());
    const entries = (Array.isArray(made) ? (made as unknown[]) : [made]).map(entryOf);
    this.#modules.set(mod, new Map(entries.map((entry, i) => [i === 0 ? 'main' : entry.code.name, entry])));
  }
  bind(program: ProgramId, mod: ModuleId, constants: Inner[]): void {
    const module = this.#modules.get(mod);
    if (!module) throw new Error(`module ${mod} is not loaded`);
    this.#programs.set(program, { module, constants: constants.map(fromInner) });
  }
  unbind(program: ProgramId): void {
    this.#programs.delete(program);
  }
  unload(mod: ModuleId): void {
    this.#modules.delete(mod);
  }

  constants(program: ProgramId): readonly Value[] {
    return this.#program(program).constants;
  }
  entry(program: ProgramId, name: EntryName): Entry {
    const entry = this.#program(program).module.get(name);
    if (!entry) throw new Error(`program ${program} has no ${name}`);
    return entry;
  }
  #program(id: ProgramId): Program {
    const program = this.#programs.get(id);
    if (!program) throw new Error(`program ${id} is not bound`);
    return program;
  }
}

function entryOf(code: unknown): Entry {
  if (typeof code !== 'function') throw new Error('a module gives functions');
  return { code: code as Entry['code'], isGenerator: Object.getPrototypeOf(code) === GeneratorFunction };
}
