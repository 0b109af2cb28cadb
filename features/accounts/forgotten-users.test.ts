// spec: resources-and-api.md 4.11 4.14
// Whoever has the name of a deleted user later has nothing of it, wherever that was.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiReply, Identity } from '../../resources/api.ts';
import { openOwnDatabase, type OwnDatabase } from '../../engine/testing/database.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { openLocalNetwork } from '../../platform/bus/index.ts';

const PASSWORD = 'correct horse';
const ADMIN = ['admin', 'user__system'];
const mark = randomBytes(4).toString('hex');
const SYSTEM: Identity = { username: 'system', namespace: 'system', profiles: ['admin', 'admin__system'], system: true };
const FIRST: Identity = { username: `first${mark}`, namespace: `Makers_${mark}`, profiles: ADMIN, installationAdmin: true };
const [home, other] = [`Home_${mark}`, `Other_${mark}`];

let database: OwnDatabase;
let [here, there]: TestEngine[] = [];
beforeAll(async () => {
  database = await openOwnDatabase();
  const network = openLocalNetwork();
  here = await openTestEngine({ mongoUri: database.uri, bus: network.connect() });
  there = await openTestEngine({ mongoUri: database.uri, bus: network.connect() });
  for (const namespace of [home, other])
    await send(here, FIRST, 'insert', 'namespaces', { object: { namespace, username: bossOf(namespace).username, password: PASSWORD } });
});
afterAll(async () => {
  await there?.[Symbol.asyncDispose]();
  await here?.[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const bossOf = (namespace: string): Identity => ({ username: `boss.${namespace}`.toLowerCase(), namespace, profiles: ADMIN });

const send = (engine: TestEngine | undefined, identity: Identity, op: string, resourceName: string, rest: object = {}): Promise<ApiReply> =>
  engine!.engine.execute({ identity, op, resourceName, custom: false, parameters: {}, ...rest });

/** @param by who deletes it @param on the process that is asked */
async function deleted(username: string, by: Identity, on: TestEngine | undefined): Promise<unknown[]> {
  await send(here, bossOf(home), 'insert', 'users', { object: { username, password: PASSWORD } });
  await here!.engine.identity.authorizeUser(username, other, ['user', 'user__system'], { isConsented: true });
  // Each namespace is first asked for at another process, which owns it from then on.
  for (const [engine, namespace] of [[here, home] as const, [there, other] as const]) {
    const boss = bossOf(namespace);
    await send(engine, boss, 'insert', 'groups', { object: { name: `${username}1`, members: [username] } });
    await send(engine, boss, 'insert', 'groups', { object: { name: `${username}2`, owner: username, members: [username] } });
  }
  await send(on, by, 'delete', 'users', { resourceId: username });
  const groups = [];
  for (const namespace of [home, other])
    for (const name of [`${username}1`, `${username}2`]) {
      const { body } = await send(here, bossOf(namespace), 'select', 'groups', { resourceId: name });
      const { owner, members } = JSON.parse(body ?? '') as { owner: string; members: string[] };
      groups.push([namespace, owner, members]);
    }
  return groups;
}

const inherited = [home, other].flatMap((namespace) => {
  const { username } = bossOf(namespace);
  return [
    [namespace, username, [username]],
    [namespace, username, [username]],
  ];
});

test('a user that an admin at home deletes leaves the groups of the namespaces of other processes, too', async () => {
  expect(await deleted('ivy', bossOf(home), here)).toEqual(inherited);
});

test('a user that the system admin deletes leaves the groups of its own namespace', async () => {
  expect(await deleted('bob', SYSTEM, there)).toEqual(inherited);
});

test('the users of a namespace that is deleted leave the groups of others, whoever is left there, and not where it is refused', async () => {
  const doomed = `Doomed_${mark}`;
  const [branch, lonely] = [`Branch_${mark}`, `Lonely_${mark}`];
  const own = bossOf(doomed);
  const { identity } = here!.engine;
  const admit = (username: string, namespace: string, profiles: string[]) =>
    identity.authorizeUser(username, namespace, profiles, { isConsented: true });
  await send(here, FIRST, 'insert', 'namespaces', {
    object: { namespace: doomed, username: own.username, password: PASSWORD, organization: { name: `org_${mark}` } },
  });
  await send(here, own, 'insert', 'namespaces', {
    object: { namespace: branch, username: `boss.${branch}`.toLowerCase(), password: PASSWORD },
  });
  const admin = { username: own.username, profiles: ADMIN, isConsented: true };
  await identity.createNamespace({ namespace: lonely, createdBy: own.username, admin });
  await send(here, own, 'insert', 'users', { object: { username: 'moe', password: PASSWORD } });
  for (const username of [own.username, 'moe']) await admit(username, other, ADMIN);
  await admit('moe', lonely, ADMIN);
  const group = (namespace: string, by: Identity, name: string, owner: string) =>
    send(there, { ...by, namespace }, 'insert', 'groups', { object: { name, owner, members: [own.username, 'moe'] } });
  await group(other, bossOf(other), 'night', 'moe');
  await group(other, bossOf(other), 'early', own.username);
  await group(lonely, own, 'late', 'moe');
  const seen = async (): Promise<unknown[]> => {
    const found = [];
    for (const [namespace, name] of [
      [other, 'night'],
      [other, 'early'],
      [lonely, 'late'],
    ] as const) {
      const { body } = await send(here, { ...bossOf(namespace), namespace }, 'select', 'groups', { resourceId: name });
      const { owner, members } = JSON.parse(body ?? '') as { owner: string; members: string[] };
      found.push([owner, members]);
    }
    return found;
  };
  const before = await seen();
  const end = (more: object = {}) => send(here, own, 'delete', 'namespaces', { resourceId: doomed, ...more });
  await expect(end({ ifMatch: '"7"' })).rejects.toMatchObject({ status: 409 });
  await expect(end()).rejects.toMatchObject({ code: 'cascade.organization.in.use' });
  expect(await seen()).toEqual(before);
  await identity.deleteNamespace(branch);
  await end();
  const successor = bossOf(other).username;
  expect(await seen()).toEqual([
    [successor, [successor]],
    [successor, [successor]],
    ['system', ['system']],
  ]);
});

test('a user that is changed while it leaves its groups is not deleted on the strength of its former version', async () => {
  const boss = bossOf(home);
  await send(here, boss, 'insert', 'users', { object: { username: 'rob', password: PASSWORD } });
  const names = Array.from({ length: 40 }, (_, i) => `robs${i}`);
  for (const name of names) await send(here, boss, 'insert', 'groups', { object: { name, members: ['rob'] } });
  const first = async (): Promise<string> => (await send(here, boss, 'select', 'groups', { resourceId: 'robs0' })).body ?? '';
  const refused = expect(send(here, boss, 'delete', 'users', { resourceId: 'rob', ifMatch: '"1"' })).rejects.toMatchObject({
    code: 'cascade.update.authorization.or.version.conflict',
    status: 409,
  });
  await expect.poll(first, { interval: 1 }).not.toContain('"rob"');
  await send(here, boss, 'update', 'users', { resourceId: 'rob', object: { firstName: 'R' } });
  await refused;
  await send(here, boss, 'delete', 'users', { resourceId: 'rob', ifMatch: '"2"' });
  await expect(send(here, boss, 'select', 'users', { resourceId: 'rob' })).rejects.toMatchObject({ status: 404 });
});
