// Time and chance in a simulated world: timers and clocks stand still until the world lets time pass, and Math.random follows the world's
// seed. While it is installed they replace those of the whole process, so that the tested parts need not know of it.
import type { Clock } from '../../../platform/clock/index.ts';
import { randomFrom } from './world.ts';

interface Armed {
  readonly call: () => void;
  readonly everyMs: number | null;
  dueMs: number;
}

/** The year 2030, in milliseconds since the epoch. */
const BEGIN_MS = 1_893_456_000_000;

export class SimulatedTime implements Disposable {
  #nowMs = 0;
  /** The error of the time of day; the monotonic clock is not affected. */
  #wrongByMs = 0;
  readonly #armed = new Set<Armed>();
  readonly #real = [globalThis.setTimeout, globalThis.clearTimeout, globalThis.setInterval, globalThis.clearInterval] as const;
  readonly #realNow = Date.now;
  readonly #realRandom = Math.random;

  constructor() {
    const arm = (call: () => void, ms: number | undefined, isInterval: boolean): unknown => {
      const one: Armed & { unref?: () => unknown } = { call, everyMs: isInterval ? (ms ?? 0) : null, dueMs: this.#nowMs + (ms ?? 0) };
      one.unref = () => one;
      this.#armed.add(one);
      return one;
    };
    const clear = (one: unknown): void => void this.#armed.delete(one as Armed);
    globalThis.setTimeout = ((call: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) =>
      arm(() => call(...given), ms, false)) as typeof setTimeout;
    globalThis.setInterval = ((call: () => void, ms?: number) => arm(call, ms, true)) as typeof setInterval;
    globalThis.clearTimeout = clear;
    globalThis.clearInterval = clear;
    Date.now = () => BEGIN_MS + this.#nowMs + this.#wrongByMs;
    Object.defineProperty(performance, 'now', { value: () => this.#nowMs, configurable: true });
  }

  /** Begins a new world: no timer is armed, and Math.random starts from its seed. */
  reset(seed: number): void {
    this.#armed.clear();
    this.#nowMs = 0;
    this.#wrongByMs = 0;
    Math.random = randomFrom(~seed); // a sequence other than the world's own
  }

  /** Simulates that somebody sets the machine's clock. */
  setWrongBy(ms: number): void {
    this.#wrongByMs = ms;
  }

  /** Lets time pass; due timers are called in the order of their times. */
  pass(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      let first: Armed | undefined;
      for (const one of this.#armed) if (one.dueMs <= untilMs && (!first || one.dueMs < first.dueMs)) first = one;
      if (!first) break;
      this.#nowMs = Math.max(this.#nowMs, first.dueMs);
      if (first.everyMs === null) this.#armed.delete(first);
      else first.dueMs += Math.max(first.everyMs, 1);
      first.call();
    }
    this.#nowMs = untilMs;
  }

  [Symbol.dispose](): void {
    [globalThis.setTimeout, globalThis.clearTimeout, globalThis.setInterval, globalThis.clearInterval] = this.#real;
    Date.now = this.#realNow;
    Math.random = this.#realRandom;
    Reflect.deleteProperty(performance, 'now');
  }
}

/** The clock of a simulated service, which follows the monotonic clock, as that of a real one does (platform/clock). */
export const steadyClock: Clock = {
  now: () => BEGIN_MS + performance.now(),
  at(timeMs, call) {
    const timer = setTimeout(call, Math.max(timeMs - (BEGIN_MS + performance.now()), 0));
    return { cancel: () => clearTimeout(timer) };
  },
};
