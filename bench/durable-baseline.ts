// What durable rules are measured beside: the least that could do an insert and the insert that follows from it, over the plain driver.
// `node durable-baseline.js PORT MONGO_URI (bare|grouped)`
//   bare      a uWebSockets.js handler that awaits two insertOne
//   grouped   the same, but requests that come while a group is under way are the next one: two insertMany a group

import { type Document, MongoClient } from 'mongodb';
import { App, type HttpResponse } from 'uWebSockets.js';
import { groupCommit } from './group-commit.ts';

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

const insert = kind === 'grouped' ? insertGrouped : insertBoth;

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
