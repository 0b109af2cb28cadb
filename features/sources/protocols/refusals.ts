// Requests that are refused for who sends them: each is audited and logged, up to a number a minute; of more there is one line with their count. Anybody
// may send them, so nobody may fill the logs with them.
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
      const unsaid = this.#count - MOST_A_WINDOW;
      if (unsaid > 0) this.#say(`Source ${source}: authenticate: ${unsaid} more messages were refused.`);
      [this.#since, this.#count] = [at, 0];
    }
    if (++this.#count <= MOST_A_WINDOW) this.#say(`Source ${source}: authenticate: a message was refused.`);
  }

  #say(message: string): void {
    this.#context.log('WARN', message);
    this.#context.audit('authenticate', message);
  }
}
