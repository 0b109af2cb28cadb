// The counts of a source outlive the process that counted (integrations.md 1.8).
import { expect, test } from 'vitest';
import { openOwnDatabase } from '../../engine/testing/database.ts';
import type { Db } from 'mongodb';
import { openTestEngine } from '../../engine/testing/engine.ts';
import { SourceCounts } from './counts.ts';
import { answerJson, openHttpServer } from './testing/http-server.ts';

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

// spec: integrations.md 1.8
test('what ends after a source is deleted does not count for the next one of its name', async () => {
  const answered = Promise.withResolvers<void>();
  await using server = await openHttpServer((_sent, response) => void answered.promise.then(() => answerJson(response, 1)));
  await using t = await openTestEngine({ outboundAddresses: ['127.0.0.1'] });
  const insert = (config: object): Promise<unknown> =>
    t.ask('insert', 'sources', { body: JSON.stringify({ name: 'feed', type: 'REMOTE', config: { uri: server.url, ...config } }) });
  await insert({ pollingInterval: 1_000 });
  await expect.poll(() => server.sent.length).toBe(1);
  const deleted = t.ask('delete', 'sources', { id: 'feed' });
  await expect.poll(() => t.ask('status', 'sources', { id: 'feed' }).catch(({ code }) => code)).toBe('cascade.resource.not.found');
  answered.resolve();
  await deleted;
  await insert({});
  const { body } = await t.ask('status', 'sources', { id: 'feed' });
  expect(JSON.parse(body ?? '')).toMatchObject({ received: 0, failed: 0, lastMessageAt: null });
});

// spec: integrations.md 1.8
test('of errors that are the same one is logged a minute with a count, whatever comes between them', () => {
  const counts = new SourceCounts({} as Db, () => true);
  const line = (code: string, message: string, now: number, same = message): string | null =>
    counts.lineOf('feed', code, message, same, now);
  expect(line('malformed', 'it begins: {bad 1', 0, '')).toBe('malformed: it begins: {bad 1');
  expect(line('failed', 'refused', 0)).toBe('failed: refused');
  expect(line('failed', 'timeout', 0)).toBe('failed: timeout');
  for (let i = 2; i < 500; i++) {
    expect(line('malformed', `it begins: {bad ${i}`, i, '')).toBeNull();
    expect(line('failed', i % 2 ? 'refused' : 'timeout', i)).toBeNull();
  }
  expect(line('malformed', 'it begins: {bad 500', 60_000, '')).toBe(
    'malformed: it begins: {bad 500 (498 more of these since the last line)',
  );
  expect(line('malformed', 'it begins: {bad 501', 120_000, '')).toBe('malformed: it begins: {bad 501');
  const cited = Array.from({ length: 500 }, (_, i) => line('pipeline', `cannot read ${i}`, 0)).filter((one) => one !== null);
  expect(cited).toHaveLength(4);
});

// spec: integrations.md 1.6 1.8
test('a poll whose message cannot be taken has failed once', async () => {
  await using server = await openHttpServer((_sent, response) => answerJson(response, 1));
  await using t = await openTestEngine({ outboundAddresses: ['127.0.0.1'] });
  await t.program('rules', 'RULE first WHEN MESSAGE ARRIVES FROM cut AS m DELETE system.rules WHERE name == "second"  return m');
  await t.program('rules', 'RULE second WHEN MESSAGE ARRIVES FROM cut AS m return m');
  const config = { uri: server.url, pollingInterval: 1_000 };
  const body = JSON.stringify({ name: 'cut', type: 'REMOTE', config, pipelineRules: ['first', 'second'] });
  await t.ask('insert', 'sources', { body });
  const counted = async (): Promise<object> => JSON.parse((await t.ask('status', 'sources', { id: 'cut' })).body ?? '');
  await t.eventually('logs', { invocationId: 'cut', message: { $regex: 'is not there' } }, 1);
  await expect.poll(async () => (await t.rows('audits', { entity: '/sources/cut', op: 'error' })).length).toBe(1);
  expect(await counted()).toMatchObject({ received: 1, failed: 1 });
});
