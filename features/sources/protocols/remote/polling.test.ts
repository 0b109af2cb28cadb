// Polls of a source that is closed while the remote side is silent.
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { answerJson, openHttpServer } from '../../testing/http-server.ts';
import { contextOf } from '../testing/context.ts';
import { openRemote } from './connection.ts';

// spec: integrations.md 1.2 2.8
test('a poll ends when its source is abandoned, and one that is answered while it closes still delivers', async () => {
  const silent: ServerResponse[] = [];
  await using server = await openHttpServer((_sent, response) => void silent.push(response));
  const config = { uri: server.url, topics: ['/a', '/b'], pollingInterval: 1_000 };
  const mute = contextOf(config);
  const first = openRemote(mute);
  await expect.poll(() => silent.length).toBe(1);
  mute.abort();
  mute.abandon();
  await (await first).close();
  expect(mute.delivered).toEqual([]);

  const slow = contextOf(config);
  const second = openRemote(slow);
  await expect.poll(() => silent.length).toBe(2);
  slow.abort();
  answerJson(silent[1]!, 1);
  await (await second).close();
  expect(slow.delivered).toMatchObject([{ topic: '/a' }]);
  expect(server.sent.map(({ url }) => url)).toEqual(['/a', '/a']);
});

// spec: integrations.md 1.2 2.8
test('what is answered when the source is abandoned raises no event', async () => {
  await using server = await openHttpServer((_sent, response) => {
    context.abandon();
    answerJson(response, 1);
  });
  const context = contextOf({ uri: server.url, pollingInterval: 1_000 });
  await (await openRemote(context)).close();
  expect(context.delivered).toEqual([]);
});

// spec: integrations.md 1.2 1.10
test('a poll that did not take place makes nothing good', async () => {
  const steps: string[] = [];
  const reports = { troubled: () => steps.push('troubled'), recovered: () => steps.push('recovered') };
  const openWith = async (poll: (work: () => Promise<void>) => Promise<boolean>): Promise<void> => {
    const context = { ...contextOf({ uri: 'http://127.0.0.1:1', pollingInterval: 1_000 }), ...reports, poll };
    await (await openRemote(context)).close();
  };
  await openWith((work) => work().then(() => true));
  await openWith(async () => false);
  await openWith(async () => true);
  expect(steps).toEqual(['troubled', 'recovered']);
});
