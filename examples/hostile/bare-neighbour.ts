// What the neighbour's latency is measured beside: the same insert, effect and look by a plain handler in a process of its own, which shares
// nothing with the service but the machine and the database. `node bare-neighbour.js MONGO_URI`; sends its port to the process that started it.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { MongoClient } from 'mongodb';

const [, , uri = ''] = process.argv;
process.once('disconnect', () => process.exit(0)); // who has started it is gone
const client = await new MongoClient(uri, { writeConcern: { w: 'majority', journal: true } }).connect();
const traps = client.db('bare_neighbour').collection('traps');
const heap = client.db('bare_neighbour').collection('heap');
await heap.createIndex({ n: 1 });

/** `POST` {n} inserts, and inserts the effect; `GET ?n=` finds the effect. */
async function answer(request: IncomingMessage): Promise<object> {
  if (request.method === 'POST') {
    const { n } = JSON.parse(await text(request)) as { n: number };
    await traps.insertOne({ n });
    await heap.insertOne({ n });
    return { n };
  }
  const n = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('n'));
  return heap.find({ n }).toArray();
}

const server = createServer((request, response) => {
  answer(request).then(
    (found) => response.end(JSON.stringify(found)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
