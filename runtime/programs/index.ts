// The door of runtime/programs: compiled programs, their cache and their store.
export { COMPILATION_CACHE, CompilationCache, type CompiledBy, compilerHash } from './compilation-cache.ts';
export { Compiler } from './compiler.ts';
export { programFor, type SingleCall } from './deferred-call-programs.ts';
export type { Executable } from './executable.ts';
export { ProgramStore } from './program-store.ts';
export { compileText, executableKey, programOf, readExecutable } from './programs.ts';
