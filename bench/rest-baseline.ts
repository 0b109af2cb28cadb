// The least that could do the work of an insert with one rule that inserts: a bare uWebSockets.js handler with two awaited insertOne.
// `node rest-baseline.js PORT MONGO_URI`

import { MongoClient } from 'mongodb';
import { App } from 'uWebSockets.js';

const [port = '0', uri = ''] = process.argv.slice(2);
const client = await new MongoClient(uri, { maxPoolSize: 64, writeConcern: { w: 'majority', journal: true } }).connect();
const readings = client.db('bench_baseline').collection('readings');
const alerts = client.db('bench_baseline').collection('alerts');

App()
  .post('/insert', (res) => {
    let aborted = false;
    const parts: Buffer[] = [];
    res.onAborted(() => {
      aborted = true;
    });
    res.onData((chunk, isLast) => {
      parts.push(Buffer.from(Buffer.from(chunk)));
      if (!isLast) return;
      const insert = async (): Promise<void> => {
        const reading = JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>;
        await readings.insertOne(reading);
        await alerts.insertOne({ reading: reading['_id'], at: new Date() });
        if (!aborted)
          res.cork(() =>
            res
              .writeStatus('200 OK')
              .writeHeader('Content-Type', 'application/json')
              .end(JSON.stringify([reading])),
          );
      };
      insert().catch(() => aborted || res.cork(() => res.writeStatus('500 Failed').end()));
    });
  })
  .any('/*', (res) => {
    res.end('ok');
  })
  .listen('127.0.0.1', Number(port), (socket) => {
    if (!socket) process.exit(1);
  });
