// A process that may have lost its namespace consumes nothing there, and goes on when it is sure again (integrations.md 1.10).
import type { Db } from 'mongodb';
import { afterEach, expect, test, vi } from 'vitest';
import { openOwnDatabase } from '../../../engine/testing/database.ts';
import { openTestEngine } from '../../../engine/testing/engine.ts';
import type { Actor } from '../../../runtime/context/index.ts';
import { Fenced } from '../../../runtime/transactions/index.ts';
import { systemClock } from '../../../platform/clock/index.ts';
import { Egress } from '../../../platform/egress/index.ts';
import type { Namespace } from '../../../resources/catalog/index.ts';
import { SOURCES_STATE } from '../namespace-state.ts';
import { querySource } from '../outbound.ts';
import type { Caller } from '../protocols/index.ts';
import { Sources } from '../sources.ts';
import { openMqttBroker } from '../protocols/mqtt/testing/mqtt-broker.ts';

/** Longer than a lease is held without being renewed, shorter than the lease. */
const WITHOUT_RENEWAL_MS = 26_000;

afterEach(() => vi.restoreAllMocks());

test('a source is disconnected before the lease ends that cannot be renewed, and connected again when it is', async () => {
  await using broker = await openMqttBroker();
  const seen: string[] = [];
  broker.aedes.on('client', () => seen.push('connected'));
  broker.aedes.on('clientDisconnect', () => seen.push('disconnected'));
  let subscribed = 0;
  broker.aedes.on('subscribe', () => subscribed++);
  await using database = await openOwnDatabase();
  await using t = await openTestEngine({ mongoUri: database.uri, outboundAddresses: ['127.0.0.1'] });
  await t.type('Got', { topic: { type: 'String' } });
  await t.program('rules', 'RULE gets WHEN EVENT OCCURS ON "/sources/feed" AS e INSERT Got(topic: e.topic)');
  const config = { serverURI: `mqtt://127.0.0.1:${broker.port}`, topics: ['feed/#'], clientId: 'one', cleanSession: false };
  await t.ask('insert', 'sources', { body: JSON.stringify({ name: 'feed', type: 'MQTT', config }) });
  await expect.poll(() => seen).toEqual(['connected']);

  const now = performance.now.bind(performance);
  process.kill(database.pid, 'SIGSTOP'); // no renewal comes through
  try {
    vi.spyOn(performance, 'now').mockImplementation(() => now() + WITHOUT_RENEWAL_MS);
    await expect.poll(() => seen).toEqual(['connected', 'disconnected']);
  } finally {
    process.kill(database.pid, 'SIGCONT');
  }
  await expect.poll(() => seen).toEqual(['connected', 'disconnected', 'connected']);
  // Between connection and subscription this broker sends a message twice: as one that has waited, and as a new one.
  await expect.poll(() => subscribed).toBe(2);
  await new Promise<void>((resolve, reject) =>
    broker.aedes.publish({ cmd: 'publish', topic: 'feed/a', payload: '1', qos: 1, retain: false, dup: false }, (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  await t.eventually('Got', { topic: 'feed/a' }, 1);
});

// spec: integrations.md 12.2
test('a run that asks a source after the sources of its namespace are closed gets no answer: the next owner asks it', async () => {
  const source = { name: 'far', type: 'REMOTE', config: {} };
  const definitions = { get: () => source, list: () => [], find: () => ({ object: source }) };
  const states = new Map<unknown, Sources>();
  const space = { name: 'main', catalog: { definitions }, states, clock: systemClock } as unknown as Namespace;
  const outlet = new Egress().outletOf('main');
  const sources = new Sources({ space: () => space, db: { collection: () => ({}) } as unknown as Db, epoch: 1, outlet });
  states.set(SOURCES_STATE, sources);
  await sources.close();
  await expect(sources.connectionOf('far')).rejects.toThrow(Fenced);
  await expect(querySource(space, 'far', {}, {} as Actor, outlet.answerRoom(), {} as Caller)).rejects.toThrow(Fenced);
  expect(sources.counts.of('far').failed).toBe(0);
});
