// spec: resources-and-api.md 4.13 7.1 7.2 7.3
// Users with user-defined profiles and groups: the instances that they see and may change, by every kind of access.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { parseJson } from '../../model/values/index.ts';
import type { ApiReply, Identity, Notice } from '../../resources/api.ts';

const DENIED = { code: 'cascade.authorization.denied', status: 403 };
const HIDDEN = { code: 'cascade.resource.not.found', status: 404 };

let t: TestEngine;
let clerk: Identity;
let plain: Identity;
let admin: Identity;

interface Asked {
  id?: string;
  body?: unknown;
  text?: string;
  parameters?: object;
}

const as = (identity: Identity, op: string, resourceName: string, { id, body, text, parameters = {} }: Asked = {}): Promise<ApiReply> =>
  t.engine.execute({
    identity,
    op,
    resourceName,
    custom: null,
    ...(id !== undefined && { resourceId: id }),
    ...(body !== undefined && { object: parseJson(JSON.stringify(body)) }),
    ...(text !== undefined && { text }),
    parameters: parseJson(JSON.stringify(parameters)) as Record<string, never>,
  });
const rows = async (identity: Identity, op: string, resource: string, asked: Asked = {}) =>
  JSON.parse((await as(identity, op, resource, asked)).body ?? 'null') as Record<string, unknown>[];

let calls = 0;
async function called(identity: Identity, body: string): Promise<unknown> {
  const name = `call${++calls}`;
  await as(admin, 'insert', 'procedures', { text: `PROCEDURE ${name}()\n${body}` });
  return JSON.parse((await as(identity, 'execute', 'procedures', { id: name })).body ?? 'null');
}

const CLERK = {
  name: 'clerk',
  dml: {
    Bill: {
      select: { site: 'a' },
      aggregate: { site: 'a' },
      insert: { n: { ars_substitution_lt: 100 } },
      update: { n: { ars_substitution_lt: 50 } },
      delete: { qual: { ars_createdBy: { ars_substitution: 'ars_username' } } },
    },
    Tool: { select: { site: 'a' }, insert: {}, update: {} },
    Shared: { select: null, insert: {}, update: {}, delete: {}, aggregate: {} },
  },
  invoke: ['createTopic', 'executeProcedure'],
};

beforeAll(async () => {
  t = await openTestEngine();
  const { namespace } = t.identity;
  const make = async (name: string, profile: string): Promise<Identity> => {
    const username = `${name}.${namespace}`;
    const profiles = [profile, 'user__system'];
    await t.engine.identity.createUser({ username, password: 'correct horse', namespace, profiles, createdBy: 'ann' });
    return { username, namespace, profiles, token: '000000000000000000000001' };
  };
  admin = await make('boss', 'admin');
  await t.type('Bill', { site: { type: 'String' }, n: { type: 'Integer' }, key: { type: 'String' } });
  await t.type('Order', { site: { type: 'String' } });
  await t.type('Shared', { n: { type: 'Integer' } }, { groupEnabled: true, userAccessLevel: 'ars_readWrite' });
  await as(admin, 'insert', 'profiles', { body: CLERK });
  [clerk, plain] = await Promise.all([make('clerk', 'clerk'), make('plain', 'user')]);
});
afterAll(() => t[Symbol.asyncDispose]());

const bill = async (site: string, n: number): Promise<string> =>
  String((await rows(admin, 'insert', 'Bill', { body: { site, n } }))[0]?.['_id']);

test('rows outside the select constraint are in no result, count, aggregate, join or sequence', async () => {
  const tag = 1_000;
  const [seen, hidden] = [await bill('a', tag), await bill('b', tag)];
  const where = { n: tag };
  expect(await rows(clerk, 'select', 'Bill', { parameters: { where } })).toMatchObject([{ _id: seen }]);
  expect((await as(clerk, 'select', 'Bill', { parameters: { where, count: true } })).count).toBe(1);
  expect(await rows(clerk, 'select', 'Bill', { parameters: { where: { site: 'b' } } })).toEqual([]);
  expect(await rows(clerk, 'aggregate', 'Bill', { body: [{ $match: where }, { $count: 'all' }] })).toEqual([{ all: 1 }]);
  await as(clerk, 'selectOne', 'Bill', { id: seen });
  await expect(as(clerk, 'selectOne', 'Bill', { id: hidden })).rejects.toMatchObject(HIDDEN);
  await expect(as(clerk, 'select', 'Order')).rejects.toMatchObject(DENIED);
  const join = { $lookup: { from: 'Bill', localField: 'n', foreignField: 'n', as: 'all' } };
  const joined = await rows(clerk, 'aggregate', 'Bill', { body: [{ $match: where }, join] });
  expect(joined).toMatchObject([{ all: [{ site: 'a' }] }]);
  const other = { $lookup: { from: 'Order', localField: 'site', foreignField: 'site', as: 'all' } };
  await expect(as(clerk, 'aggregate', 'Bill', { body: [other] })).rejects.toMatchObject(DENIED);
  expect(await called(clerk, `var all = SELECT FROM Bill WHERE n == ${tag}\nreturn all`)).toMatchObject([{ site: 'a' }]);
  expect(await called(clerk, `var k = 0\nfor (b in SELECT FROM Bill WHERE n == ${tag}) { k = k + 1 }\nreturn k`)).toBe(1);
  expect(await called(clerk, `return ResourceAPI.executeOp({op: "select", resourceName: "Bill"})[0].site`)).toBe('a');
});

test('a single change is refused with 404 for a hidden instance and 403 for a visible one; a change of many skips these', async () => {
  const [free, dear, hidden] = [await bill('a', 7), await bill('a', 70), await bill('b', 7)];
  await as(clerk, 'update', 'Bill', { id: free, body: { key: 'x' } });
  await expect(as(clerk, 'update', 'Bill', { id: dear, body: { key: 'x' } })).rejects.toMatchObject(DENIED);
  await expect(as(clerk, 'update', 'Bill', { id: hidden, body: { key: 'x' } })).rejects.toMatchObject(HIDDEN);
  await expect(as(clerk, 'patch', 'Bill', { id: dear, body: [{ op: 'add', path: '/key', value: 'y' }] })).rejects.toMatchObject(DENIED);
  await expect(as(clerk, 'delete', 'Bill', { id: free })).rejects.toMatchObject(DENIED);
  await expect(as(clerk, 'delete', 'Bill', { id: hidden })).rejects.toMatchObject(HIDDEN);
  await called(clerk, 'UPDATE Bill(key: "all") WHERE n >= 0\nreturn 1');
  const keyOf = async (id: string) => (await rows(admin, 'select', 'Bill', { parameters: { where: { _id: id } } }))[0]?.['key'] ?? null;
  expect([await keyOf(free), await keyOf(dear), await keyOf(hidden)]).toEqual(['all', null, null]);
  const mine = String((await rows(clerk, 'insert', 'Bill', { body: { site: 'a', n: 8 } }))[0]?.['_id']);
  const before = (await rows(admin, 'select', 'Bill')).length;
  await as(clerk, 'delete', 'Bill', { parameters: { where: {} } });
  const left = await rows(admin, 'select', 'Bill');
  expect([left.length, left.some((one) => one['_id'] === mine)]).toEqual([before - 1, false]);
});

test('an insert must satisfy the constraint in its stored form, also as one of many and from a program', async () => {
  await as(clerk, 'insert', 'Bill', { body: { site: 'c', n: 99 } });
  await expect(as(clerk, 'insert', 'Bill', { body: { site: 'c', n: 100 } })).rejects.toMatchObject(DENIED);
  const several = await as(clerk, 'insert', 'Bill', { body: [{ n: 1 }, { n: 100 }] });
  expect(several).toMatchObject({ partial: true });
  await expect(called(clerk, 'INSERT Bill(n: 200)\nreturn 1')).rejects.toMatchObject(DENIED);
  await expect(called(clerk, 'INSERT Order(site: "a")\nreturn 1')).rejects.toMatchObject(DENIED);
});

test('events are delivered to users who may currently see their instance', async () => {
  const received: Notice[] = [];
  const listener = await t.engine.subscribe(clerk, '/types/Bill/insert', {}, (notice) => void received.push(notice));
  await bill('b', 500);
  await bill('a', 501);
  await as(admin, 'update', 'profiles', {
    id: 'clerk',
    body: { dml: { ...CLERK.dml, Bill: { ...CLERK.dml.Bill, select: { site: 'b' } } } },
  });
  await bill('a', 502);
  await bill('b', 503);
  await as(admin, 'update', 'profiles', { id: 'clerk', body: { dml: CLERK.dml } });
  await bill('a', 504);
  await expect.poll(() => received.length).toBe(3);
  const numbers = received.map((notice) => (JSON.parse((notice as { valueJson: string }).valueJson) as { n: number }).n);
  expect(numbers).toEqual([501, 503, 504]);
  listener.close();
  await expect(t.engine.subscribe(clerk, '/types/Order/insert', {}, () => undefined)).rejects.toMatchObject(DENIED);
});

test('a persistent subscription receives only events that its user may currently see, also after rights were withdrawn', async () => {
  const received: number[] = [];
  const listener = await t.engine.subscribe(clerk, '/types/Bill/insert', { persistent: true }, (notice) => {
    if (notice.kind === 'event') received.push((JSON.parse(notice.valueJson) as { n: number }).n);
  });
  await listener.begin?.();
  await bill('b', 601);
  await bill('a', 602);
  const dml = { ...CLERK.dml, Bill: { ...CLERK.dml.Bill, select: { site: 'b' } } };
  await as(admin, 'update', 'profiles', { id: 'clerk', body: { dml } });
  await bill('a', 603);
  await bill('b', 604);
  await as(admin, 'update', 'profiles', { id: 'clerk', body: { dml: CLERK.dml } });
  await bill('a', 605);
  await expect.poll(() => received.length).toBe(3);
  expect(received).toEqual([602, 604, 605]);
  listener.close();
});

test('nothing is kept for a persistent subscription while its user may not listen, or is not active; it goes on when the user may again', async () => {
  await as(admin, 'insert', 'groups', { body: { name: 'keepers', members: [clerk.username] } });
  await as(admin, 'insert', 'topics', { body: { name: '/kept', ars_group: 'keepers', isReliable: true } });
  const open = async (subscriptionName?: string): Promise<{ name: string; received: number[]; close: () => void }> => {
    const received: number[] = [];
    const options = subscriptionName === undefined ? { persistent: true } : { persistent: true, subscriptionName };
    const listener = await t.engine.subscribe(clerk, '/topics/kept', options, (notice) => {
      if (notice.kind === 'event') received.push(Number(notice.valueJson));
    });
    await listener.begin?.();
    return { name: listener.name!, received, close: listener.close };
  };
  const publish = (n: number) => as(admin, 'publish', 'topics', { id: '/kept', body: n });
  const members = (...names: string[]) => as(admin, 'update', 'groups', { id: 'keepers', body: { owner: admin.username, members: names } });
  const active = (is: boolean) => as(admin, 'update', 'users', { id: clerk.username, body: { active: is } });
  const { name, close } = await open();
  close();
  await publish(1);
  await members();
  await t.engine.identity.rightsOf(clerk.username, clerk.namespace); // those that have to be read first count as present
  await publish(2);
  await expect(open(name)).rejects.toMatchObject(DENIED);
  await members(clerk.username);
  await publish(3);
  await active(false);
  await publish(-1); // the right counts as present until it is read again
  await t.engine.identity.rightsOf(clerk.username, clerk.namespace);
  await publish(4);
  await active(true);
  await publish(5);
  await t.engine.settled();
  const again = await open(name);
  await expect.poll(() => again.received.includes(5)).toBe(true);
  expect(again.received.filter((n) => n > 0)).toEqual([1, 3, 5]);
  again.close();
});

test('types, procedures and topics in a group, and their events, are accessible to members and admins only', async () => {
  await as(admin, 'insert', 'groups', { body: { name: 'inner', members: [clerk.username] } });
  await as(admin, 'insert', 'types', { body: { name: 'Inner', properties: { n: { type: 'Integer' } }, ars_group: 'inner' } });
  await as(admin, 'insert', 'procedures', { body: { name: 'inner', ruleText: 'PROCEDURE inner()\nreturn 1', ars_group: 'inner' } });
  await as(admin, 'insert', 'topics', { body: { name: '/inner', ars_group: 'inner' } });
  await as(admin, 'insert', 'Inner', { body: { n: 1 } });
  await expect(as(admin, 'insert', 'topics', { body: { name: '/none', ars_group: 'none' } })).rejects.toMatchObject({
    code: 'cascade.group.unknown',
  });
  const received: string[] = [];
  const listener = await t.engine.subscribe(clerk, '/topics/inner', {}, (notice) => void received.push(notice.kind));
  await as(clerk, 'execute', 'procedures', { id: 'inner' });
  await as(clerk, 'publish', 'topics', { id: '/inner', body: 1 });
  await expect.poll(() => received.length).toBe(1);
  const uses: ((caller: Identity) => Promise<unknown>)[] = [
    (caller) => as(caller, 'select', 'Inner'),
    (caller) => as(caller, 'aggregate', 'Inner', { body: [{ $count: 'n' }] }),
    (caller) => called(caller, 'var all = SELECT FROM Inner\nreturn all'),
    (caller) => called(caller, 'EXECUTE ASYNC inner()\nreturn 1'),
    (caller) => called(caller, 'PUBLISH {n: 1} TO TOPIC "/inner"\nreturn 1'),
    (caller) => as(caller, 'execute', 'procedures', { id: 'inner' }),
    (caller) => as(caller, 'publish', 'topics', { id: '/inner', body: 1 }),
    (caller) => t.engine.subscribe(caller, '/topics/inner', {}, () => undefined),
    (caller) => t.engine.subscribe(caller, '/types/Inner/insert', {}, () => undefined),
  ];
  for (const use of uses) {
    await use(admin);
    await expect(use(plain)).rejects.toMatchObject(DENIED);
  }
  // The description of the API lists it for users with access.
  await as(admin, 'update', 'procedures', { id: 'inner', body: { visibility: 'PUBLIC' } });
  const described = async (caller: Identity): Promise<string[]> => {
    const { resources, procedures } = await t.engine.describe(caller);
    return [...resources, ...procedures].map(({ name }) => name).filter((name) => /inner/i.test(name));
  };
  expect([await described(admin), await described(clerk), await described(plain)]).toEqual([['Inner', 'inner'], ['Inner', 'inner'], []]);
  await as(admin, 'update', 'groups', { id: 'inner', body: { owner: admin.username, members: [] } });
  const before = received.length;
  await as(admin, 'publish', 'topics', { id: '/inner', body: 2 });
  await as(admin, 'update', 'groups', { id: 'inner', body: { owner: admin.username, members: [clerk.username] } });
  await as(admin, 'publish', 'topics', { id: '/inner', body: 3 });
  await expect.poll(() => received.length).toBe(before + 1);
  listener.close();
});

test('invoke grants and withdraws rights; a user who is no admin grants no more than its own', async () => {
  await as(clerk, 'insert', 'topics', { body: { name: '/mine' } });
  await expect(as(clerk, 'update', 'topics', { id: '/mine', body: { description: 'x' } })).rejects.toMatchObject(DENIED);
  await expect(as(clerk, 'insert', 'topics', { body: { name: '/mine', description: 'x' } })).rejects.toMatchObject(DENIED);
  await expect(as(clerk, 'insert', 'rules', { text: 'RULE r WHEN INSERT OCCURS ON Bill AS b log.info("x")' })).rejects.toMatchObject(
    DENIED,
  );
  const write = { createProfile: true, updateProfile: true, executeProcedure: true };
  await as(admin, 'update', 'profiles', { id: 'clerk', body: { invoke: write } });
  const escalation = { code: 'cascade.profile.escalation', status: 403 };
  await as(clerk, 'insert', 'profiles', { body: { name: 'less', dml: { Bill: { select: { site: 'a' } } } } });
  await expect(as(clerk, 'insert', 'profiles', { body: { name: 'more', dml: { Bill: { select: {} } } } })).rejects.toMatchObject(
    escalation,
  );
  await expect(as(clerk, 'insert', 'profiles', { body: { name: 'more', invoke: ['createRule'] } })).rejects.toMatchObject(escalation);
  await expect(as(clerk, 'update', 'profiles', { id: 'clerk', body: { dml: { '*': { select: {} } } } })).rejects.toMatchObject(escalation);
  const withdrawn = { ...write, executeProcedure: false, publish: false };
  await as(admin, 'update', 'profiles', { id: 'clerk', body: { invoke: withdrawn } });
  for (const invoke of [{ updateProfile: true, publish: false }, { ...withdrawn, publish: true }, {}])
    await expect(as(clerk, 'update', 'profiles', { id: 'clerk', body: { invoke } })).rejects.toMatchObject(escalation);
  await expect(as(clerk, 'insert', 'profiles', { body: { name: 'more' } })).rejects.toMatchObject(escalation);
  await as(clerk, 'insert', 'profiles', { body: { name: 'same', invoke: withdrawn } });
  await as(admin, 'update', 'profiles', { id: 'clerk', body: { invoke: { executeProcedure: false } } });
  await expect(as(clerk, 'execute', 'procedures', { id: 'call1' })).rejects.toMatchObject(DENIED);
  await as(admin, 'update', 'profiles', { id: 'clerk', body: { invoke: CLERK.invoke } });
});

test('default profiles show the current levels of the types, and cannot be changed', async () => {
  const dmlOf = async (name: string) => (await rows(plain, 'selectOne', 'profiles', { id: name })) as unknown as { dml: object };
  expect((await dmlOf('user')).dml).toMatchObject({ Bill: { select: null, aggregate: null } });
  await t.type('Late', { n: { type: 'Integer' } }, { userAccessLevel: 'ars_readByOwner' });
  const own = { ars_createdBy: { ars_substitution: 'ars_username' } };
  expect((await dmlOf('user')).dml).toMatchObject({ Late: { select: own, aggregate: own } });
  for (const name of ['user', 'admin']) {
    const immutable = { code: 'cascade.profile.immutable', status: 403 };
    await expect(as(admin, 'update', 'profiles', { id: name, body: { description: 'x' } })).rejects.toMatchObject(immutable);
    await expect(as(admin, 'insert', 'profiles', { body: { name } })).rejects.toMatchObject(immutable);
    await expect(as(admin, 'delete', 'profiles', { id: name })).rejects.toMatchObject(immutable);
  }
  const inUse = { code: 'cascade.profile.in.use', status: 409 };
  await expect(as(admin, 'delete', 'profiles', { id: 'clerk' })).rejects.toMatchObject(inUse);
});

test('a BEFORE rule takes no part once its editor may not change the instances, though a WHEN rule of the same editor goes on', async () => {
  await t.type('Note', { n: { type: 'Integer' } });
  const grant = (Note: object) => as(admin, 'update', 'profiles', { id: 'clerk', body: { dml: { Note }, invoke: ['createRule'] } });
  await grant({ select: {}, update: {} });
  await as(clerk, 'insert', 'rules', { text: 'RULE early BEFORE UPDATE ON Note AS x x.n = 0 return x' });
  await as(clerk, 'insert', 'rules', { text: 'RULE late WHEN UPDATE OCCURS ON Note AS x log.info("x")' });
  const id = String((await rows(admin, 'insert', 'Note', { body: { n: 1 } }))[0]?.['_id']);
  const updated = async (n: number) => {
    await as(admin, 'update', 'Note', { id, body: { n } });
    return (await t.rows('Note'))[0]?.['n'];
  };
  expect(await updated(2)).toBe(0);
  await grant({ select: {} });
  for (const n of [3, 4]) expect(await updated(n)).toBe(n);
  await as(admin, 'delete', 'rules', { parameters: { where: { name: { $in: ['early', 'late'] } } } });
  await as(admin, 'update', 'profiles', { id: 'clerk', body: { dml: CLERK.dml, invoke: CLERK.invoke } });
});

test('rows of a group are visible to its current members and to admins', async () => {
  const put = (who: Identity, body: object) => as(who, 'insert', 'Shared', { body });
  await as(plain, 'insert', 'groups', { body: { name: 'night' } });
  await put(plain, { n: 1, ars_group: 'night' });
  await put(admin, { n: 2 });
  const seenBy = async (who: Identity) => (await rows(who, 'select', 'Shared')).map(({ n }) => n);
  expect([await seenBy(plain), await seenBy(clerk), await seenBy(admin)]).toEqual([[1, 2], [2], [1, 2]]);
  await expect(put(clerk, { n: 3, ars_group: 'night' })).rejects.toMatchObject({ code: 'cascade.group.not.member', status: 403 });
  await expect(put(plain, { n: 3, ars_group: 'none' })).rejects.toMatchObject({ code: 'cascade.group.unknown', status: 400 });
  await expect(as(clerk, 'update', 'groups', { id: 'night', body: { members: [clerk.username] } })).rejects.toMatchObject(DENIED);
  await as(plain, 'update', 'groups', {
    id: 'night',
    body: { members: [clerk.username, { resource: 'users', resourceId: clerk.username }] },
  });
  expect(await rows(plain, 'selectOne', 'groups', { id: 'night' })).toMatchObject({ members: [plain.username, clerk.username] });
  expect(await seenBy(clerk)).toEqual([1, 2]);
  await as(clerk, 'update', 'groups', { id: 'night', body: { members: [plain.username] } });
  expect(await seenBy(clerk)).toEqual([2]);
  await expect(as(clerk, 'delete', 'groups', { id: 'night' })).rejects.toMatchObject(DENIED);
  const unknown = { code: 'cascade.group.member.unknown', status: 400 };
  await expect(as(plain, 'update', 'groups', { id: 'night', body: { members: ['nobody'] } })).rejects.toMatchObject(unknown);
  await as(plain, 'delete', 'groups', { id: 'night' });
  expect([await seenBy(plain), await seenBy(admin)]).toEqual([[2], [1, 2]]);
});

// spec: language.md E14
test('a program that reads as its caller cannot read types that the profile does not name, nor rows of other groups', async () => {
  await as(plain, 'insert', 'groups', { body: { name: 'watch' } });
  await as(plain, 'insert', 'Shared', { body: { n: 41, ars_group: 'watch' } });
  const read = 'var a = SELECT FROM Shared WHERE n == 41\nvar b = SELECT ONE FROM Shared WHERE n == 41\nreturn [a.length, b == null]';
  expect([await called(plain, read), await called(clerk, read)]).toEqual([
    [1, false],
    [0, true],
  ]);
  for (const select of [
    'SELECT FROM Order',
    'SELECT ONE FROM Order',
    'SELECT n = count() FROM Order',
    'SELECT FROM Order AS o { log.info("x") }',
  ])
    await expect(called(clerk, `${select}\nreturn 1`), select).rejects.toMatchObject({ code: 'cascade.authorization.denied', status: 403 });
  await as(plain, 'delete', 'groups', { id: 'watch' });
});

test('an UPSERT with the key of a hidden instance is refused without a change or a second instance', async () => {
  await as(admin, 'insert', 'types', {
    body: { name: 'Tool', properties: { code: { type: 'String' }, site: { type: 'String' } }, naturalKey: ['code'] },
  });
  await as(admin, 'insert', 'Tool', { body: { code: 'x', site: 'b' } });
  await expect(as(clerk, 'upsert', 'Tool', { body: { code: 'x', site: 'a' } })).rejects.toMatchObject(DENIED);
  expect(await rows(admin, 'select', 'Tool')).toMatchObject([{ code: 'x', site: 'b' }]);
  for (let times = 0; times < 2; times++) await as(clerk, 'upsert', 'Tool', { body: { code: 'y', site: 'a' } });
  expect(await rows(admin, 'select', 'Tool')).toHaveLength(2);
});

test('subscriptions end when a change of the profile withdraws their right; others of the same user continue', async () => {
  const notices: Record<string, Notice[]> = { '/types/Bill/insert': [], '/types/Tool/insert': [] };
  for (const [path, received] of Object.entries(notices)) await t.engine.subscribe(clerk, path, {}, (notice) => void received.push(notice));
  const persistent: Notice[] = [];
  await t.engine.subscribe(clerk, '/types/Bill/insert', { persistent: true }, (notice) => void persistent.push(notice));
  const { Bill: _, ...dml } = CLERK.dml;
  await as(admin, 'update', 'profiles', { id: 'clerk', body: { dml } });
  await as(admin, 'insert', 'Bill', { body: { site: 'a', n: 1 } });
  await as(admin, 'insert', 'Tool', { body: { code: 'z', site: 'a' } });
  // What a subscriber may see is decided after the commit, once its rights have been read again.
  await expect.poll(() => notices['/types/Tool/insert']).toMatchObject([{ kind: 'event' }]);
  await expect.poll(() => persistent).toEqual([{ kind: 'withdrawn' }]);
  expect(notices['/types/Bill/insert']).toEqual([{ kind: 'withdrawn' }]);
});

test('a group keeps what others change in it while a user who is deleted is taken out of all groups', async () => {
  const [eve, bob] = ['eve', 'bob'].map((name) => `${name}.${admin.namespace.toLowerCase()}`) as [string, string];
  for (const username of [eve, bob]) await as(admin, 'insert', 'users', { body: { username, password: 'correct horse' } });
  const names = Array.from({ length: 10 }, (_, i) => `shift${i}`);
  for (const name of names) await as(admin, 'insert', 'groups', { body: { name, members: [bob, eve] } });
  const members = async (id: string): Promise<unknown> =>
    ((await rows(admin, 'selectOne', 'groups', { id })) as unknown as { members: string[] }).members;
  const deleted = as(admin, 'delete', 'users', { id: bob });
  await expect.poll(() => members('shift0'), { interval: 1 }).not.toContain(bob);
  await as(admin, 'patch', 'groups', { id: 'shift9', body: [{ op: 'remove', path: '/members/-', value: eve }] });
  await deleted;
  const boss = admin.username;
  expect(await Promise.all(names.map(members))).toEqual([...names.slice(1).map(() => [boss, eve]), [boss]]);
  await as(admin, 'delete', 'users', { id: eve });
  for (const name of names) await as(admin, 'delete', 'groups', { id: name });
});
