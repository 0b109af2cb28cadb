// The pages of a statement in progress, of nodes of this test.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { apiError } from '../../model/errors/index.ts';
import { Egress, ReceivedBudget } from '../../platform/egress/index.ts';
import { Fenced } from '../../runtime/transactions/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { Federation } from './federation.ts';
import { NodeStatement } from './statement.ts';

const LATER_MS = 30;

test('the result that must not be asked for twice is in the first page, however many others are there before', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `a${i}`);
  const statement = new NodeStatement(
    [...names, 'self'].map((name) => ({ name, pages: 0 })),
    {
      run: 'r',
      withinMs: 60_000,
      first: 'self',
      room: () => new Egress().outletOf('main').answerRoom(),
      async *begin({ name }) {
        if (name === 'self') await sleep(LATER_MS);
        yield [name];
      },
      failure: (name) => apiError('cascade.federation.unreachable', name, ''),
      late: async (name) => apiError('io.service.federation.request.timeout', name, 1),
    },
  );
  const page = await statement.next();
  expect(page.items[0]).toEqual(['self', 'value', 'self']);
  const found = [...page.items];
  for (let { left } = page; left.length > 0; ) {
    const next = await statement.next();
    found.push(...next.items);
    left = next.left;
  }
  expect(found.filter(([, kind]) => kind === 'value').map(([name]) => name)).toHaveLength(41);
});

test('nodes that were not begun when nobody waits any more are not begun; at the end of the time they are, to tell what became of them', async () => {
  const begun: string[] = [];
  const statementOf = (withinMs: number) =>
    new NodeStatement(
      Array.from({ length: 40 }, (_, i) => ({ name: `a${i}`, pages: 0 })),
      {
        run: 'r',
        withinMs,
        room: () => new Egress().outletOf('main').answerRoom(),
        async *begin({ name }, signal) {
          begun.push(name);
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          yield [name];
        },
        failure: (name) => apiError('cascade.federation.unreachable', name, ''),
        late: async (name) => apiError('io.service.federation.request.timeout', name, 1),
      },
    );
  const left = statementOf(60_000);
  const atATime = begun.length;
  expect(atATime).toBeLessThan(40);
  left.abort();
  const late = statementOf(1);
  let count = 0;
  for (let open = 40; open > 0; ) {
    const page = await late.next();
    count += page.items.length;
    open = page.left.length;
  }
  expect(count).toBe(40);
  expect(begun.length - atATime).toBe(40);
});

test('a page holds the room of its answer until it has been handed on, or nobody takes it any more', async () => {
  const MIB = 1024 * 1024;
  const received = new ReceivedBudget();
  const outlet = new Egress({ received }).outletOf('main');
  const statementOf = (names: readonly string[]) =>
    new NodeStatement(
      names.map((name) => ({ name, pages: 0 })),
      {
        run: 'r',
        withinMs: 60_000,
        room: () => outlet.answerRoom(),
        async *begin({ name }, _, room) {
          await room().grow(name === 'small' ? MIB / 2 : 2 * MIB);
          if (name === 'broken') throw new Error('broken');
          yield [name];
        },
        failure: (name) => apiError('cascade.federation.unreachable', name, ''),
        late: async (name) => apiError('io.service.federation.request.timeout', name, 1),
      },
    );
  const taken = statementOf(['large', 'small', 'broken']);
  {
    using page = await taken.next();
    expect(page.items).toContainEqual(['large', 'value', 'large']);
    expect(received.held).toBe(2 * MIB);
  }
  expect(received.held).toBe(0);
  const left = statementOf(['large', 'other']);
  await expect.poll(() => received.held).toBe(4 * MIB);
  left.abort();
  await expect.poll(() => received.held).toBe(0);
});

test('a statement that is given up has no end', async () => {
  const statement = new NodeStatement([{ name: 'silent', pages: 0 }], {
    run: 'r',
    withinMs: 60_000,
    room: () => new Egress().outletOf('main').answerRoom(),
    async *begin({ name }, signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      yield [name];
    },
    failure: (name) => apiError('cascade.federation.unreachable', name, ''),
    late: async (name) => apiError('io.service.federation.request.timeout', name, 1),
  });
  const page = statement.next();
  expect(statement.isAwaited).toBe(true);
  statement.abort();
  await expect(page).rejects.toThrow(Fenced);
  expect(statement.isAwaited).toBe(false);
});

test('beyond their bound the oldest statement that nobody waits for is dropped; a closed federation begins none', async () => {
  const federation = new Federation(() => ({}) as Namespace, new Egress().outletOf('main'));
  const given: string[] = [];
  const begin = (key: string, isAwaited: boolean) => () => ({ isAwaited, abort: () => void given.push(key) }) as unknown as NodeStatement;
  federation.keep('awaited', begin('awaited', true));
  federation.keep('left', begin('left', false));
  for (let n = 2; n <= 10_000; n++) federation.keep(`${n}`, begin(`${n}`, true));
  expect(given).toEqual(['left']);
  await federation.close();
  expect(() => federation.keep('late', begin('late', false))).toThrow(Fenced);
});

test('what is no failure of a node ends the statement: it is no item of its results', async () => {
  const lost = new Error('the connection to the database');
  const statement = new NodeStatement(
    ['far', 'self'].map((name) => ({ name, pages: 0 })),
    {
      run: 'r',
      withinMs: 60_000,
      first: 'self',
      room: () => new Egress().outletOf('main').answerRoom(),
      async *begin({ name }) {
        yield [name];
        if (name === 'self') throw lost;
      },
      failure(name, error) {
        if (name === 'self') throw error;
        return apiError('cascade.federation.unreachable', name, '');
      },
      late: async (name) => apiError('io.service.federation.request.timeout', name, 1),
    },
  );
  const taken = async (): Promise<void> => {
    while ((await statement.next()).left.length > 0);
  };
  await expect(taken()).rejects.toBe(lost);
  statement.abort();
});
