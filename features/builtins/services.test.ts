// Built-in services that keep their data in types of their own (builtins.md 23 to 30), called by programs through an engine.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { evaluator } from './testing/value.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
});
afterAll(() => t[Symbol.asyncDispose]());

const value = evaluator(() => t);
type Row = Record<string, unknown>;
const textOf = (v: unknown): string => JSON.stringify(v);

async function user(name: string): Promise<string> {
  const { namespace } = t.identity;
  const username = `${name}.${namespace}`;
  await t.engine.identity.createUser({
    username,
    password: 'correct horse',
    namespace,
    profiles: ['user', 'user__system'],
    createdBy: 'ann',
  });
  return username;
}

describe('Chat (builtins.md 25)', () => {
  const room = (users: string[], topic = 'Pump 7'): Promise<unknown> =>
    value(`Chat.createChatroom(null, ${textOf(topic)}, ${textOf(users)})`);

  test('a new room has a first message, and each message is published when it is stored', async () => {
    await t.type('Heard', { m: { type: 'Object' } });
    const id = String(await room(['bo', 'cy', 'bo']));
    expect(await t.rows('ArsChat')).toMatchObject([{ _id: id, topic: 'Pump 7', users: ['bo', 'cy'], createdBy: 'ann' }]);
    expect(await t.rows('ArsChatMessage', { chatId: id })).toMatchObject([{ sequence: 1, type: 'system', sender: 'ann' }]);
    await t.program('rules', `RULE hear WHEN PUBLISH OCCURS ON "/ars_chat/${id}" AS e INSERT Heard(m: e.value)`);
    const sent = (await value(`Chat.sendMessage("${id}", "text", "hello", {a: 1}, ["cy"], "bo")`)) as Row;
    expect(sent).toMatchObject({ chatId: id, sequence: 2, msg: 'hello', metadata: { a: 1 }, sender: 'bo', notified: ['cy'] });
    const [received] = await t.eventually('Heard', {}, 1);
    expect(received?.['m']).toMatchObject({ _id: sent['_id'], msg: 'hello', sequence: 2 });
  });

  test('only an admin sends messages in another user’s name', async () => {
    const username = await user('plain');
    const id = String(await room(['bo', username], 'names'));
    const identity = { username, namespace: t.identity.namespace, profiles: ['user', 'user__system'], token: '000000000000000000000002' };
    await t.program(
      'procedures',
      'PROCEDURE speak(id String, name String)\nreturn Chat.sendMessage(id, "text", "x", null, null, name).sender',
    );
    const speak = async (name: string | null) => {
      const request = { identity, op: 'execute', resourceName: 'procedures', custom: false, resourceId: 'speak', parameters: {} };
      return (await t.engine.execute({ ...request, object: [id, name] })).body;
    };
    expect([await speak(username), await speak(null)]).toEqual([textOf(username), textOf(username)]);
    await expect(speak('bo')).rejects.toMatchObject({ code: 'cascade.authorization.denied', status: 403 });
  });

  test('concurrent messages are numbered without gaps', async () => {
    const id = String(await room(['bo'], 'busy'));
    await t.program('procedures', 'PROCEDURE say(id String, n Integer)\nreturn Chat.sendMessage(id, "text", "m" + n).sequence');
    const said = await Promise.all(
      Array.from({ length: 30 }, (_, n) => t.ask('execute', 'procedures', { id: 'say', body: textOf([id, n]) })),
    );
    const numbers = said.map(({ body }) => Number(body)).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, n) => n + 2));
  });

  test('members can be added and removed, and only members get messages', async () => {
    const id = String(await room(['bo']));
    expect(await value(`Chat.addUser("${id}", ["cy", "bo"])`)).toEqual(['bo', 'cy']);
    expect(await value(`Chat.addUser("${id}", "di")`)).toEqual(['bo', 'cy', 'di']);
    expect(await value(`Chat.removeUser("${id}", ["cy", "nobody"])`)).toEqual(['bo', 'di']);
    expect(await value(`Chat.sendMessage("${id}", "text", "x", null, ["cy"])`)).toBe('cascade.lang.range ["userList","cy"]');
    expect(await value(`Chat.sendMessage("${id}", "text", null)`)).toBe('cascade.lang.range ["msg",null]');
    expect(await value(`Chat.sendMessage("${id}", "shout", "x")`)).toBe('cascade.lang.range ["type","shout"]');
    expect(await value(`Chat.sendMessage("${id}", "image", null).type`)).toBe('image');
    expect(await room([])).toBe('cascade.lang.range ["users",[]]');
    expect(await room(['bo'], '')).toBe('cascade.lang.range ["topic",""]');
    const unknown = '0123456789abcdef01234567';
    expect(await value(`Chat.addUser("${unknown}", "bo")`)).toBe(`cascade.resource.not.found ["/ArsChat/${unknown}"]`);
  });

  test('a client gets the rooms and messages that changed or were deleted since its last request', async () => {
    const [old, left, gone] = [await room(['eve'], 'old'), await room(['eve'], 'left'), await room(['eve'], 'gone')].map(String);
    const known = ((await value('Chat.updateChatrooms("eve").changed')) as Row[]).map(({ _id, modifiedAt }) => ({ _id, modifiedAt }));
    expect(known.map(({ _id }) => _id)).toEqual([old, left, gone]);
    expect(await value(`Chat.updateChatrooms("eve", ${textOf(known)})`)).toEqual({ changed: [], deleted: [] });
    await value(`Chat.sendMessage("${old}", "text", "new")`);
    await value(`Chat.removeUser("${left}", "eve")`);
    expect(await value(`Chat.deleteChatroom("${gone}")`)).toBe(true);
    expect(await value(`Chat.deleteChatroom("${gone}")`)).toBe(false);
    expect(await t.rows('ArsChatMessage', { chatId: gone })).toEqual([]);
    const { changed, deleted } = (await value(`Chat.updateChatrooms("eve", ${textOf(known)})`)) as { changed: Row[]; deleted: string[] };
    expect(changed.map(({ _id, messages }) => [_id, (messages as Row[]).map(({ msg }) => msg)])).toEqual([[old, ['new']]]);
    expect(deleted).toEqual([left, gone]);
  });
});

describe('LocationTracking (builtins.md 26)', () => {
  const at = (longitude: number, latitude: number): string => `{type: "Point", coordinates: [${longitude}.0, ${latitude}]}`;
  const track = (rest: string): Promise<unknown> => value(`LocationTracking.trackCollaborator(activity: "go", ${rest})`);
  const report = (topic: string, username: string, longitude: number, latitude: number) =>
    t.ask('publish', 'topics', {
      id: topic,
      body: textOf({ username, location: { type: 'Point', coordinates: [longitude, latitude] } }),
    });

  test('the record has the last position, and the arrival is published once', async () => {
    await t.type('Arrived', { m: { type: 'Object' } });
    await t.program('rules', 'RULE arrived WHEN PUBLISH OCCURS ON "/yard/arrived" AS e INSERT Arrived(m: e.value)');
    const record = await track(`user: "bo", destination: ${at(0, 1.0)}, arrivalTopic: "/yard/arrived", reportingTopic: "/yard/at"`);
    expect(record).toMatchObject({ activity: 'go', username: 'bo', level: 'fine', distanceFilter: 200, destinationRadius: 500 });
    await report('/yard/at', 'bo', 0, 0.5);
    await report('/yard/at', 'bo', 0, 0.501); // 111 m: dropped
    await report('/yard/at', 'cy', 0, 1);
    expect((await t.rows('ArsActiveTrack'))[0]?.['lastLocation']).toEqual({ type: 'Point', coordinates: [0, 0.5] });
    await report('/yard/at', 'bo', 0, 0.9999);
    await report('/yard/at', 'bo', 0, 1);
    expect(await t.rows('ArsActiveTrack')).toEqual([]);
    const [arrived] = await t.eventually('Arrived', {}, 1);
    expect(arrived?.['m']).toMatchObject({ username: 'bo', activity: 'go' });
  });

  test('a new track replaces one of the same user and activity, and no other', async () => {
    await track('user: "di", reportingTopic: "/yard/di"');
    const second = (await track('user: "di", level: "coarse", reportingTopic: "/yard/di"')) as Row;
    await value('LocationTracking.trackCollaborator(activity: "other", user: "di", reportingTopic: "/yard/di")');
    expect((await t.rows('ArsActiveTrack', { username: 'di' })).map(({ activity, level }) => [activity, level])).toEqual([
      ['go', 'coarse'],
      ['other', 'fine'],
    ]);
    const id = String(second['_id']);
    expect(await value(`LocationTracking.untrackCollaborator("${id}", "somebody")`)).toBe(false);
    expect(await value(`LocationTracking.untrackCollaborator({_id: "${id}"}, "di")`)).toBe(true);
    expect(await value(`LocationTracking.untrackCollaborator("${id}", "di")`)).toBe(false);
    expect(await t.rows('ArsActiveTrack', { username: 'di' })).toHaveLength(1);
    expect(await track('user: "di", level: "rough", reportingTopic: "/yard/di"')).toBe('cascade.lang.range ["level","rough"]');
    expect(await track('user: "di", destination: {a: 1}, reportingTopic: "/yard/di"')).toBe('cascade.lang.range ["destination",{"a":1}]');
    expect(await track('user: "di", reportingTopic: "nowhere"')).toMatch(/^cascade\.topic\.name\.invalid/);
  });
});

describe('ResourceConfig (builtins.md 28.2)', () => {
  test('stores any value under a unique name', async () => {
    for (const config of [5, 'five', { a: [1.5, null] }, [1, 'x'], true, null])
      await t.ask('upsert', 'ArsResourceConfig', { body: textOf({ name: `c${textOf(config)}`, value: config }) });
    expect(await value('[ResourceConfig.get("c5"), ResourceConfig.get("c\\"five\\""), ResourceConfig.get("c[1,\\"x\\"]")]')).toEqual([
      5,
      'five',
      [1, 'x'],
    ]);
    expect(await value('ResourceConfig.get("c{\\"a\\":[1.5,null]}").a')).toEqual([1.5, null]);
    expect(await value('[ResourceConfig.get("ctrue"), ResourceConfig.get("cnull")]')).toEqual([true, null]);
    expect(await value('ResourceConfig.get("nothing")')).toBe('cascade.resourceconfig.unknown ["nothing"]');
    await expect(t.ask('insert', 'ArsResourceConfig', { body: '{"name":"c5","value":6}' })).rejects.toMatchObject({
      code: 'cascade.resource.duplicate.key',
    });
  });
});

describe('Notification and Client (builtins.md 23, 24)', () => {
  const message = async (users: string[]): Promise<string> => {
    const recipients = users.map((username) => ({ username, status: 'pending' }));
    const { body } = await t.ask('insert', 'ArsPayloadMessage', {
      body: textOf({ title: 'T', payload: {}, users, pendingUsers: users, recipients }),
    });
    return String((JSON.parse(body ?? '[]') as Row[])[0]?.['_id']);
  };
  const pending = async (user: string): Promise<unknown[]> =>
    ((await value(`Notification.listPending("${user}")`)) as Row[]).map(({ _id }) => _id);

  test('a message is pending until it is withdrawn', async () => {
    const [first, second] = [await message(['bo', 'cy']), await message(['bo'])];
    expect(await pending('bo')).toEqual([first, second]);
    expect(await value(`Notification.retractPayload("${first}", ["cy"])`)).toBe(true);
    expect([await pending('bo'), await pending('cy')]).toEqual([[second], [first]]);
    expect(await value(`Notification.retractPayload("${first}")`)).toBe(true);
    expect(await pending('cy')).toEqual([]);
    expect(await value('Notification.retractPayload("0123456789abcdef01234567")')).toBe(false);
    const [stored] = await t.rows('ArsPayloadMessage', { _id: first });
    expect(stored?.['recipients']).toEqual([
      { username: 'bo', status: 'retracted' },
      { username: 'cy', status: 'retracted' },
    ]);
    expect(await value(`Notification.deletePayloadMessages(["${first}", "${second}", "x"])`)).toBe(2);
  });

  test('a user who is no admin sees and deletes only the own entry of a message', async () => {
    const clerk = { ...t.identity, username: 'cy', profiles: ['user', 'user__system'] };
    const { namespace } = t.identity;
    await t.engine.identity
      .createUser({ username: 'cy', password: 'correct horse', namespace: 'tests', createdBy: 'ann' })
      .catch(() => undefined);
    await t.engine.identity.authorizeUser('cy', namespace, clerk.profiles, { isConsented: true });
    const id = await message(['bo', 'cy']);
    await t.program('procedures', 'PROCEDURE pendingOf(name)\nreturn Notification.listPending(name)');
    await t.program('procedures', 'PROCEDURE dropAll(ids)\nreturn Notification.deletePayloadMessages(ids)');
    const as = (name: string, ...args: unknown[]) =>
      t.engine.execute({
        identity: clerk,
        op: 'execute',
        resourceName: 'procedures',
        custom: false,
        resourceId: name,
        object: args as never,
        parameters: {},
      });
    await expect(as('pendingOf', 'bo')).rejects.toMatchObject({ code: 'cascade.authorization.denied' });
    expect((JSON.parse((await as('pendingOf', null)).body ?? '') as Row[]).map(({ _id }) => _id)).toEqual([id]);
    const ask = (request: object) =>
      t.engine.execute({ identity: clerk, resourceName: 'ArsPayloadMessage', custom: true, parameters: {}, ...request } as never);
    const mine = [{ username: 'cy', status: 'pending' }];
    expect(JSON.parse((await ask({ op: 'select' })).body ?? '')).toMatchObject([{ _id: id, recipients: mine }]);
    expect(JSON.parse((await ask({ op: 'select', resourceId: id })).body ?? '')).toMatchObject({ _id: id, recipients: mine });
    expect(JSON.parse((await ask({ op: 'aggregate', object: [{ $project: { recipients: 1 } }] })).body ?? '')).toMatchObject([
      { recipients: mine },
    ]);
    expect((JSON.parse((await as('pendingOf', null)).body ?? '') as Row[])[0]?.['recipients']).toEqual(mine);
    expect((await as('dropAll', [id])).body).toBe('1');
    expect([await pending('bo'), await pending('cy')]).toEqual([[id], []]);
    expect((await as('dropAll', [id])).body).toBe('0');
    await expect(ask({ op: 'submit', resourceId: await message(['bo']), object: {} })).rejects.toMatchObject({ status: 404 });
  });

  test('no message is sent without a source for devices', async () => {
    expect(await value('Notification.sendPayload("push", null, null, "t", {responseTopic: "/r"}, ["ann"])')).toBe(
      'cascade.resource.not.found ["/sources/push"]',
    );
    expect(await value('Client.sendByName("push", "t", null, ["ann"], "c")')).toBe('cascade.resource.not.found ["/sources/push"]');
    expect(await value('Client.sendByName("push", "t", null, ["ann"], "")')).toBe('cascade.lang.range ["clientName",""]');
  });
});

describe('Collaborations (builtins.md 29)', () => {
  const create = async (rest = ''): Promise<string> =>
    String(((await value(`CollaborationUtils.createCollaboration("c"${rest})`)) as Row)['id']);

  test('roles, users and results are stored; a completed collaboration is immutable', async () => {
    const bo = await user('bo');
    const id = await create(`, {pump: "/Pump/1", site: {resource: "Site", resourceId: "s"}}`);
    expect(await value(`CollaborationUtils.getCollaboration("${id}")`)).toMatchObject({
      id,
      name: 'c',
      status: 'active',
      entities: { pump: '/Pump/1', site: '/Site/s' },
      collaborators: {},
      results: {},
    });
    expect(await value('CollaborationUtils.getCollaboration("none")')).toBeNull();
    expect(await value(`CollaborationUtils.findByEntity("site", "/Site/s")`)).toMatchObject([{ id }]);
    expect(await value(`CollaborationUtils.findByEntity("pump", {resource: "Pump", resourceId: "2"})`)).toEqual([]);
    expect(await value(`CollaborationUtils.setEntity("${id}", "pump", null).entities`)).toEqual({ site: '/Site/s' });
    expect(await value(`CollaborationUtils.assignCollaborator("${id}", "lead", "${bo}").collaborators`)).toEqual({ lead: bo });
    expect(await value(`CollaborationUtils.assignCollaborator("${id}", "lead", "zed")`)).toBe('cascade.resource.not.found ["/users/zed"]');
    expect(await value(`CollaborationUtils.setResult("${id}", "look", {n: 1}).results`)).toEqual({ look: { n: 1 } });
    expect(await value(`CollaborationUtils.setEntity("${id}", "a.b", "/P/1")`)).toBe('cascade.lang.range ["role","a.b"]');
    expect(await value(`CollaborationUtils.closeCollaboration("${id}", "lost")`)).toBe('cascade.lang.range ["status","lost"]');
    const ended = (await value(`CollaborationUtils.closeCollaboration("${id}")`)) as Row;
    expect([ended['status'], typeof ended['closedAt']]).toEqual(['completed', 'string']);
    expect(await value(`CollaborationUtils.closeCollaboration("${id}", "failed").closedAt == toDate("${String(ended['closedAt'])}")`)).toBe(
      true,
    );
    expect(await value(`CollaborationUtils.setResult("${id}", "x", 1)`)).toBe(`cascade.collaboration.inactive ["${id}","completed"]`);
    expect(await value(`CollaborationUtils.findByEntity("site", "/Site/s")`)).toEqual([]);
    expect(await value(`CollaborationUtils.findByEntity("site", "Site/s", false)`)).toMatchObject([{ id }]);
    expect(await t.rows('system.collaborations', { id })).toHaveLength(1);
  });

  test('a change of a collaboration raises an event of its resource', async () => {
    await t.type('Begun', { name: { type: 'String' } });
    await t.program(
      'rules',
      'RULE begun WHEN EVENT OCCURS ON "/types/system.collaborations/insert" AS e WHERE e.value.name == "seen"\nINSERT Begun(name: e.value.name)',
    );
    await value('CollaborationUtils.createCollaboration("seen")');
    expect(await t.eventually('Begun', { name: 'seen' }, 1)).toHaveLength(1);
  });

  test('concurrent results are all stored', async () => {
    const id = await create();
    await t.program('procedures', 'PROCEDURE keep(id String, n Integer)\nCollaborationUtils.setResult(id, "r" + n, n)');
    await Promise.all(Array.from({ length: 20 }, (_, n) => t.ask('execute', 'procedures', { id: 'keep', body: textOf([id, n]) })));
    const found = (await value(`CollaborationUtils.getCollaboration("${id}").results`)) as Row;
    expect(Object.keys(found)).toHaveLength(20);
  });

  test('an activity pattern is a procedure with a configuration', async () => {
    await t.program('procedures', 'PROCEDURE weigh(event, config, collaboration)\nreturn [event, config.a, config.b, collaboration.name]');
    expect(await value('ActivityPattern.define("Weigh", "weigh", ["a", "b"], {b: 2})')).toMatchObject({
      name: 'Weigh',
      required: ['a', 'b'],
    });
    expect(await value('ActivityPattern.validate("Weigh", {})')).toEqual(['a']);
    const id = await create();
    expect(await value(`ActivityPattern.run("Weigh", "${id}", "w", {a: 1}, {x: 1})`)).toEqual([{ x: 1 }, 1, 2, 'c']);
    expect(await value(`CollaborationUtils.getCollaboration("${id}").results.w[1]`)).toBe(1);
    expect(await value(`ActivityPattern.run("Weigh", "${id}", "w")`)).toBe('cascade.activitypattern.config ["Weigh","a"]');
    expect(await value(`ActivityPattern.run("None", "${id}", "w")`)).toBe('cascade.resource.not.found ["/ArsActivityPattern/None"]');
    expect(await value('ActivityPattern.define("Notify", "weigh")')).toBe('cascade.activitypattern.reserved ["Notify"]');
    await value('ActivityPattern.define("Weigh:V9", "weigh", ["c"])');
    await value('ActivityPattern.define("Weigh:V10", "weigh", ["d"])');
    expect(await value('[ActivityPattern.validate("Weigh", {}), ActivityPattern.validate("Weigh:V10", {})]')).toEqual([['c'], ['d']]);
    expect(await value('[ActivityPattern.remove("Weigh:V9"), ActivityPattern.remove("Weigh:V9")]')).toEqual([true, false]);
    expect(await value('ActivityPattern.get("Weigh").name')).toBe('Weigh:V10');
    const names = ((await value('ActivityPattern.list()')) as Row[]).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['Weigh', 'Weigh:V10', 'Notify', 'Chat', 'Track', 'Recommend', 'Assign', 'Procedure', 'CloseCollaboration']),
    );
  });

  test('the predefined patterns act as named, and the end of a collaboration deletes its tracks and messages', async () => {
    const di = await user('di');
    await t.type('Spare', { n: { type: 'String' }, v: { type: 'Integer' } });
    await t.ask('insert', 'Spare', { body: '[{"n":"x","v":1},{"n":"y","v":9}]' });
    const id = await create();
    const run = (pattern: string, config: string, event = 'null'): Promise<unknown> =>
      value(`ActivityPattern.run("${pattern}", "${id}", "${pattern}", ${config}, ${event})`);
    expect(await run('Assign', `{role: "lead", username: "${di}"}`)).toBe(di);
    const chatId = await run('Chat', '{topic: "t", users: ["bo"]}');
    expect(await t.rows('ArsChat', { situationId: id })).toMatchObject([{ _id: chatId }]);
    expect(await run('Track', '{user: "bo", reportingTopic: "/yard/bo"}')).toMatchObject({
      username: 'bo',
      collaborationId: id,
      level: 'fine',
    });
    expect(await run('Recommend', '{candidateType: "Spare", matchDirectives: {maxRecommendations: 1}}', '{value: {v: 8}}')).toMatchObject([
      { n: 'y' },
    ]);
    expect(await run('Notify', '{source: "push", title: "t", payload: {}, users: ["bo"]}')).toBe(
      'cascade.resource.not.found ["/sources/push"]',
    );
    await t.ask('insert', 'ArsPayloadMessage', {
      body: textOf({ collaborationId: id, pendingUsers: ['bo'], recipients: [{ username: 'bo', status: 'pending' }] }),
    });
    expect(await run('CloseCollaboration', '{status: "completed"}')).toBe('completed');
    const [ended] = await t.rows('collaborations', { id });
    expect(ended).toMatchObject({
      status: 'completed',
      collaborators: { lead: di },
      results: { Chat: chatId, CloseCollaboration: 'completed' },
    });
    expect(await t.rows('ArsActiveTrack', { collaborationId: id })).toEqual([]);
    expect(await t.rows('ArsPayloadMessage', { collaborationId: id })).toMatchObject([
      { pendingUsers: [], recipients: [{ status: 'retracted' }] },
    ]);
  });

  test('a definition becomes a rule that runs the activities, until one fails', async () => {
    await t.type('Leak', { n: { type: 'Integer' } });
    await t.program(
      'procedures',
      'PROCEDURE look(event, config, collaboration)\nif (event.value.n > 5) { exception("leak.large", "too large") }\nreturn event.value.n',
    );
    await value('ActivityPattern.define("Look", "look")');
    const definition = (more: string): string =>
      `{name: "leak", trigger: "/types/Leak/insert", entityRole: "leak", activities: [{name: "see", pattern: "Look", config: {note: "it's \\"so\\""}}${more}]}`;
    expect(await value(`CollaborationGeneration.generate(${definition('')})`)).toEqual({ rule: 'ars_collab_leak', activities: ['see'] });
    expect(
      await value(
        `CollaborationGeneration.generate(${definition(', {name: "end", pattern: "CloseCollaboration", config: {status: "completed"}}')})`,
      ),
    ).toEqual({ rule: 'ars_collab_leak', activities: ['see', 'end'] });
    const { body } = await t.ask('insert', 'Leak', { body: '[{"n":1},{"n":9}]' });
    const [small, large] = (JSON.parse(body ?? '[]') as Row[]).map(({ _id }) => `/Leak/${String(_id)}`);
    const [completed] = await t.eventually('collaborations', { name: 'leak', status: 'completed' }, 1);
    expect(completed).toMatchObject({ entities: { leak: small }, results: { see: 1, end: 'completed' } });
    const [failed] = await t.eventually('collaborations', { name: 'leak', status: 'failed' }, 1);
    expect(failed).toMatchObject({ entities: { leak: large }, results: {} });
    expect(await value('CollaborationGeneration.list()')).toMatchObject([{ name: 'leak', rule: 'ars_collab_leak' }]);
    expect(
      await value(`CollaborationGeneration.generate({name: "x", trigger: "/types/Leak/insert", activities: [{name: "a", pattern: "No"}]})`),
    ).toBe('cascade.resource.not.found ["/ArsActivityPattern/No"]');
    expect(await value('[CollaborationGeneration.remove("leak"), CollaborationGeneration.remove("leak")]')).toEqual([true, false]);
    expect((await t.rows('rules')).filter(({ name }) => name === 'ars_collab_leak')).toEqual([]);
  });
});

describe('Deployment, Test and sources (builtins.md 28.3, 30)', () => {
  test('a configuration is deployed to no node where none matches', async () => {
    await t.ask('insert', 'configurations', { body: '{"name":"north","resources":["/rules/r1",{"resource":"types","resourceId":"T"}]}' });
    expect(await t.rows('configurations', { name: 'north' })).toMatchObject([
      { resources: ['/rules/r1', '/types/T'], provisioningConstraint: {}, provisionAsTree: true, active: true },
    ]);
    expect(await value('[Deployment.deploy("north"), Deployment.undeploy("north")]')).toEqual([[], []]);
    await t.ask('insert', 'deployconfigs', { body: '{"name":"all","partitions":[{"name":"p","resources":["/rules/r1"]}]}' });
    expect(await value('[Deployment.deployPartitions("all", "id", true), Deployment.undeployPartitions("all")]')).toEqual([[], []]);
    for (const wrong of ['{"name":"x","resources":["/users/ann"]}', '{"name":"x","resources":"y"}', '{"name":"x","whatever":1}'])
      await expect(t.ask('insert', 'configurations', { body: wrong })).rejects.toMatchObject({ status: 400 });
  });

  test('the state of a configuration is computed from its rules', async () => {
    await t.type('Switched', { n: { type: 'Integer' } });
    await t.program('rules', 'RULE switched WHEN INSERT OCCURS ON Switched AS s WHERE s.n == 1\nvar x = 1');
    await t.ask('insert', 'configurations', { body: '{"name":"off","resources":["/rules/switched","/rules/none"]}' });
    await t.ask('update', 'configurations', { id: 'off', body: '{"active":false}' });
    expect((await t.rows('rules', { name: 'switched' }))[0]?.['active']).toBe(false);
    await t.ask('update', 'configurations', { id: 'off', body: '{"active":true}' });
    expect((await t.rows('rules', { name: 'switched' }))[0]?.['active']).toBe(true);
  });

  test('a source is mocked until the mock is stopped', async () => {
    await t.type('Got', { m: { type: 'Object' } });
    await t.ask('insert', 'sources', {
      body: '{"name":"tanks","type":"REMOTE","direction":"BOTH","active":true,"mockMode":true,"config":{"uri":"http://tanks.example/"}}',
    });
    await t.program('procedures', 'PROCEDURE tankLevel(queryDesc)\nreturn { level: 5 }');
    expect(await value('Test.startSourceMocking("tanks", "none")')).toBe('cascade.resource.not.found ["/procedures/none"]');
    expect(await value('Test.startSourceMocking("tanks", "tankLevel")')).toBeNull();
    expect((await t.rows('sources', { name: 'tanks' }))[0]).toMatchObject({ mockMode: true, mockProcedures: { query: 'tankLevel' } });
    await t.program('rules', 'RULE got WHEN MESSAGE ARRIVES FROM tanks AS m INSERT Got(m: m)');
    expect(await value('Test.sendMockSourceEvent("tanks", {a: 1})')).toBeNull();
    expect((await t.eventually('Got', {}, 1))[0]?.['m']).toEqual({ a: 1 });
    expect(await value('Test.stopSourceMocking("tanks")')).toBeNull();
    expect((await t.rows('sources', { name: 'tanks' }))[0]).toMatchObject({ mockMode: false });
  });

  test('a message to devices is stored for existing users', async () => {
    const bo = await user('bobo');
    expect(await value('Utils.initPushSource()')).toMatchObject({ name: 'PushNotification', type: 'PUSH_NOTIF' });
    expect(await value('Utils.initPushSource("tanks")')).toBe('cascade.notification.source ["tanks"]');
    const send = (rest: string): Promise<unknown> => value(`Notification.sendPayload("PushNotification", ${rest})`);
    const sent = (await send(`null, null, "T", {responseTopic: "/r"}, ["${bo}", "ghost", "${bo}"]`)) as Row;
    expect(sent).toMatchObject({ category: '', title: 'T', users: [bo], unknownUsers: ['ghost'], pendingUsers: [bo] });
    expect(sent['recipients']).toMatchObject([{ username: bo, status: 'pending', deliveries: [] }]);
    await value(`Notification.retractPayload("${String(sent['_id'])}")`);
    expect(await send(`"${String(sent['_id'])}", "c", "U", {responseTopic: "/r"}, ["${bo}"]`)).toMatchObject({
      title: 'U',
      pendingUsers: [bo],
    });
    expect(await send('null, null, "T", {responseTopic: "r"}, ["a"]')).toBe('cascade.notification.payload ["/responseTopic","pattern"]');
    expect(await send('null, null, "T", {responseTopic: "/r"}, []')).toBe('cascade.notification.users [[]]');
    expect(await value(`Client.sendByName("PushNotification", "T", "S", ["${bo}"], "app")`)).toMatchObject({
      clientName: 'app',
      payload: { subtitle: 'S' },
    });
  });

  test('an unknown configuration or source cannot be deployed or mocked', async () => {
    expect(await value('Deployment.deploy("c")')).toBe('cascade.resource.not.found ["/configurations/c"]');
    expect(await value('Deployment.undeployPartitions("c")')).toBe('cascade.resource.not.found ["/deployconfigs/c"]');
    expect(await value('Test.startSourceMocking("s")')).toBe('cascade.resource.not.found ["/sources/s"]');
    expect(await value('Test.sendMockSourceEvent("s", {})')).toBe('cascade.resource.not.found ["/sources/s"]');
  });
});
