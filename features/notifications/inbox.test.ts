// spec: integrations.md 7.2 7.3
// The inbox of a device through an engine (integrations.md 7.4): all that is pending, no faster than it is read, then what happens.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { Identity, Notice } from '../../resources/api.ts';

/** More than one reading takes, and more than there once was room for. */
const MESSAGES = 1_023;

let t: TestEngine;
const ids: string[] = [];
beforeAll(async () => {
  t = await openTestEngine();
  await t.ask('insert', 'ArsPushTarget', { body: '{"deviceId":"tab","platform":"web"}' });
  await t.ask('insert', 'sources', { body: '{"name":"forms","type":"PUSH_NOTIF","direction":"SINK","config":{}}' });
  const pending = { payload: {}, users: ['ann'], pendingUsers: ['ann'], recipients: [{ username: 'ann', status: 'pending' }] };
  const rows = Array.from({ length: MESSAGES }, (_, at) => ({ title: `Message ${at}`, ...pending }));
  const { body } = await t.ask('insert', 'ArsPayloadMessage', { body: JSON.stringify(rows) });
  ids.push(...(JSON.parse(body ?? '') as { _id: string }[]).map(({ _id }) => _id));
});
afterAll(() => t[Symbol.asyncDispose]());

interface Received {
  readonly kind: string;
  readonly messageId: string;
}

async function listen() {
  const received: Received[] = [];
  const take = (notice: Notice): void => void (notice.kind === 'event' && received.push(JSON.parse(notice.valueJson) as Received));
  const subscription = await t.engine.subscribe(t.identity, '/inbox/tab', {}, take);
  return { subscription, received };
}

test('a device is told of all that is pending, the oldest first', async () => {
  const { subscription, received } = await listen();
  expect(received).toEqual([]);
  await subscription.begin?.();
  expect(received.map(({ messageId }) => messageId)).toEqual(ids);
  subscription.close();
});

test('it is told no faster than it reads, and of what happens meanwhile afterwards', async () => {
  const { subscription, received } = await listen();
  const waiting: (() => void)[] = [];
  const asked: (() => void)[] = [];
  const hasRoom = (): Promise<void> => {
    asked.splice(0).forEach((go) => go());
    return new Promise((go) => waiting.push(go));
  };
  const isAsked = new Promise<void>((go) => asked.push(go));
  const begun = subscription.begin?.(hasRoom);
  await isAsked;
  const [first = '', ...others] = ids;
  await t.ask('dismiss', 'ArsPayloadMessage', { id: first, body: '{}' });
  expect(received).toMatchObject([{ kind: 'notify', messageId: first }]);
  while (received.length < MESSAGES + 1) {
    waiting.splice(0).forEach((go) => go());
    await new Promise((go) => setImmediate(go));
  }
  await begun;
  expect(received.slice(1)).toMatchObject([
    ...others.map((messageId) => ({ kind: 'notify', messageId })),
    { kind: 'removed', messageId: first },
  ]);
  subscription.close();
});

test('what is sent between subscribing and reading what waits is told once, and again where it was taken away between', async () => {
  await t.program(
    'procedures',
    'PROCEDURE again(id, title) return Notification.sendPayload("forms", id, "", title, {responseTopic: "/r"}, ["ann"])._id',
  );
  const again = async (id: string | null, title: string): Promise<string> =>
    JSON.parse((await t.ask('execute', 'procedures', { id: 'again', body: JSON.stringify([id, title]) })).body ?? '') as string;
  const replaced = await again(null, 'Old');
  const { subscription, received } = await listen();
  const sent = await again(null, 'Sent');
  await again(replaced, 'New');
  await subscription.begin?.();
  const of = (id: string) => received.filter(({ messageId }) => messageId === id).map(({ kind }) => kind);
  expect(of(sent)).toEqual(['notify']);
  expect(of(replaced)).toEqual(['notify', 'removed', 'notify']);
  subscription.close();
  await t.ask('delete', 'ArsPayloadMessage', { id: sent });
  await t.ask('delete', 'ArsPayloadMessage', { id: replaced });
});

test('a subscription that is closed is told nothing more', async () => {
  const { subscription, received } = await listen();
  await subscription.begin?.(async () => subscription.close());
  expect(received).toHaveLength(1);
});

test('Notification.listPending lists all of it', async () => {
  await t.program('procedures', 'PROCEDURE waiting() return Notification.listPending().size()');
  expect((await t.ask('execute', 'procedures', { id: 'waiting' })).body).toBe(String(MESSAGES - 1));
});

async function member(name: string, profile: string): Promise<Identity> {
  const { namespace } = t.identity;
  const username = `${name}.${namespace}`;
  const profiles = [profile, 'user__system'];
  await t.engine.identity.createUser({ username, password: 'correct horse', namespace, profiles, createdBy: 'ann' });
  return { username, namespace, profiles, token: '000000000000000000000001' };
}

test('only admins hear the events of messages, which show all recipients', async () => {
  const kim = await member('kim', 'user');
  for (const operation of ['insert', 'update', 'delete']) {
    const path = `/types/ArsPayloadMessage/${operation}`;
    const denied = { code: 'cascade.authorization.denied', status: 403 };
    await expect(t.engine.subscribe(kim, path, {}, () => undefined)).rejects.toMatchObject(denied);
    (await t.engine.subscribe(t.identity, path, {}, () => undefined)).close();
  }
});

test('a message is replaced by who may use the source that it was sent with', async () => {
  await t.ask('insert', 'profiles', { body: '{"name":"sender","dml":{},"invoke":["publish","executeProcedure"]}' });
  const max = await member('max', 'sender');
  await t.ask('insert', 'groups', { body: '{"name":"hr"}' });
  await t.ask('insert', 'sources', { body: '{"name":"pay","type":"PUSH_NOTIF","direction":"SINK","config":{},"ars_group":"hr"}' });
  await t.program(
    'procedures',
    'PROCEDURE sends(source, id, title) return Notification.sendPayload(source, id, "", title, {responseTopic: "/r"}, ["ann"])._id',
  );
  const sends = async (identity: Identity, ...args: unknown[]) => {
    const object = parseJson(JSON.stringify(args));
    const request = { identity, op: 'execute', resourceName: 'procedures', resourceId: 'sends', custom: null, object, parameters: {} };
    return JSON.parse((await t.engine.execute(request)).body ?? '') as string;
  };
  const [ofGroup, ofAll] = [await sends(t.identity, 'pay', null, 'Pay'), await sends(t.identity, 'forms', null, 'Form')];
  const refused = sends(max, 'forms', ofGroup, 'Mine');
  await expect(refused).rejects.toMatchObject({ code: 'cascade.authorization.denied', status: 403 });
  expect(await t.rows('ArsPayloadMessage', { _id: ofGroup })).toMatchObject([{ title: 'Pay', source: 'pay' }]);
  expect(await sends(max, 'forms', ofAll, 'Mine')).toBe(ofAll);
  expect(await sends(t.identity, 'forms', ofGroup, 'Other')).toBe(ofGroup);
});
