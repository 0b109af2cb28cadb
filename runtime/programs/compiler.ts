// Compiles the texts of definitions for all namespaces: short ones at once, long ones in a thread, one at a time for each namespace.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Piscina } from 'piscina';
import { type Compiled, compile, type ServiceStateNames } from '../../compiler/index.ts';
import { builtinTable } from '../../stdlib/builtins/index.ts';
import { langError } from '../../stdlib/errors.ts';
import type { CompileReply, CompileTask } from './compile-thread.ts';
import { type CompiledUnit, unitOf } from './programs.ts';

/** Bound up to which a text is compiled at once, which takes some milliseconds. */
const SHORT_TEXT = 4 * 1024;
/** Time limit for a text; one of the greatest length takes some seconds. */
const LONGEST_MS = 60_000;
const THREAD_MB = 1024;
const IDLE_MS = 30_000;
/** Bound of the cached outputs, in characters of their texts: a change compiles the old and the new text, some more than once. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;

export interface CompileAsked {
  readonly kind: 'rule' | 'procedure';
  /** Whether the text may use names that are reserved for the service. */
  readonly ofService?: boolean;
  /** Gives the state variables of a service (language.md 8). */
  readonly stateOf?: (service: string) => ServiceStateNames | null;
}

export class Compiler {
  readonly #pool = new Piscina({
    filename: new URL(import.meta.url.endsWith('.ts') ? './compile-thread.ts' : './compile-thread.js', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    concurrentTasksPerWorker: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MB },
    atomics: 'disabled',
    recordTiming: false,
  });
  readonly #kept = new LRUCache<string, CompiledUnit>({ maxSize: KEPT_CHARACTERS, maxEntrySize: KEPT_CHARACTERS });
  /** The last long text of each namespace, which the next one waits for. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** @throws CascadeErrors one for each diagnostic that is an error; cascade.execution.timeout */
  async compile(namespace: string, text: string, asked: CompileAsked): Promise<CompiledUnit> {
    if (text.length <= SHORT_TEXT) return unitOf(compile(text, { builtins: builtinTable(), ...asked }));
    const key = JSON.stringify([namespace, asked.kind, asked.ofService === true, createHash('sha256').update(text).digest('base64')]);
    const known = this.#kept.get(key);
    if (known && (asked.kind === 'rule' || known.kind !== 'procedure' || known.serviceName === null)) return known;
    const before = this.#last.get(namespace);
    const compiling = this.#inThread(before, text, asked);
    this.#last.set(namespace, compiling);
    try {
      const unit = unitOf(await compiling);
      this.#kept.set(key, unit, { size: text.length });
      return unit;
    } finally {
      if (this.#last.get(namespace) === compiling) this.#last.delete(namespace);
    }
  }

  async #inThread(
    before: Promise<unknown> | undefined,
    text: string,
    { kind, ofService = false, stateOf = () => null }: CompileAsked,
  ): Promise<Compiled> {
    await before?.catch(() => undefined); // the earlier text's caller gets its error
    const states: Record<string, ServiceStateNames | null> = {};
    for (;;) {
      const task: CompileTask = { text, kind, ofService, states };
      const reply = await this.#run(task);
      if ('compiled' in reply) return reply.compiled;
      Object.defineProperty(states, reply.needs, { value: stateOf(reply.needs), enumerable: true });
    }
  }

  async #run(task: CompileTask): Promise<CompileReply> {
    const signal = AbortSignal.timeout(LONGEST_MS);
    try {
      return (await this.#pool.run(task, { signal })) as CompileReply;
    } catch (error) {
      if (signal.aborted) throw langError('cascade.execution.timeout', `/${task.kind}s`, `${LONGEST_MS / 1_000} s`);
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
        throw langError('cascade.execution.memory', `/${task.kind}s`, THREAD_MB * 1024 * 1024);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }
}
