// The change stream of a process after it has failed: nothing changes unseen between the reading of everything and the next stream.
import type { MongoClient } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { openChanges } from './changes.ts';

test('after a failure the next stream is open before everything is read again', async () => {
  const steps: string[] = [];
  let streams = 0;
  const watch = () => {
    const name = ++streams === 1 ? 'first' : 'next';
    let closed = (): void => undefined;
    const closing = new Promise<never>((_, reject) => (closed = () => reject(new Error('closed'))));
    closing.catch(() => undefined); // `next` throws it
    return {
      resumeToken: null,
      tryNext: async () => {
        steps.push(`${name} opens`);
        return null;
      },
      next: () => (name === 'first' ? Promise.reject(new Error('away')) : closing),
      close: async () => closed(),
    };
  };
  const errors: unknown[] = [];
  const changes = await openChanges(
    { watch } as unknown as MongoClient,
    ['users'],
    async () => undefined,
    async () => void steps.push('all is read'),
    (error) => void errors.push(error),
  );
  await vi.waitFor(() => expect(steps).toEqual(['first opens', 'next opens', 'all is read']), { timeout: 15_000 });
  expect(errors).toEqual([new Error('away')]);
  await changes[Symbol.asyncDispose]();
});
