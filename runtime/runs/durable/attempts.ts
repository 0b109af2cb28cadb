// The attempts of a run: which is the present one, what is still under way of any of them, and how often it has begun again and why. A run begins
// again after a lost race, after harm that it may not have done itself, and when its isolate is gone (language.md U7, integrations.md 12.5).

/** How often a run may exceed its CPU time or memory, or take the sandbox down (integrations.md 12.5). */
const MOST_LIMIT_VIOLATIONS = 3;
/** A run that never wins its races has a fault that repetition does not mend. */
const MOST_ATTEMPTS = 1_000;

export class Attempts {
  #present = 0;
  /** Requests in flight of any attempt: their commits belong to the run, so the next attempt waits for their end. */
  #underWay = 0;
  /** Called when no request is in flight. */
  #whenIdle: (() => void) | null = null;
  /** How often it exceeded a limit that protects other runs. */
  #limitViolations = 0;
  /** How often it lost its isolate while its record was too long to repeat it there. */
  #losses = 0;
  /** Its end is stored. */
  #isOver = false;

  get present(): number {
    return this.#present;
  }

  get areTooMany(): boolean {
    return this.#present > MOST_ATTEMPTS;
  }

  get limitViolations(): number {
    return this.#limitViolations;
  }

  /** Whether the next one runs in an isolate of its own. */
  get areAlone(): boolean {
    return this.#limitViolations > 0 || this.#losses > 1;
  }

  /** @returns whether it may be tried again */
  violatedLimit(): boolean {
    return ++this.#limitViolations < MOST_LIMIT_VIOLATIONS;
  }

  lostIsolate(): void {
    this.#losses++;
  }

  /** No attempt begins or goes on any more. */
  over(): void {
    this.#isOver = true;
  }

  get areOver(): boolean {
    return this.#isOver;
  }

  /** A request is under way, until `settled`. */
  began(): void {
    this.#underWay++;
  }

  settled(): void {
    if (--this.#underWay > 0) return;
    const next = this.#whenIdle;
    this.#whenIdle = null;
    next?.();
  }

  track(work: Promise<void>): void {
    this.began();
    void work.finally(() => this.settled());
  }

  /** Ends the present attempt after its requests in flight, since one may be the commit of an effect or of the run's end. */
  end(then: () => void): void {
    const attempt = ++this.#present;
    const next = (): void => {
      if (attempt === this.#present && !this.#isOver) then();
    };
    if (this.#underWay === 0) next();
    else this.#whenIdle = next;
  }
}
