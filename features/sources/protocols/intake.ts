// Takes messages of brokers that expect a settlement for each.
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Inbound, InboundValue, Outcome, SourceContext } from './protocol.ts';

const RETRY_AFTER_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** Settles one message with the broker. */
export interface Settlement {
  accept(): void;
  /** The message can never be accepted: the broker must not deliver it again. */
  reject(): void;
  /** The broker must deliver the message again. */
  requeue(): void;
}

/**
 * Takes one message and settles it by its outcome. A message whose pipeline failed is requeued after a pause that grows with consecutive
 * failures: otherwise the broker would deliver it again at once, endlessly.
 */
export class Intake {
  readonly #context: SourceContext;
  #failures = 0;
  #underWay = 0;
  readonly #closing = new AbortController();
  readonly #idle: (() => void)[] = [];

  constructor(context: SourceContext) {
    this.#context = context;
    setMaxListeners(0, this.#closing.signal); // each message that failed has one
  }

  /** @param read reads what arrived. Whatever it throws refuses that message: thrown to a broker's library it would end the connection. */
  async take(read: () => Inbound | InboundValue, settlement: Settlement): Promise<void> {
    this.#underWay++;
    try {
      const outcome = await this.#outcomeOf(read);
      this.#failures = 0;
      if (outcome === 'refused') settlement.reject();
      else settlement.accept();
    } catch {
      const pauseMs = Math.min(RETRY_AFTER_MS * 2 ** this.#failures++, LONGEST_RETRY_MS);
      await sleep(pauseMs, undefined, { ref: false, signal: this.#closing.signal }).catch(() => undefined); // it ends at once when closing
      settlement.requeue();
    } finally {
      if (--this.#underWay === 0) for (const wake of this.#idle.splice(0)) wake();
    }
  }

  #outcomeOf(read: () => Inbound | InboundValue): Promise<Outcome> {
    let message;
    try {
      message = read();
    } catch (error) {
      return this.#context.malformed(error instanceof Error ? error.message : String(error));
    }
    return this.#context.deliver(message);
  }

  /** Resolves when no message is in flight. */
  async settled(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** The same when the source closes: messages that have failed, or fail, are requeued without a pause. */
  async drained(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }
}
