// Transfers a user's objects to the admin who revokes its access; admins of an organization's root create namespaces in it.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { Identity } from '../../resources/api.ts';

let t: TestEngine;
const mark = randomBytes(4).toString('hex');
const [root, other] = [`Root_${mark}`, `Other_${mark}`];
const boss: Identity = { username: `boss${mark}`, namespace: root, profiles: ['admin', 'user__system'] };
const guest: Identity = { username: `guest${mark}`, namespace: root, profiles: ['admin', 'user__system'] };

async function as(identity: Identity, op: string, resourceName: string, id: string | undefined, body?: unknown): Promise<unknown> {
  const request = { identity, op, resourceName, custom: null, parameters: {} };
  const object = body === undefined ? {} : { object: parseJson(JSON.stringify(body)) };
  const reply = await t.engine.execute({ ...request, ...(id !== undefined && { resourceId: id }), ...object });
  return JSON.parse(reply.body ?? 'null');
}

beforeAll(async () => {
  t = await openTestEngine();
  const { identity } = t.engine;
  const profiles = ['admin', 'user__system'];
  const admin = { username: boss.username, profiles, password: 'correct horse' };
  await identity.createNamespace({ namespace: root, organization: { name: `org_${mark}` }, admin, createdBy: 'test' });
});
afterAll(() => t[Symbol.asyncDispose]());

test('an admin of the root namespace creates namespaces in its organization, and sees them', async () => {
  const body = { namespace: other, username: guest.username, password: 'correct horse' };
  await expect(as(boss, 'insert', 'namespaces', undefined, { ...body, organization: { name: 'x' } })).rejects.toMatchObject({
    status: 403,
  });
  expect(await as(boss, 'insert', 'namespaces', undefined, body)).toMatchObject({ organizationRef: `/organizations/org_${mark}` });
  expect(await as(boss, 'select', 'namespaces', undefined)).toMatchObject([{ namespace: root }, { namespace: other }]);
  const below: Identity = { ...guest, namespace: other };
  expect(await as(below, 'select', 'namespaces', undefined)).toMatchObject([{ namespace: other }]);
  await expect(as(below, 'insert', 'namespaces', undefined, { namespace: `More_${mark}` })).rejects.toMatchObject({ status: 403 });
});

test('transferResources makes a user’s objects the admin’s; its tokens keep their rights', async () => {
  const authorized = { username: guest.username, profiles: ['admin', 'user__system'] };
  const events: unknown[] = [];
  for (const name of ['authorized', 'revoked'])
    await t.engine.subscribe(boss, `/namespaces/${root}/${name}`, {}, (notice) => {
      if (notice.kind === 'event') events.push([name, JSON.parse(notice.valueJson)]);
    });
  await as(boss, 'authorizeUser', 'namespaces', root, authorized);
  await t.engine.identity.login(guest.username, 'correct horse', '127.0.0.1', root);
  const properties = { n: { type: 'Integer' } };
  await as(boss, 'insert', 'types', undefined, { name: 'Own', properties, userAccessLevel: 'ars_writeByOwner' });
  await as(boss, 'insert', 'types', undefined, { name: 'Common', properties });
  for (const type of ['Own', 'Common']) await as(guest, 'insert', type, undefined, { n: 1 });
  await as(guest, 'insert', 'groups', undefined, { name: 'theirs', members: [boss.username] });
  await as(guest, 'insert', 'tokens', undefined, { name: 'bound', profiles: ['user', 'user__system'] });
  await as(guest, 'insert', 'tokens', undefined, { name: 'personal' });
  await as(guest, 'insert', 'rules', undefined, { ruleText: 'RULE theirs WHEN INSERT OCCURS ON Common log.info("x")' });
  await as(guest, 'insert', 'sources', undefined, {
    name: 'theirs',
    type: 'REMOTE',
    direction: 'SOURCE',
    active: false,
    config: { uri: 'http://example.com' },
  });
  const data = { username: guest.username, transferResources: true };
  await expect(as(boss, 'revokeUserAuthZ', 'namespaces', root, { ...data, transferResources: 'yes' })).rejects.toMatchObject({
    status: 400,
  });
  await as(boss, 'revokeUserAuthZ', 'namespaces', root, data);
  expect(await as(boss, 'select', 'Own', undefined)).toMatchObject([{ ars_createdBy: boss.username, ars_version: 2 }]);
  expect(await as(boss, 'select', 'Common', undefined)).toMatchObject([{ ars_createdBy: guest.username, ars_version: 1 }]);
  expect(await as(boss, 'select', 'groups', 'theirs')).toMatchObject({ owner: boss.username, members: [boss.username] });
  expect(await as(boss, 'select', 'tokens', undefined)).toMatchObject([
    { name: 'bound', username: boss.username, profiles: ['user', 'user__system'] },
    { name: 'personal', username: boss.username, profiles: authorized.profiles }, // the token's own rights, not those of its new owner
  ]);
  for (const kind of ['rules', 'sources'])
    expect(await as(boss, 'select', kind, 'theirs')).toMatchObject({ ars_createdBy: boss.username, ars_modifiedBy: boss.username });
  await expect(t.engine.identity.login(guest.username, 'correct horse', '127.0.0.1', root)).rejects.toMatchObject({ status: 403 });
  const concerned = { ...authorized, preferredUsername: guest.username };
  await expect
    .poll(() => events)
    .toEqual([
      ['authorized', concerned],
      ['revoked', concerned],
    ]);
});

test('who loses a namespace leaves its groups, with its devices and the messages that wait for it: a later user of the name has none of it', async () => {
  await as(boss, 'authorizeUser', 'namespaces', root, { username: guest.username, profiles: ['admin', 'user__system'] });
  await as(boss, 'insert', 'groups', undefined, { name: 'night', members: [guest.username] });
  await as(guest, 'insert', 'groups', undefined, { name: 'own', members: [boss.username] });
  await as(guest, 'insert', 'ArsPushTarget', undefined, { deviceId: `phone-${mark}`, platform: 'web' });
  expect(await as(boss, 'select', 'ArsPushTarget', undefined)).toHaveLength(1);
  await as(boss, 'revokeUserAuthZ', 'namespaces', root, { username: guest.username });
  expect(await as(boss, 'select', 'groups', 'night')).toMatchObject({ members: [boss.username] });
  expect(await as(boss, 'select', 'groups', 'own')).toMatchObject({ owner: boss.username, members: [boss.username] });
  expect(await as(boss, 'select', 'ArsPushTarget', undefined)).toEqual([]);
});

test('a group that passes to the admin keeps what others change in it meanwhile', async () => {
  await as(boss, 'authorizeUser', 'namespaces', root, { username: guest.username, profiles: ['admin', 'user__system'] });
  const eve = `eve${mark}`;
  await as(boss, 'insert', 'users', undefined, { username: eve, password: 'correct horse' });
  await as(boss, 'insert', 'groups', undefined, { name: 'shift', owner: guest.username, members: [guest.username, eve] });
  const patch = (change: object) => as(boss, 'patch', 'groups', 'shift', [change]);
  // The changes of one group wait for each other, and the transfer waits behind them.
  const before = Array.from({ length: 30 }, (_, i) => patch({ op: 'add', path: '/description', value: `shift ${i}` }));
  const left = patch({ op: 'remove', path: '/members/-', value: eve });
  const revoked = as(boss, 'revokeUserAuthZ', 'namespaces', root, { username: guest.username, transferResources: true });
  await Promise.all([...before, left, revoked]);
  expect(await as(boss, 'select', 'groups', 'shift')).toMatchObject({ owner: boss.username, members: [boss.username] });
});
