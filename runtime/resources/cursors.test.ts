import { expect, test } from 'vitest';
import { StartAgain } from '../actor.ts';
import { cursors } from './cursors.ts';

test('a walk that broke off is not taken for one that has come to its end: who asks for more begins again', async () => {
  async function* pages(): AsyncGenerator<string[]> {
    yield ['1', '2'];
    throw new Error('the store is away');
  }
  const { cursor } = JSON.parse(await cursors.open(pages())) as { cursor: string };
  await expect(cursors.next(cursor)).rejects.toThrow('the store is away');
  await expect(cursors.next(cursor)).rejects.toBeInstanceOf(StartAgain);
});
