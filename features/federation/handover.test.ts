// A namespace that is closed while a run waits for a node: the statement belongs to the next owner (integrations.md 12.2, docs/clustering.md).
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openOwnDatabase, type OwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { answerJson, openHttpServer } from '../sources/testing/http-server.ts';

let database: OwnDatabase;
beforeAll(async () => {
  database = await openOwnDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

// spec: integrations.md 11.5 11.7 12.2
test('a statement that waits for a node when its process stops is carried out by the next one', async () => {
  const masterKey = randomBytes(32);
  let isSilent = true;
  let noteAsked = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => (noteAsked = resolve));
  await using far = await openHttpServer(({ url }, response) => {
    if (url === '/authenticate')
      return answerJson(response, { accessToken: 'token', expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    if (isSilent) return noteAsked();
    answerJson(response, [{ _id: '1' }, { _id: '2' }]);
  });
  const open = (namespace?: string): Promise<TestEngine> =>
    openTestEngine({
      masterKey,
      mongoUri: database.uri,
      outboundAddresses: ['127.0.0.0/8'],
      ...(namespace !== undefined && { namespace }),
    });
  const first = await open();
  const { namespace } = first.identity;
  const node = { name: 'far', uri: far.url, username: 'u', password: 'correct horse', deliveryMode: 'bestEffort', properties: {} };
  await first.ask('insert', 'nodes', { custom: false, body: JSON.stringify(node) });
  await first.type('Report', { n: { type: 'Integer' }, asked: { type: 'Integer' } });
  await first.program(
    'rules',
    'RULE report WHEN EVENT OCCURS ON "/topics/go"\nvar r = SELECT FROM Bin PROCESSED BY name == "far" STATUS TO s\nINSERT Report(n: count(r), asked: count(s))',
  );
  await first.ask('insert', 'topics', { custom: false, body: '{"name":"/go"}' });
  await first.ask('publish', 'topics', { custom: false, id: '/go', body: '{}' });
  await isAsked;
  await first[Symbol.asyncDispose]();
  isSilent = false;
  await using next = await open(namespace);
  expect(await next.eventually('Report', {}, 1)).toMatchObject([{ asked: 1 }]);
});
