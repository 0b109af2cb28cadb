// Counts work in flight, so that others can wait until none is left.

export class TaskTracker {
  #count = 0;
  #idle: (() => void)[] = [];

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** The work must not fail. */
  track(work: Promise<void>): void {
    this.#count++;
    void work.finally(() => {
      this.#count--;
      if (this.#count === 0) for (const resume of this.#idle.splice(0)) resume();
    });
  }

  async idle(): Promise<void> {
    while (this.isBusy) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
