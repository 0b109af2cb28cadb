// Audits and logs refused requests, up to a number a minute; further ones are summed up in one entry. Anyone can send such requests, so
// they must not be able to fill the logs.
import type { SourceContext } from './protocol.ts';

const WINDOW_MS = 60_000;
const MOST_A_WINDOW = 10;

export class Refusals {
  readonly #context: Pick<SourceContext, 'source' | 'now' | 'log' | 'audit'>;
  #since = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(context: Pick<SourceContext, 'source' | 'now' | 'log' | 'audit'>) {
    this.#context = context;
  }

  note(): void {
    const { now, source } = this.#context;
    const at = now();
    if (at - this.#since >= WINDOW_MS) {
      const omitted = this.#count - MOST_A_WINDOW;
      if (omitted > 0) this.#report(`Source ${source}: authenticate: ${omitted} more messages were refused.`);
      [this.#since, this.#count] = [at, 0];
    }
    if (++this.#count <= MOST_A_WINDOW) this.#report(`Source ${source}: authenticate: a message was refused.`);
  }

  #report(message: string): void {
    this.#context.log('WARN', message);
    this.#context.audit('authenticate', message);
  }
}
