// Frames that are written at one end of a link arrive at the other, whole, once and in order, whatever the bus does with the messages.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Link, type Timers } from './link.ts';

/** Simulated time, which passes when nothing else is due. */
class Simulated implements Timers {
  #now = 0;
  #due: { at: number; then: () => void }[] = [];

  after(ms: number, then: () => void): () => void {
    const one = { at: this.#now + ms, then };
    this.#due.push(one);
    return () => void (this.#due = this.#due.filter((each) => each !== one));
  }

  defer(then: () => void): void {
    this.after(0, then);
  }

  /** @returns false when no timer is left */
  step(): boolean {
    const [first] = this.#due.toSorted((a, b) => a.at - b.at);
    if (!first) return false;
    this.#due = this.#due.filter((each) => each !== first);
    this.#now = first.at;
    first.then();
    return true;
  }
}

interface Pair {
  readonly time: Simulated;
  readonly ends: readonly [Link, Link];
  readonly received: readonly [string[], string[]];
}

/** @param fate gives the delays in milliseconds after which the copies of a message arrive; none: it is lost */
function pairOf(fate: () => readonly number[], mostBytes: number): Pair {
  const time = new Simulated();
  const received: [string[], string[]] = [[], []];
  const end = (own: 0 | 1): Link =>
    new Link({
      timers: time,
      mostBytes,
      send: (segment) => {
        const copy = Buffer.from(segment);
        for (const ms of fate()) time.after(ms, () => ends[1 - own]?.receive(copy));
      },
      deliver: (frame) => received[own].push(frame.toString()),
    });
  const ends: [Link, Link] = [null as never, null as never];
  ends[0] = end(0);
  ends[1] = end(1);
  return { time, ends, received };
}

const frames = fc.array(fc.tuple(fc.constantFrom(0 as const, 1 as const), fc.string({ maxLength: 300 })), { maxLength: 60 });

test('frames arrive whole, once and in order, though messages are lost, repeated and reordered', () => {
  fc.assert(
    fc.property(frames, fc.integer({ min: 20, max: 200 }), fc.infiniteStream(fc.nat(99)), (written, mostBytes, luck) => {
      const next = (): number => luck.next().value as number;
      const { time, ends, received } = pairOf(() => {
        const fated = next();
        if (fated < 25) return [];
        return fated < 40 ? [next(), next() * 10] : [next()];
      }, mostBytes);
      const sent: [string[], string[]] = [[], []];
      for (const [at, text] of written) {
        ends[at].write(Buffer.from(text.slice(0, 7)), Buffer.from(text.slice(7)));
        sent[1 - at]!.push(text);
        if (next() < 30) time.step();
      }
      for (let steps = 0; steps < 200_000 && time.step(); steps++);
      expect(received).toEqual(sent);
      expect(ends.map(({ queuedBytes }) => queuedBytes)).toEqual([0, 0]);
    }),
    { numRuns: 60 },
  );
});

test('unacknowledged segments are sent again with growing pauses, and no more than the window are in flight', () => {
  let messages = 0;
  const { time, ends } = pairOf(() => {
    messages++;
    return [];
  }, 100);
  ends[0].write(Buffer.alloc(100_000));
  time.step();
  expect(messages).toBe(32);
  const sentAgain: number[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const before = messages;
    time.step();
    sentAgain.push(messages - before);
  }
  expect(sentAgain).toEqual([32, 32, 32, 32, 32, 32]);
  expect(ends[0].queuedBytes).toBeGreaterThan(100_000);
});

test('a message of no peer is ignored', () => {
  const { ends, received } = pairOf(() => [0], 100);
  ends[0].receive(Buffer.alloc(3));
  ends[0].receive(Buffer.alloc(12)); // its acknowledgement number is 0
  expect(received).toEqual([[], []]);
});
