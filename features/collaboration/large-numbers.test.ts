// More rooms, messages, tracks and collaborations than one look at the store gives. They are copies of one that a program made.
import { type Db, type Document, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { evaluator } from '../builtins/testing/value.ts';
import { ACTIVITY_PATTERNS, CHAT_MESSAGES, CHATS, COLLABORATIONS, TRACKS } from './service-types.ts';

let t: TestEngine;
let client: MongoClient;
let db: Db;
beforeAll(async () => {
  t = await openTestEngine();
  client = await MongoClient.connect(process.env['CASCADE_TEST_MONGO'] as string, { promoteLongs: false });
  db = client.db(`cascade_ns_${t.identity.namespace}`);
});
afterAll(async () => {
  await client.close();
  await t[Symbol.asyncDispose]();
});
const value = evaluator(() => t);

/** Adds copies of the only record that matches. @param changes what the copy of that number has of its own */
async function copied({ collection }: { collection: string }, filter: Document, count: number, changes: (n: number) => Document) {
  const one = (await db.collection(collection).findOne(filter)) as Document;
  const copies = Array.from({ length: count }, (_, n) => ({ ...one, _id: new ObjectId(), ...changes(n) }));
  await db.collection(collection).insertMany(copies);
}

test('a client gets all messages of a room with more than one call gives, each once', async () => {
  const id = String(await value('return Chat.createChatroom(null, "t", ["reader"])'));
  const first = (await db.collection(CHAT_MESSAGES.collection).findOne({ chatId: id })) as Document;
  const startMs = (first['timestamp'] as Date).getTime();
  const at = (n: number): Date => new Date(startMs + n + 1);
  await copied(CHAT_MESSAGES, { chatId: id }, 1_200, (n) => ({ sequence: n + 2, timestamp: at(n) }));
  await db.collection(CHATS.collection).updateOne({ topic: 't' }, { $set: { modifiedAt: at(1_200) } });
  const seen = (await value(
    `var seen = [] var known = [] var more = true
     while (more) {
       var found = Chat.updateChatrooms("reader", known).changed
       more = found.size() > 0
       for (room in found) {
         for (m in room.messages) { push(seen, m.sequence) }
         known = [{_id: room._id, modifiedAt: room.modifiedAt}]
       }
     }
     return seen`,
  )) as number[];
  expect(seen).toEqual(Array.from({ length: 1_201 }, (_, n) => n + 1));
});

test('rooms beyond the first thousand are not told to be gone, and come with a later call', async () => {
  await value('return Chat.createChatroom(null, "many", ["joiner"])');
  await copied(CHATS, { topic: 'many' }, 1_001, () => ({}));
  const answers = await value(
    `var known = [] var first = Chat.updateChatrooms("joiner")
     for (room in first.changed) { push(known, {_id: room._id, modifiedAt: room.modifiedAt}) }
     var second = Chat.updateChatrooms("joiner", known)
     for (room in second.changed) { push(known, {_id: room._id, modifiedAt: room.modifiedAt}) }
     push(known, {_id: "0123456789abcdef01234567", modifiedAt: now()})
     var third = Chat.updateChatrooms("joiner", known)
     return [first.changed.size(), second.changed.size(), second.deleted, third]`,
  );
  expect(answers).toEqual([1_000, 2, [], { changed: [], deleted: ['0123456789abcdef01234567'] }]);
});

test('the new messages of many rooms are read together', async () => {
  const long = String(await value('return Chat.createChatroom(null, "chatty", ["listener"])'));
  const first = (await db.collection(CHAT_MESSAGES.collection).findOne({ chatId: long })) as Document;
  await copied(CHAT_MESSAGES, { chatId: long }, 1_000, (n) => ({ sequence: n + 2 }));
  const ids = Array.from({ length: 150 }, () => new ObjectId());
  await copied(CHATS, { topic: 'chatty' }, 150, (n) => ({ _id: ids[n] as ObjectId, topic: 'short' }));
  const messages = ids.flatMap((id, n) => Array.from({ length: n % 10 }, (_, m) => ({ chatId: id.toHexString(), sequence: m + 1 })));
  await db.collection(CHAT_MESSAGES.collection).insertMany(messages.map((message) => ({ ...first, ...message, _id: new ObjectId() })));
  await db.command({ profile: 2 });
  const seen = (await value(
    `var seen = []
     for (room in Chat.updateChatrooms("listener").changed) {
       push(seen, [room._id, toArray(MAP (m IN room.messages) { return m.sequence })])
     }
     return seen`,
  ).finally(() => db.command({ profile: 0 }))) as [string, number[]][];
  const sequences = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
  const short = ids.map((id, n): [string, number[]] => [id.toHexString(), sequences(n % 10)]);
  expect(seen).toHaveLength(151);
  expect(new Map(seen)).toEqual(new Map([[long, sequences(1_000)], ...short]));
  const asked = await db
    .collection('system.profile')
    .countDocuments({ op: { $in: ['query', 'command'] }, ns: new RegExp(`\\.${CHAT_MESSAGES.collection}$`) });
  await db.collection('system.profile').drop();
  expect(asked).toBe(6); // two counts, two of the short rooms, two of the long one
});

test('what a message, a position and a look-up by entity ask for has an index', async () => {
  const room = String(await value('return Chat.createChatroom(null, "log", ["writer"])'));
  await copied(CHAT_MESSAGES, { chatId: room }, 500, (n) => ({ sequence: n + 2 }));
  const track = (user: string) => value(`LocationTracking.trackCollaborator(activity: "drive", user: "${user}", reportingTopic: "/fleet")`);
  await track('driver');
  await copied(TRACKS, { username: 'driver' }, 500, (n) => ({ username: `driver${n}` }));
  const one = String(await value('return CollaborationUtils.createCollaboration("f", {truck: "/Truck/1"}).id'));
  await copied(COLLABORATIONS, { id: one }, 500, (n) => ({ id: `truck${n}`, entities: { truck: `/Truck/${n + 2}` } }));
  await db.command({ profile: 2 });
  try {
    expect(await value(`Chat.sendMessage("${room}", "text", "x").sequence`)).toBe(502);
    await t.ask('publish', 'topics', {
      id: '/fleet',
      body: JSON.stringify({ username: 'driver', location: { type: 'Point', coordinates: [1, 1] } }),
    });
    await track('driver'); // in place of the earlier one
    expect(await value('CollaborationUtils.findByEntity("truck", "/Truck/1", true).id')).toEqual([one]);
  } finally {
    await db.command({ profile: 0 });
  }
  const read = await db
    .collection('system.profile')
    .aggregate([{ $group: { _id: { $arrayElemAt: [{ $split: ['$ns', '.'] }, -1] }, most: { $max: '$docsExamined' } } }])
    .toArray();
  await db.collection('system.profile').drop();
  const most = new Map(read.map(({ _id, most: count }) => [String(_id), Number(count)]));
  for (const { collection } of [CHAT_MESSAGES, TRACKS, COLLABORATIONS])
    expect(most.get(collection.split('.').at(-1) as string), collection).toBeLessThanOrEqual(2);
});

test('a collaboration that ends takes all of its tracks with it', async () => {
  const id = String(await value('return CollaborationUtils.createCollaboration("c").id'));
  await value(`return ActivityPattern.run("Track", "${id}", "go", {user: "walker", reportingTopic: "/walks"}) != null`);
  await copied(TRACKS, { collaborationId: id }, 1_001, () => ({}));
  await value(`return CollaborationUtils.closeCollaboration("${id}", "completed").status`);
  expect(await db.collection(TRACKS.collection).countDocuments({ collaborationId: id })).toBe(0);
});

test('who takes part in a late one of many collaborations of an entity finds it', async () => {
  const id = String(await value('return CollaborationUtils.createCollaboration("e", {pump: "/Pump/1"}).id'));
  const others = { ars_createdBy: 'somebody', collaborators: {} };
  await copied(COLLABORATIONS, { id }, 1_001, (n) => ({ ...others, id: `other${n}` }));
  await copied(COLLABORATIONS, { id }, 1, () => ({ ...others, id: 'late', collaborators: { worker: 'cyd' } }));
  const identity = { ...t.identity, username: 'cyd', profiles: ['user', 'user__system'] };
  await t.engine.identity
    .createUser({ username: 'cyd', password: 'correct horse', namespace: 'tests', createdBy: 'tests' })
    .catch(() => undefined); // exists
  await t.engine.identity.authorizeUser('cyd', t.identity.namespace, identity.profiles, { isConsented: true });
  await t.program('procedures', 'PROCEDURE mine() WITH profiles = ["user"] return CollaborationUtils.findByEntity("pump", "/Pump/1").id');
  const reply = await t.engine.execute({
    identity,
    op: 'execute',
    resourceName: 'procedures',
    resourceId: 'mine',
    custom: false,
    parameters: {},
    object: [],
  });
  expect(JSON.parse(reply.body ?? 'null')).toEqual(['late']);
});

test('a null in the configuration of a step leaves the default', async () => {
  await t.program('procedures', 'PROCEDURE told(event, config, collaboration) return config.x');
  const id = String(await value('return CollaborationUtils.createCollaboration("d").id'));
  const ran = `ActivityPattern.define("P", "told", ["x"], {x: 5})  return [ActivityPattern.run("P", "${id}", "a", {x: null}), ActivityPattern.run("P", "${id}", "b", {x: 6})]`;
  expect(await value(ran)).toEqual([5, 6]);
  expect(await db.collection(ACTIVITY_PATTERNS.collection).countDocuments({})).toBe(1);
  const tracked = `ActivityPattern.run("Track", "${id}", "t", {user: "nulls", reportingTopic: "/nulls", level: null, distanceFilter: null, desiredAccuracy: 5})`;
  expect(await value(`var t = ${tracked}  return [t.level, t.distanceFilter, t.desiredAccuracy]`)).toEqual(['fine', 200, 5]);
});
