// Lines of runs that want the same instance. An instance that nobody lost a race for has no line; after the first loss those
// who read it take turns, so that each update meets the version it read (language.md U7).

export class Contention {
  /** Instance → runs in line, the first of which has its turn. */
  readonly #lines = new Map<string, { run: string; go: () => void }[]>();
  readonly #held = new Map<string, Set<string>>();

  /** Whether reads of this instance go in line. */
  isContended(instance: string): boolean {
    return this.#lines.has(instance);
  }

  /** Whether the run has a turn or a place in any line: it must not wait in a second one (two such could wait for each other). */
  isEngaged(run: string): boolean {
    return this.#held.has(run);
  }

  /** Puts the run in line, unless it is there; resolves when it is its turn. */
  enter(instance: string, run: string): Promise<void> {
    const line = this.#lines.get(instance) ?? [];
    this.#lines.set(instance, line);
    const held = this.#held.get(run) ?? new Set();
    this.#held.set(run, held.add(instance));
    const place = line.findIndex((one) => one.run === run);
    if (place === 0) return Promise.resolve();
    return new Promise((go) => {
      if (place > 0) (line[place] as { go: () => void }).go = go;
      else line.push({ run, go });
      if (line.length === 1) go();
    });
  }

  /** As `enter`, after giving up places in other lines: a run is in one line at a time. */
  moveTo(instance: string, run: string): Promise<void> {
    if (!this.#held.get(run)?.has(instance)) this.leave(run);
    return this.enter(instance, run);
  }

  /** The run has changed these instances: if it was its turn for one of them, that turn is over. */
  changed(instances: readonly string[], run: string): void {
    const held = this.#held.get(run);
    if (held && instances.some((instance) => held.has(instance))) this.leave(run);
  }

  /** The run has ended: those behind it move up. */
  leave(run: string): void {
    for (const instance of this.#held.get(run) ?? []) {
      const line = this.#lines.get(instance) ?? [];
      const place = line.findIndex((one) => one.run === run);
      if (place >= 0) line.splice(place, 1);
      if (line.length === 0) this.#lines.delete(instance);
      else if (place === 0) line[0]?.go();
    }
    this.#held.delete(run);
  }
}
