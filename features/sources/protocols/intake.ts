// Messages of a broker that is told of each what became of it.
import type { Inbound, InboundValue, SourceContext } from './protocol.ts';

const RETRY_AFTER_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** Settles one message with the broker. */
export interface Settlement {
  accept(): void;
  /** It can never be taken: it must not come again. */
  reject(): void;
  /** It must come again. */
  requeue(): void;
}

/**
 * Takes one message in and settles it by its outcome. One that a pipeline failed on comes again, after a pause that grows while they fail: else it would
 * come again at once, for ever.
 */
export class Intake {
  readonly #context: SourceContext;
  #failures = 0;
  #underWay = 0;
  #isClosing = false;
  readonly #idle: (() => void)[] = [];

  constructor(context: SourceContext) {
    this.#context = context;
  }

  async take(message: Inbound | InboundValue, settlement: Settlement): Promise<void> {
    this.#underWay++;
    try {
      const outcome = await this.#context.deliver(message);
      this.#failures = 0;
      if (outcome === 'refused') settlement.reject();
      else settlement.accept();
    } catch {
      const pauseMs = Math.min(RETRY_AFTER_MS * 2 ** this.#failures++, LONGEST_RETRY_MS);
      if (!this.#isClosing) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      settlement.requeue();
    } finally {
      if (--this.#underWay === 0) for (const wake of this.#idle.splice(0)) wake();
    }
  }

  /** Resolves when what came is settled. */
  async settled(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** The same at the end: what fails is not waited for. */
  async drained(): Promise<void> {
    this.#isClosing = true;
    await this.settled();
  }
}
