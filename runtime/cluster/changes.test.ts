// The change stream of a process: when it counts as open, what happens after it has failed, and what its end waits for.
import { EventEmitter } from 'node:events';
import type { ChangeStreamDocument, MongoClient } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { openChanges } from './changes.ts';

/** A stream as the database's client has it: it tells that it is open, and much later its first change. */
class FakeStream extends EventEmitter {
  readonly #reads: { resolve: (change: ChangeStreamDocument) => void; reject: (error: Error) => void }[] = [];

  next(): Promise<ChangeStreamDocument> {
    return new Promise((resolve, reject) => void this.#reads.push({ resolve, reject }));
  }

  isOpen(): void {
    this.emit('resumeTokenChanged');
  }

  change(): void {
    const change = { operationType: 'insert', ns: { db: 'cascade', coll: 'users' }, documentKey: { _id: 1 }, fullDocument: { _id: 1 } };
    this.#reads.shift()!.resolve(change as unknown as ChangeStreamDocument);
  }

  fail(error: Error): void {
    this.#reads.shift()!.reject(error);
  }

  /** As the client does: a read that waits for its answer goes on waiting. */
  async close(): Promise<void> {}
}

function streams(): { client: MongoClient; made: FakeStream[] } {
  const made: FakeStream[] = [];
  const watch = (): FakeStream => made[made.push(new FakeStream()) - 1]!;
  return { client: { watch } as unknown as MongoClient, made };
}

const nothing = async (): Promise<void> => undefined;

test('after a failure the next stream is open before everything is read again', async () => {
  const { client, made } = streams();
  const steps: string[] = [];
  const errors: unknown[] = [];
  const opening = openChanges(
    client,
    ['users'],
    nothing,
    async () => void steps.push('all is read'),
    (error) => void errors.push(error),
  );
  made[0]!.isOpen();
  const changes = await opening;
  made[0]!.fail(new Error('away'));
  await vi.waitFor(() => expect(made).toHaveLength(2), { timeout: 15_000 });
  await new Promise((resolve) => setImmediate(resolve));
  steps.push('the next stream is open');
  made[1]!.isOpen();
  await vi.waitFor(() => expect(steps).toEqual(['the next stream is open', 'all is read']));
  expect(errors).toEqual([new Error('away')]);
  await changes[Symbol.asyncDispose]();
});

test('a stream that cannot be opened is an error', async () => {
  const { client, made } = streams();
  const opening = openChanges(client, ['users'], nothing, nothing, () => undefined);
  made[0]!.fail(new Error('no replica set'));
  await expect(opening).rejects.toThrow('no replica set');
});

test('closing waits for the call under way, and not for the next change', async () => {
  const { client, made } = streams();
  const steps: string[] = [];
  let finish = (): void => undefined;
  const opening = openChanges(
    client,
    ['users'],
    async () => {
      steps.push('begins');
      await new Promise<void>((resolve) => (finish = resolve));
      steps.push('ends');
    },
    nothing,
    () => undefined,
  );
  made[0]!.isOpen();
  const changes = await opening;
  made[0]!.change();
  await vi.waitFor(() => expect(steps).toEqual(['begins']));
  const closing = changes[Symbol.asyncDispose]().then(() => void steps.push('closed'));
  await new Promise((resolve) => setImmediate(resolve));
  finish();
  await closing;
  expect(steps).toEqual(['begins', 'ends', 'closed']);

  const idle = streams();
  const other = openChanges(idle.client, ['users'], nothing, nothing, () => undefined);
  idle.made[0]!.isOpen();
  await (await other)[Symbol.asyncDispose](); // its read is never answered
});
