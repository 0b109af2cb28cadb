// Engines on one database and a bus that loses, repeats and delays messages: namespaces change their owner while clients of all engines
// work, and close when nobody needs them.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseJson } from '../model/values/index.ts';
import type { Notice } from '../runtime/events/notice.ts';
import { openLocalNetwork } from '../platform/bus/index.ts';
import { openOwnDatabase, type OwnDatabase } from './testing/database.ts';
import { openTestEngine, type TestEngine } from './testing/engine.ts';

const WITHIN = { timeout: 15_000 };
let database: OwnDatabase;
beforeAll(async () => {
  database = await openOwnDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** A simple random generator, so that a run can be repeated. */
function luckOf(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32;
}

test('namespaces change owners under load on a bad bus: every change is stored once, each subscriber gets each event once', async () => {
  const network = openLocalNetwork();
  const luck = luckOf(Number(process.env['CASCADE_SEED'] ?? 1) || 1);
  network.faults = { fate: () => (luck() < 0.1 ? [] : luck() < 0.1 ? [luck() * 20, luck() * 60] : [luck() * 5]) };
  const open = (namespace?: string): Promise<TestEngine> =>
    openTestEngine({ mongoUri: database.uri, bus: network.connect(), ...(namespace !== undefined && { namespace }) });
  await using a = await open();
  const { namespace } = a.identity;
  await a.type('Row', { n: { type: 'Integer' } });
  await a.type('Copy', { n: { type: 'Integer' } });
  await a.program('rules', 'RULE copies WHEN INSERT OCCURS ON Row AS r INSERT Copy(n: r.n)');
  const received: number[] = [];
  const listen = (on: TestEngine): Promise<unknown> =>
    on.engine.subscribe(on.identity, '/types/Row/insert', {}, (notice: Notice) => {
      if (notice.kind === 'event') received.push((JSON.parse(notice.valueJson) as { n: number }).n);
    });
  await listen(a);
  const sent: number[] = [];
  let isOver = false;
  // Where the owner is gone with a request, its client sends it again with the same id (docs/clustering.md).
  const insert = async (by: TestEngine, n: number): Promise<void> => {
    const send = () => by.ask('insert', 'Row', { body: `{"n":${n}}`, requestId: `row ${n}` });
    await send().catch((error: { code?: string }) => {
      if (error.code !== 'cascade.server.unavailable') throw error;
      return send();
    });
    sent.push(n);
  };
  const write = async (by: TestEngine, from: number): Promise<void> => {
    for (let n = from; !isOver; n++) await insert(by, n);
  };
  const working = [write(a, 0)];
  const owners = new Set<number | null>();
  for (let round = 0; round < 3; round++) {
    const other = await open(namespace);
    const end = new AbortController();
    const others = (async () => {
      for (let n = 10_000 * (round + 1); !end.signal.aborted; n++) await insert(other, n);
    })();
    await vi.waitFor(() => expect(sent.filter((n) => n >= 10_000 * (round + 1)).length).toBeGreaterThan(10), WITHIN);
    owners.add(await database.ownerOf(namespace));
    end.abort();
    await others;
    await other[Symbol.asyncDispose]();
  }
  isOver = true;
  await Promise.all(working);
  const wanted = sent.toSorted((x, y) => x - y);
  const numbers = async (type: string): Promise<number[]> => (await a.rows(type)).map(({ n }) => Number(n)).sort((x, y) => x - y);
  expect(await numbers('Row')).toEqual(wanted);
  await vi.waitFor(async () => expect(await numbers('Copy')).toEqual(wanted), WITHIN);
  await vi.waitFor(() => expect(received.toSorted((x, y) => x - y)).toEqual(wanted), WITHIN);
});

test('an idle namespace is closed when no work is left to do there, and opened by the next request', async () => {
  await using idle = await openTestEngine({ mongoUri: database.uri, bus: openLocalNetwork().connect(), idleAfterMs: 100 });
  const { namespace } = idle.identity;
  await idle.type('Row', { n: { type: 'Integer' } });
  await idle.program('procedures', 'PROCEDURE one() return 1');
  expect((await idle.ask('execute', 'procedures', { id: 'one', body: '{}' })).body).toBe('1');
  await vi.waitFor(async () => expect(await database.ownerOf(namespace)).toBeNull(), WITHIN);
  await idle.ask('insert', 'Row', { body: '{"n":1}' });
  expect((await idle.ask('execute', 'procedures', { id: 'one', body: '{}' })).body).toBe('1');
  expect(await idle.rows('Row')).toMatchObject([{ n: 1 }]);
  const subscription = await idle.engine.subscribe(idle.identity, '/types/Row/insert', {}, () => undefined);
  const owned = await database.ownerOf(namespace);
  expect(owned).not.toBeNull();
  // Another namespace is closed meanwhile, after this one was checked.
  const other = { ...idle.identity, namespace: `${namespace}b` };
  await idle.engine.identity.createNamespace({ namespace: other.namespace, createdBy: 'ann' });
  await idle.engine.execute({ identity: other, op: 'select', resourceName: 'types', custom: false, parameters: {} });
  await vi.waitFor(async () => expect(await database.ownerOf(other.namespace)).toBeNull(), WITHIN);
  expect(await database.ownerOf(namespace)).toBe(owned);
  subscription.close();
  await vi.waitFor(async () => expect(await database.ownerOf(namespace)).toBeNull(), WITHIN);
});

test('a namespace in which a request waits for a node is not idle, and goes on by itself after an orderly stop', async () => {
  const options = { mongoUri: database.uri, idleAfterMs: 100, outboundAddresses: ['127.0.0.1'], masterKey: Buffer.alloc(32, 7) };
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const first = await openTestEngine({ ...options, bus: openLocalNetwork().connect() });
  const { namespace } = first.identity;
  {
    await using waits = first;
    const node = { name: 'far', uri: `http://127.0.0.1:${port}`, username: 'u', password: 'p', deliveryMode: 'reliable', properties: {} };
    await waits.ask('insert', 'nodes', { body: JSON.stringify(node) });
    const text =
      'PROCEDURE sends() var seen = [] PUBLISH {a: 1} TO TOPIC "/t" PROCESSED BY name == "far" { } ON ERROR (e) { push(seen, e.error.code) } return seen';
    await waits.program('procedures', text);
    const { body } = await waits.ask('execute', 'procedures', { id: 'sends', body: '{}' });
    expect(JSON.parse(String(body))).toEqual(['cascade.federation.delivery.pending']);
    const owned = await database.ownerOf(namespace);
    // Another namespace is closed meanwhile, after this one was checked.
    for (const more of ['b', 'c']) {
      const other = { ...waits.identity, namespace: `${namespace}${more}` };
      await waits.engine.identity.createNamespace({ namespace: other.namespace, createdBy: 'ann' });
      await waits.engine.execute({ identity: other, op: 'select', resourceName: 'types', custom: false, parameters: {} });
      await vi.waitFor(async () => expect(await database.ownerOf(other.namespace)).toBeNull(), WITHIN);
    }
    expect(await database.ownerOf(namespace)).toBe(owned);
  }
  await using _ = await openTestEngine({ ...options, bus: openLocalNetwork().connect() });
  const epoch = await database.newestServing();
  await vi.waitFor(async () => expect(await database.ownerOf(namespace)).toBe(epoch), WITHIN);
});

test('clients of all processes that had subscribed in a namespace hear what happens there after a restore into it', async () => {
  const network = openLocalNetwork();
  await using a = await openTestEngine({ mongoUri: database.uri, bus: network.connect() });
  await using b = await openTestEngine({ mongoUri: database.uri, bus: network.connect() });
  const system = { ...a.identity, system: true };
  const restore = async (op: string, namespace: string, body: object): Promise<unknown> => {
    const object = parseJson(JSON.stringify(body));
    const request = { identity: system, op, resourceName: 'backups', resourceId: namespace, custom: null, parameters: {}, object };
    return JSON.parse((await a.engine.execute(request)).body ?? 'null') as unknown;
  };
  const home = `${a.identity.namespace}home`;
  const namespace = `${a.identity.namespace}copy`;
  for (const name of [home, namespace]) await a.engine.identity.createNamespace({ namespace: name, createdBy: 'ann' });
  const [head] = (await restore('backup', home, {})) as object[];
  const identity = { ...a.identity, namespace };
  const received = [[], []] as string[][];
  for (const [n, { engine }] of [a, b].entries())
    await engine.subscribe(identity, '/topics/door', {}, (notice) =>
      received[n]!.push(notice.kind === 'event' ? notice.valueJson : notice.kind),
    );
  const begun = (await restore('beginRestore', namespace, { head })) as object;
  await restore('restore', namespace, { ...begun, rows: [] });
  await restore('endRestore', namespace, { ...begun, rows: 0 });
  const publish = { identity, op: 'publish', resourceName: 'topics', resourceId: '/door', custom: null, parameters: {} };
  await b.engine.execute({ ...publish, object: parseJson('{"n":1}') });
  await vi.waitFor(() => expect(received).toEqual([['{"n":1}'], ['{"n":1}']]), WITHIN);
});
