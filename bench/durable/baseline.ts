// What durable rules are measured beside: the least that could do an insert and the insert that follows from it, over the plain driver.
// `node baseline.js PORT MONGO_URI KIND`
//   bare              a uWebSockets.js handler that awaits two insertOne
//   grouped           the same, but requests that come while a group is under way are the next one: two insertMany a group
//   counting          an insertOne and an updateOne that counts by $inc
//   counting-grouped  an insertMany and a bulkWrite a group

import { type Document, MongoClient } from 'mongodb';
import { App, type HttpResponse } from 'uWebSockets.js';
import { groupCommit } from '../group-commit.ts';

const [port = '0', uri = '', kind = 'bare'] = process.argv.slice(2);
const client = await new MongoClient(uri, { maxPoolSize: 64, writeConcern: { w: 'majority', journal: true } }).connect();
const readings = client.db('bench_durable_baseline').collection('readings');
const alerts = client.db('bench_durable_baseline').collection('alerts');

const alertOf = (reading: Document): Document => ({ reading: reading['_id'], at: new Date() });

async function insertBoth(reading: Document): Promise<Document> {
  await readings.insertOne(reading);
  await alerts.insertOne(alertOf(reading));
  return reading;
}

const insertGrouped = groupCommit<Document>(async (all) => {
  await readings.insertMany(all, { ordered: false });
  await alerts.insertMany(all.map(alertOf), { ordered: false });
});

/** Made, with an index, by the benchmark. */
const counters = client.db('bench_durable_baseline').collection('counters');
const hits = client.db('bench_durable_baseline').collection('hits');

async function count(hit: Document): Promise<Document> {
  await hits.insertOne(hit);
  await counters.updateOne({ k: hit['k'] }, { $inc: { n: 1 } });
  return hit;
}

const countGrouped = groupCommit<Document>(async (all) => {
  await hits.insertMany(all, { ordered: false });
  await counters.bulkWrite(
    all.map((hit) => ({ updateOne: { filter: { k: hit['k'] }, update: { $inc: { n: 1 } } } })),
    { ordered: false },
  );
});

const KINDS: Readonly<Record<string, (document: Document) => Promise<Document>>> = {
  bare: insertBoth,
  grouped: insertGrouped,
  counting: count,
  'counting-grouped': countGrouped,
};
const insert = KINDS[kind];
if (!insert) throw new Error(`KIND is one of ${Object.keys(KINDS).join(', ')}, not ${kind}`);

App()
  .post('/insert', (response: HttpResponse) => {
    let isGone = false;
    const parts: Buffer[] = [];
    response.onAborted(() => {
      isGone = true;
    });
    response.onData((chunk, isLast) => {
      parts.push(Buffer.from(Buffer.from(chunk)));
      if (!isLast) return;
      insert(JSON.parse(Buffer.concat(parts).toString('utf8')) as Document).then(
        (reading) => isGone || response.cork(() => response.writeHeader('Content-Type', 'application/json').end(JSON.stringify([reading]))),
        () => isGone || response.cork(() => response.writeStatus('500 Failed').end()),
      );
    });
  })
  .any('/*', (response) => {
    response.end('ok');
  })
  .listen('127.0.0.1', Number(port), (socket) => {
    if (!socket) process.exit(1);
  });
