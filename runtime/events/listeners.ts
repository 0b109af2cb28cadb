// The listeners to committed events: metrics, correlation, rules, subscribers, deliveries. A commit stands whatever a listener does, and a
// listener that fails does not keep the next one from its events.

export class Listeners {
  readonly #onError: (error: unknown, listener: string) => void;

  constructor(onError: (error: unknown, listener: string) => void) {
    this.#onError = onError;
  }

  /** Calls one listener. @returns what it gives; undefined when it has failed, which is reported */
  call<T>(listener: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#onError(error, listener);
      return undefined;
    }
  }
}
