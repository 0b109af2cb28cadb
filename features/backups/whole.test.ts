import { expect, test } from 'vitest';
import type { Pieces } from '../../resources/api.ts';
import { handedOver, whole } from './whole.ts';

/** Pieces of a backup, and how often they were closed. */
function piecesOf(...texts: string[]): { pieces: Pieces; closed: () => number } {
  let closed = 0;
  const left = [...texts];
  const pieces: Pieces = { next: async () => left.shift() ?? null, close: async () => void closed++ };
  return { pieces, closed: () => closed };
}

test('a backup is joined up to a bound, and closed either way', async () => {
  const fits = piecesOf('ab', 'c', 'de');
  expect(await whole(fits.pieces, 5)).toBe('abcde');
  const tooLarge = piecesOf('ab', 'c', 'def', 'g');
  await expect(whole(tooLarge.pieces, 5)).rejects.toMatchObject({ code: 'cascade.query.too.expensive', params: ['memory'] });
  expect([await tooLarge.pieces.next(), fits.closed(), tooLarge.closed()]).toEqual(['g', 1, 1]);
});

test('a backup whose audit cannot be stored is closed, and one that is handed over is open', async () => {
  const [refused, given] = [piecesOf('a'), piecesOf('a')];
  await expect(handedOver(refused.pieces, () => Promise.reject(new Error('no audit')))).rejects.toThrow('no audit');
  expect(await handedOver(given.pieces, async () => undefined)).toBe(given.pieces);
  expect([refused.closed(), given.closed()]).toEqual([1, 0]);
});
