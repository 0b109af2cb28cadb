// What the isolates are told of procedures. Each answer is looked up once, however many ask; a change makes the look-up start again.
import type { ResolvedProcedure } from './types.ts';

type Resolve = (namespace: string, name: string) => Promise<ResolvedProcedure | null>;
interface Asker {
  found(info: ResolvedProcedure | null): void;
  failed(error: unknown): void;
}

export class Procedures {
  readonly #resolve: Resolve;
  /** Looked up just now: who waits for it, and how often it changed since it was first asked for. */
  readonly #waiting = new Map<string, { askers: Asker[]; changes: number }>();

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  find(namespace: string, name: string, asker: Asker): void {
    const key = keyOf(namespace, name);
    const waiting = this.#waiting.get(key);
    if (waiting) {
      waiting.askers.push(asker);
      return;
    }
    this.#waiting.set(key, { askers: [asker], changes: 0 });
    void this.#lookUp(namespace, name);
  }

  changed(namespace: string, name: string): void {
    const waiting = this.#waiting.get(keyOf(namespace, name));
    if (waiting) waiting.changes += 1;
  }

  async #lookUp(namespace: string, name: string): Promise<void> {
    const key = keyOf(namespace, name);
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    let reply: (asker: Asker) => void;
    let changes: number;
    do {
      changes = waiting.changes;
      try {
        const info = await this.#resolve(namespace, name);
        reply = (asker) => asker.found(info);
      } catch (error) {
        reply = (asker) => asker.failed(error);
      }
    } while (waiting.changes !== changes);
    this.#waiting.delete(key);
    for (const asker of waiting.askers) reply(asker);
  }
}

const keyOf = (namespace: string, name: string): string => `${namespace}\0${name}`;
