import { EventEmitter } from 'node:events';
import { BSON, Long, MongoServerError, ObjectId } from 'mongodb';
import { Server } from 'mongodb/lib/sdam/server.js';
import { expect, test } from 'vitest';
import { readErrorsWhole } from './raw-errors.ts';

/** What the driver knows of a server before it is told. */
function serverOf(processId: ObjectId): Server {
  const known = {
    loadBalanced: false,
    description: { hostAddress: { toString: () => 'a:1' }, address: 'a:1', topologyVersion: { processId, counter: Long.fromNumber(1) } },
    pool: { generation: 0, clear: () => undefined },
    requestCheck: () => undefined,
  };
  const server = Object.assign(Object.create(Server.prototype) as Server, new EventEmitter());
  for (const [name, value] of Object.entries(known)) Object.defineProperty(server, name, { value });
  return server;
}

test.each([
  ['bytes', (version: object) => BSON.serialize(version)],
  ['a document', (version: object) => version],
])('a primary that steps down is noticed where its answer was read as %s', async (_, read) => {
  readErrorsWhole();
  const processId = new ObjectId();
  const reported: unknown[] = [];
  for (const counter of [5, 0]) {
    const server = serverOf(processId);
    server.on(Server.DESCRIPTION_RECEIVED, () => reported.push(counter));
    const topologyVersion = read({ processId, counter: Long.fromNumber(counter) });
    server.handleError(new MongoServerError({ message: 'it steps down', ok: 0, code: 11602, topologyVersion }));
  }
  await Promise.resolve();
  expect(reported).toEqual([5]); // what is older than what is known says nothing
});
