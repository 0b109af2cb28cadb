// The pages of a statement in progress, of nodes of this test.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { apiError } from '../../model/errors/index.ts';
import { Egress } from '../../platform/egress/index.ts';
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
