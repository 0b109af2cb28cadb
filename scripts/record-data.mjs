// Records a data folder of another build of the service, killed in the midst of its work, for engine/upgrade.test.ts:
//   node scripts/record-data.mjs CHECKOUT NODE FILE
// CHECKOUT has been installed and built; NODE is the Node that it runs on; FILE gets all documents and indexes as BSON, compressed.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync } from 'node:zlib';
import { BSON, MongoClient } from 'mongodb';

const [checkout, node, file] = process.argv.slice(2);
if (!file) throw new Error('CHECKOUT NODE FILE');
/** Arrays of orders stored at once; the service is killed at the last answer. */
const ARRAYS = 3;
const EACH = 100;
const LONG_OPEN = 20;
const JUST_OPENED = 5;
const REDELIVERED = 10;
const TEN_YEARS_S = 315_360_000;

const text = { type: 'String', required: true };
const TYPES = [
  { name: 'Order', indexes: [{ keys: ['key'], options: { unique: true } }], properties: { key: text, checked: { type: 'Boolean' } } },
  { name: 'Counter', naturalKey: ['name'], properties: { name: text, n: { type: 'Integer' } } },
  { name: 'Heard', naturalKey: ['key'], indexes: [{ keys: ['key'], options: { unique: true } }], properties: { key: text } },
  { name: 'Gate', properties: { name: text } },
  { name: 'Effect', properties: { by: text, of: text } },
  { name: 'Card', properties: { name: text, number: { type: 'String', encrypted: true } } },
];
const TOPICS = [{ name: '/old/again', isReliable: true, redeliveryFrequency: 1, redeliveryTTL: TEN_YEARS_S }];
const RULES = [
  'RULE checked BEFORE INSERT ON Order AS o  o.checked = true',
  `RULE several WHEN INSERT OCCURS ON Order AS o
   INSERT Effect(by: "first", of: o.key)
   PUBLISH { key: o.key } TO TOPIC "/old/told"
   SELECT ONE FROM Counter AS c WHERE name == "all"
   UPDATE Counter(n: c.n + 1) WHERE _id == c._id
   INSERT Effect(by: "last", of: o.key)`,
  'RULE noted WHEN INSERT OCCURS ON Order AS o  INSERT Effect(by: "noted", of: o.key)',
  'RULE told WHEN EVENT OCCURS ON "/topics/old/told" AS t  INSERT Effect(by: "told", of: t.value.key)',
  'RULE planned WHEN EVENT OCCURS ON "/topics/old/planned" AS t  INSERT Effect(by: "planned", of: t.value.key)',
  `RULE again WHEN EVENT OCCURS ON "/topics/old/again" AS t
   UPSERT Heard(key: t.value.key)
   SELECT ONE FROM Gate AS g WHERE name == "open"
   IF (g != null) { INSERT Effect(by: "again", of: t.value.key) Event.ack() }`,
  `RULE pair WHEN EVENT OCCURS ON "/topics/old/open" AS a BEFORE EVENT OCCURS ON "/topics/old/shut" AS b WITHIN 36500 days
   CONSTRAIN TO a.value.key == b.value.key
   INSERT Effect(by: "pair", of: a.value.key)`,
  `RULE window WHEN EVENT OCCURS ON "/topics/old/open" AS a BEFORE EVENT OCCURS ON "/topics/old/never" AS b WITHIN 60 seconds
   log.info("never")
   TIMEOUT
   INSERT Effect(by: "window", of: a.value.key)`,
];

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
};

const dataDir = mkdtempSync(join(tmpdir(), 'cascade-record-'));
const url = `http://127.0.0.1:${await freePort()}`;
const password = randomBytes(12).toString('hex');
const env = { ...process.env, CASCADE_ADMIN_PASSWORD: password, CASCADE_SYSTEM_PASSWORD: password };
const arguments_ = [join(checkout, 'bin', 'cascade.js'), 'serve', '--port', new URL(url).port, '--data', dataDir];
const service = spawn(node, arguments_, { stdio: ['ignore', 'inherit', 'inherit'], env });
let mongod;
try {
  for (const until = performance.now() + 60_000; ; await sleep(100)) {
    if ((await fetch(`${url}/healthz`).catch(() => null))?.ok) break;
    if (performance.now() > until) throw new Error('the service was not ready');
  }
  const basic = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  const { accessToken } = await (await fetch(`${url}/authenticate`, { headers: { authorization: basic } })).json();
  const post = async (path, body) => {
    const isText = typeof body === 'string';
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': isText ? 'text/plain' : 'application/json' };
    const reply = await fetch(`${url}/api/v1/resources${path}`, { method: 'POST', headers, body: isText ? body : JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  };
  for (const type of TYPES) await post('/types', type);
  for (const topic of TOPICS) await post('/topics', topic);
  await post('/custom/Counter', { name: 'all', n: 0 });
  for (const rule of RULES) await post('/rules', rule);
  await post('/custom/Card', { name: 'a', number: '4000 1234' });
  for (let n = 0; n < LONG_OPEN; n++) await post('/topics//old/open', { key: `long ${n}` });
  for (let n = 0; n < REDELIVERED; n++) await post('/topics//old/again', { key: `again ${n}` });
  await sleep(15_000); // longer than the journal keeps evaluations
  for (const n of [1, 2, 3])
    await post('/scheduledevents', { name: `plan ${n}`, topic: '/old/planned', interval: 20_000, message: { key: `plan ${n}` } });
  for (let n = 0; n < JUST_OPENED; n++) await post('/topics//old/open', { key: `just ${n}` });
  const order = (array) => Array.from({ length: EACH }, (_, n) => ({ key: `order ${array * EACH + n}` }));
  await Promise.all(Array.from({ length: ARRAYS }, (_, array) => post('/custom/Order', order(array))));
  service.kill('SIGKILL');
  await once(service, 'exit');

  const { port } = JSON.parse(readFileSync(join(dataDir, 'mongod.json'), 'utf8'));
  const user = JSON.parse(readFileSync(join(dataDir, 'mongod.user.json'), 'utf8'));
  const client = await new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    auth: { username: user.name, password: user.password },
  }).connect();
  mongod = client;
  const orders = ARRAYS * EACH;
  const counted = await client
    .db('cascade_ns_main')
    .collection('t.Effect')
    .aggregate([{ $group: { _id: '$by', n: { $sum: 1 } } }])
    .toArray();
  console.log(counted, `of ${orders} orders`);
  const expected = { orders, longOpen: LONG_OPEN, justOpened: JUST_OPENED, redelivered: REDELIVERED, planned: 3 };
  const parts = [BSON.serialize({ masterKey: readFileSync(join(dataDir, 'master.key'), 'utf8').trim(), password, expected })];
  for (const { name: database } of (await client.db().admin().listDatabases({ nameOnly: true })).databases.filter(({ name }) =>
    name.startsWith('cascade'),
  ))
    for (const { name, options } of await client.db(database).listCollections().toArray()) {
      const collection = client.db(database).collection(name);
      const documents = await collection.find({}, { raw: true, sort: { $natural: 1 } }).toArray();
      const indexes = (await collection.indexes()).filter((index) => index.name !== '_id_');
      parts.push(BSON.serialize({ database, name, options, indexes, documents: documents.length }), ...documents);
    }
  const archive = brotliCompressSync(Buffer.concat(parts));
  writeFileSync(file, archive);
  console.log(`${file}: ${archive.length} bytes`);
} finally {
  service.kill('SIGKILL');
  await mongod
    ?.db('admin')
    .command({ shutdown: 1, force: true })
    .catch(() => undefined); // the connection ends with it
  await mongod?.close();
  rmSync(dataDir, { recursive: true, force: true });
}
