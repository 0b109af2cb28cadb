import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QueueFull } from '../transactions/index.ts';
import { type Permit, FairScheduler } from './fair-scheduler.ts';

/** What a namespace has begun, in its order; the promises have been given time to tell. */
class Asker {
  readonly begun: number[] = [];
  readonly #places: Permit[] = [];
  #asked = 0;
  readonly #shares: FairScheduler;
  readonly #name: string;

  constructor(shares: FairScheduler, name: string) {
    this.#shares = shares;
    this.#name = name;
  }

  async ask(times = 1): Promise<void> {
    for (let n = 0; n < times; n++) {
      const nth = this.#asked++;
      const took = (place: Permit): void => {
        this.begun.push(nth);
        this.#places.push(place);
      };
      const entered = this.#shares.enter(this.#name);
      if (entered instanceof Promise) void entered.then(took);
      else took(entered);
    }
    await reported();
  }

  /** The oldest under way are answered. */
  async answered(times = 1): Promise<void> {
    for (const place of this.#places.splice(0, times)) this.#shares.leave(this.#name, place);
    await reported();
  }
}

const reported = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('the shares of namespaces', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('hold up nobody who asks alone', async () => {
    const noisy = new Asker(new FairScheduler(), 'noisy');
    await noisy.ask(500);
    expect(noisy.begun).toEqual(upTo(500));
  });

  it('give a namespace 32 requests under way while another one asks, the next in their order', async () => {
    const shares = new FairScheduler();
    const noisy = new Asker(shares, 'noisy');
    const quiet = new Asker(shares, 'quiet');
    await quiet.ask();
    await noisy.ask(100);
    await quiet.ask();
    expect([noisy.begun.length, quiet.begun.length, shares.waiting]).toEqual([32, 2, 68]);
    await noisy.answered(10);
    expect(noisy.begun).toEqual(upTo(42));
    await noisy.ask();
    expect(noisy.begun).toEqual(upTo(42)); // not before those that wait
  });

  it('begin no more of its queue in one turn of the event loop than it may have under way, however soon these end', async () => {
    const shares = new FairScheduler();
    const noisy = new Asker(shares, 'noisy');
    await new Asker(shares, 'quiet').ask();
    await noisy.ask(200);
    for (let n = 0; n < 10; n++) await noisy.answered(32);
    expect(noisy.begun).toEqual(upTo(64));
    vi.advanceTimersToNextTimer(); // the next turn
    await reported();
    for (let n = 0; n < 10; n++) await noisy.answered(32);
    expect(noisy.begun).toEqual(upTo(96));
  });

  it('end a second after the other one has asked last', async () => {
    const shares = new FairScheduler();
    const noisy = new Asker(shares, 'noisy');
    const quiet = new Asker(shares, 'quiet');
    await quiet.ask();
    await noisy.ask(100);
    vi.advanceTimersByTime(1_001);
    await reported();
    expect([noisy.begun, shares.waiting]).toEqual([upTo(100), 0]);
    await noisy.ask(100);
    expect(noisy.begun).toEqual(upTo(200));
  });

  it('count what takes long no longer: those behind it go on', async () => {
    const shares = new FairScheduler();
    const noisy = new Asker(shares, 'noisy');
    const quiet = new Asker(shares, 'quiet');
    await quiet.ask();
    await noisy.ask(64);
    for (let ms = 0; ms < 200; ms += 50) {
      vi.advanceTimersByTime(50);
      await quiet.ask();
      await noisy.ask(0);
    }
    expect(noisy.begun).toEqual(upTo(64));
    await noisy.answered(64);
    expect(shares.waiting).toBe(0);
  });

  it('are not waited for without end: so many of a namespace, then it is told', async () => {
    const shares = new FairScheduler();
    const noisy = new Asker(shares, 'noisy');
    await new Asker(shares, 'quiet').ask();
    await noisy.ask(32 + 20_000);
    expect(() => shares.enter('noisy')).toThrow(QueueFull);
    expect(noisy.begun.length).toBe(32);
  });
});
