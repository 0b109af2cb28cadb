// The counts of a source outlive the process that counted (integrations.md 1.8).
import { expect, test } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine } from '../../engine/testing/engine.ts';

test('counts survive a restart', async () => {
  await using database = await openOwnDatabase();
  const counts = async (t: Awaited<ReturnType<typeof openTestEngine>>): Promise<unknown> =>
    JSON.parse((await t.ask('status', 'sources', { id: 'out' })).body ?? '');
  const first = await openTestEngine({ mongoUri: database.uri });
  const { namespace } = first.identity;
  await first.ask('insert', 'sources', {
    body: JSON.stringify({ name: 'out', type: 'REMOTE', config: { uri: 'https://nowhere.invalid' }, mockMode: true }),
  });
  for (let i = 0; i < 3; i++) await first.ask('publish', 'sources', { id: 'out', body: '{"message":1}' });
  expect(await counts(first)).toMatchObject({ published: 3, received: 0 });
  await first[Symbol.asyncDispose]();
  const second = await openTestEngine({ mongoUri: database.uri, namespace });
  expect(await counts(second)).toMatchObject({ published: 3, received: 0 });
  await second[Symbol.asyncDispose]();
});
