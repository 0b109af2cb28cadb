// The body of a request whose transport goes on while it is paused, as uWebSockets.js does with what it has begun to read.
import { expect, test } from 'vitest';
import type { Exchange } from '../transport/index.ts';
import { Body } from './body.ts';
import { Budget } from './budget.ts';

const LIMIT_BYTES = 1_000;

/** A body, and what delivers a piece of it. */
function opened(mostHeldBytes = 1_000_000): { body: Body; take: (piece: Uint8Array, isLast: boolean) => void } {
  let take = (_piece: Uint8Array, _isLast: boolean): void => undefined;
  const exchange = {
    onData: (given: typeof take) => {
      take = given;
    },
    pauseData: () => undefined,
    resumeData: () => undefined,
  } as unknown as Exchange;
  const room = { budget: new Budget('requestBytes', mostHeldBytes, mostHeldBytes), owner: () => 'client' };
  const body = new Body(exchange, LIMIT_BYTES, true, room, () => undefined);
  return { body, take };
}

const PIECE = Buffer.alloc(600, 'x');

async function lengthOf(stream: AsyncIterable<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const piece of stream) length += piece.byteLength;
  return length;
}

test('a body that is read as a stream may have arrived before its reader, however long it is', async () => {
  const whole = opened();
  for (const isLast of [false, false, true]) whole.take(PIECE, isLast);
  expect(await lengthOf(whole.body.stream())).toBe(1_800);
  const begun = opened();
  begun.take(PIECE, false);
  begun.take(PIECE, false);
  const read = lengthOf(begun.body.stream());
  begun.take(PIECE, true);
  expect(await read).toBe(1_800);
});

test('as a whole it has the bound of all bodies', async () => {
  const late = opened();
  for (const isLast of [false, false, true]) late.take(PIECE, isLast);
  expect(() => late.body.received()).toThrow('1000 bytes');
  const early = opened();
  const received = early.body.received();
  for (const isLast of [false, false, true]) early.take(PIECE, isLast);
  await expect(received).rejects.toThrow('1000 bytes');
});

test('what there was no room for is not left out of the stream', async () => {
  const { body, take } = opened(1_000);
  take(PIECE, false);
  take(PIECE, false);
  const read = lengthOf(body.stream());
  take(PIECE, true);
  await expect(read).rejects.toThrow('requestBytes');
});
