// Followers of the log: which messages they receive, and when.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import type { Identity, Notice } from '../../resources/api.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
});
afterAll(() => t[Symbol.asyncDispose]());

const until = async (isSo: () => boolean): Promise<void> => {
  for (const end = performance.now() + 20_000; !isSo(); await new Promise((resolve) => setTimeout(resolve, 5)))
    if (performance.now() > end) throw new Error('it did not come to be');
};
const messageIn = (notice: Notice): string => (notice.kind === 'event' ? String(JSON.parse(notice.valueJson).message) : notice.kind);

test('an admin receives all messages in the order of their storage; other users receive their own', async () => {
  const { namespace } = t.identity;
  await t.program('procedures', 'PROCEDURE tells(a String, b String)\nlog.info(a)\nlog.info(b)');
  const user: Identity = { username: `tail_${namespace}`, namespace, profiles: ['user', 'user__system'] };
  await t.engine.identity.createUser({
    username: user.username,
    password: 'correct horse',
    namespace,
    profiles: user.profiles,
    createdBy: 'test',
  });
  const received = { all: [] as string[], own: [] as string[] };
  const all = await t.engine.subscribe(t.identity, '/logs', {}, (notice) => received.all.push(messageIn(notice)));
  const own = await t.engine.subscribe(user, '/logs', {}, (notice) => received.own.push(messageIn(notice)));
  const call = (identity: Identity, a: string, b: string) =>
    t.engine.execute({
      identity,
      op: 'execute',
      resourceName: 'procedures',
      resourceId: 'tells',
      custom: null,
      object: { a, b },
      parameters: {},
    });
  await call(t.identity, '1', '2');
  await call(user, '3', '4');
  await until(() => received.all.length === 4 && received.own.length === 2);
  expect(received).toEqual({ all: ['1', '2', '3', '4'], own: ['3', '4'] });
  all.close();
  own.close();
  await call(t.identity, '5', '6');
  expect((await t.ask('select', 'logs', { custom: false })).body as string).toContain('"6"');
  expect(received.all).toHaveLength(4);
});
