// What the API is measured beside: the least that could answer the same three requests, each over the plain driver.
// `node api-baseline.js PORT MONGO_URI (bare|grouped|fastify)`
//   bare      a uWebSockets.js handler, REST and WebSocket; each insertOne is awaited
//   grouped   the same, but inserts that come while one is under way are the next insertMany: group commit made by hand
//   fastify   the same requests as `bare` behind Fastify, REST only

import { type Document, MongoClient, ObjectId } from 'mongodb';
import type { HttpResponse } from 'uWebSockets.js';
import { groupCommit } from './group-commit.ts';

const BASELINE_DATABASE = 'bench_api_baseline';
const BASELINE_COLLECTION = 'readings';

const [port = '0', uri = '', kind = 'bare'] = process.argv.slice(2);
const client = await new MongoClient(uri, { maxPoolSize: 64, writeConcern: { w: 'majority', journal: true } }).connect();
const readings = client.db(BASELINE_DATABASE).collection(BASELINE_COLLECTION);

const insertOne = async (document: Document): Promise<Document> => {
  await readings.insertOne(document);
  return document;
};

const insertGrouped = groupCommit<Document>((all) => readings.insertMany(all, { ordered: false }));

const insert = kind === 'grouped' ? insertGrouped : insertOne;
const byKey = (id: string): Promise<Document | null> => readings.findOne({ _id: new ObjectId(id) });
const bySensor = (sensor: string): Promise<Document[]> => readings.find({ sensor }).toArray();

if (kind === 'fastify') await serveFastify();
else await serveBare();

async function serveBare(): Promise<void> {
  const { App } = await import('uWebSockets.js');
  const answer = (res: HttpResponse, work: (body: Buffer) => Promise<unknown>, hasBody: boolean): void => {
    let aborted = false;
    res.onAborted(() => {
      aborted = true;
    });
    const carryOut = (body: Buffer): void => {
      work(body).then(
        (value) => aborted || res.cork(() => res.writeHeader('Content-Type', 'application/json').end(JSON.stringify(value))),
        () => aborted || res.cork(() => res.writeStatus('500 Failed').end()),
      );
    };
    if (!hasBody) return carryOut(Buffer.alloc(0));
    const parts: Buffer[] = [];
    res.onData((chunk, isLast) => {
      parts.push(Buffer.from(Buffer.from(chunk)));
      if (isLast) carryOut(Buffer.concat(parts));
    });
  };
  App()
    .post('/insert', (res) => answer(res, async (body) => [await insert(JSON.parse(body.toString()) as Document)], true))
    .get('/one/:id', (res, req) => {
      const id = req.getParameter(0) ?? '';
      answer(res, () => byKey(id), false);
    })
    .get('/where/:sensor', (res, req) => {
      const sensor = req.getParameter(0) ?? '';
      answer(res, () => bySensor(sensor), false);
    })
    .get('/all', (res) => answer(res, () => readings.find().toArray(), false))
    .any('/*', (res) => {
      res.end('ok');
    })
    .ws('/ws', {
      async message(socket, message) {
        const { op, id, sensor, object } = JSON.parse(Buffer.from(message).toString()) as Record<string, string> & { object?: Document };
        const work = op === 'insert' ? insert(object ?? {}) : op === 'one' ? byKey(id ?? '') : bySensor(sensor ?? '');
        const text = await work.then(
          (body) => JSON.stringify({ status: 200, body }),
          () => '{"status":500}',
        );
        try {
          socket.cork(() => socket.send(text, true));
        } catch {
          // It was closed meanwhile: the round is over.
        }
      },
    })
    .listen('127.0.0.1', Number(port), (socket) => {
      if (!socket) process.exit(1);
    });
}

async function serveFastify(): Promise<void> {
  const { fastify } = await import('fastify');
  const app = fastify();
  app.post('/insert', async (request) => [await insert(request.body as Document)]);
  app.get<{ Params: { id: string } }>('/one/:id', (request) => byKey(request.params.id));
  app.get<{ Params: { sensor: string } }>('/where/:sensor', (request) => bySensor(request.params.sensor));
  app.get('/', () => 'ok');
  await app.listen({ host: '127.0.0.1', port: Number(port) });
}
