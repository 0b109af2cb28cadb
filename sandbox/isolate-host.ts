// The isolates of one lane, one a key (a namespace, or one run that is kept apart). Steps them, and throws away what went wrong.
// Which isolates exist, and which modules they hold, is decided and remembered by the service (lane.ts of its side: lane-queue.ts).
// An isolate holds no reference to anything out here; the references to its `define` and `step` are kept by this side.
import ivm from 'isolated-vm';
import type { BatchHeader, BatchReply, LaneSettings, LossReason } from './wire.ts';

interface Made {
  isolate: ivm.Isolate;
  context: ivm.Context;
  step: ivm.Reference<(batchJson: readonly [string]) => [string]>;
}

interface Live extends Made {
  generation: number;
}

type StepResult = Omit<BatchReply, 'kind' | 'batch'> & { text: string };

/**
 * Texts go in and come out in a list, which is copied: isolated-vm (6.2.0) makes an external string of a text that goes by itself, and the engine
 * does not count these. A thread whose own heap stays small collected none of them, and kept the size of each answer for good.
 */
const IN_A_LIST = { arguments: { copy: true }, result: { copy: true } } as const;

const BUNDLE_NAME = 'isolate-bundle.js';

/**
 * Compiles the script that isolates are made from, once for all of a process: that takes five times as long as to take what is compiled, and the
 * memory that it needs is not all given back.
 */
export function compileBundle(bundle: string): ArrayBuffer {
  const isolate = new ivm.Isolate();
  try {
    const script = isolate.compileScriptSync(bundle, { filename: BUNDLE_NAME, produceCachedData: true });
    return (script as { cachedData?: ivm.ExternalCopy<ArrayBuffer> }).cachedData?.copy() as ArrayBuffer;
  } finally {
    isolate.dispose();
  }
}

export class IsolateHost {
  readonly #live = new Map<string, Live>();
  /** Generation of the isolate that was lost last, a key: batches that were meant for it are not begun. */
  readonly #lost = new Map<string, number>();
  readonly #settings: LaneSettings;
  readonly #bundle: string;
  readonly #compiled: ivm.ExternalCopy<ArrayBuffer>;
  /** An isolate made in advance, for the next one that is asked for. */
  #ready: Made | null = null;

  /** @param bundle the script that every isolate is made from, and as the engine has compiled it (compileBundle) */
  constructor({ bundle, compiled }: { bundle: string; compiled: ArrayBuffer }, settings: LaneSettings) {
    this.#settings = settings;
    this.#bundle = bundle;
    this.#compiled = new ivm.ExternalCopy(compiled);
  }

  /** Makes the first isolate before it is wanted. */
  warmUp(): void {
    if (this.#live.size === 0) this.#ready ??= this.#make();
  }

  close(key: string): void {
    this.#live.get(key)?.isolate.dispose();
    this.#live.delete(key);
    this.#lost.delete(key);
  }

  step(header: BatchHeader, items: string): StepResult {
    const { isolate: key, generation } = header;
    if (generation <= (this.#lost.get(key) ?? 0)) return { cpuMs: 0, heap: 0, lost: 'stale', text: '' };
    const timeout = this.#settings.stepTimeoutMs;
    let live: Live | undefined;
    try {
      live = this.#get(key, generation);
      const { isolate } = live;
      const before = isolate.cpuTime;
      const unloadable = this.#load(live, header.load ?? []);
      const [text] = live.step.applySync(undefined, [[items]], { timeout, ...IN_A_LIST });
      if (typeof text !== 'string') throw new TypeError('the step gave no text');
      const heap = isolate.getHeapStatisticsSync().used_heap_size / (this.#settings.memoryLimitMb * 1024 * 1024);
      const cpuMs = Number(isolate.cpuTime - before) / 1e6;
      return { cpuMs, heap, ...(unloadable.length > 0 && { unloadable }), text };
    } catch (error) {
      const lost = reasonOf(error, live);
      this.close(key);
      this.#lost.set(key, generation);
      return { cpuMs: 0, heap: 0, lost, detail: error instanceof Error ? error.message : String(error), text: '' };
    }
  }

  #get(key: string, generation: number): Live {
    const known = this.#live.get(key);
    if (known && known.generation === generation) return known;
    this.close(key);
    const live = { ...(this.#ready ?? this.#make()), generation };
    this.#ready = null;
    this.#live.set(key, live);
    return live;
  }

  #make(): Made {
    const isolate = new ivm.Isolate({
      memoryLimit: this.#settings.memoryLimitMb,
      onCatastrophicError: (message) => {
        process.stderr.write(`the engine gave up: ${message}\n`);
        process.kill(process.pid, 'SIGABRT');
      },
    });
    const context = isolate.createContextSync();
    this.#runBundle(isolate, context);
    const step = context.evalSync('$cascade.step', { reference: true }) as Made['step'];
    return { isolate, context, step };
  }

  /**
   * From the compiled form, not from a heap snapshot: that takes three quarters of the time, but each isolate then holds two thirds more memory
   * (docs/decisions.md).
   */
  #runBundle(isolate: ivm.Isolate, context: ivm.Context): void {
    const script = isolate.compileScriptSync(this.#bundle, { filename: BUNDLE_NAME, cachedData: this.#compiled });
    script.runSync(context, { timeout: this.#settings.stepTimeoutMs });
    script.release();
  }

  #load(live: Live, modules: [string, string][]): [string, string][] {
    const unloadable: [string, string][] = [];
    for (const [hash, source] of modules) {
      const call = `$cascade.define(${JSON.stringify(hash)}, `;
      // The offset makes positions of errors count from the beginning of the source.
      const origin = { filename: `cascade:${hash}`, columnOffset: -call.length };
      try {
        const script = live.isolate.compileScriptSync(`${call}${source})`, origin);
        script.runSync(live.context, { timeout: this.#settings.stepTimeoutMs });
        script.release();
      } catch (error) {
        if (reasonOf(error, live) !== 'error') throw error;
        unloadable.push([hash, error instanceof Error ? error.message : String(error)]);
      }
    }
    return unloadable;
  }
}

function reasonOf(error: unknown, live: Live | undefined): LossReason {
  if (live?.isolate.isDisposed) return 'memory';
  return error instanceof Error && error.message === 'Script execution timed out.' ? 'timeout' : 'error';
}
