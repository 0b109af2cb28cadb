// AMQP 0-9-1 against a broker of this test, for what a real one does only now and then: it closes a channel and leaves the connection open.
import { expect, test } from 'vitest';
import { contextOf, NOBODY } from '../testing/context.ts';
import { openAmqp091 } from './amqp-0-9-1.ts';
import { methods, startBroker091 } from './testing/broker-0-9-1.ts';

const configOf = (port: number, topics: string[]) => ({
  serverURIs: `amqp://127.0.0.1:${port}`,
  protocol: '0-9-1',
  topics,
  username: 'guest',
  password: 'guest',
});

// spec: integrations.md 1.2
test('a consuming channel that the broker closes is a lost connection', async () => {
  using broker = await startBroker091();
  const context = contextOf(configOf(broker.port, ['q']));
  const source = await openAmqp091(context);
  const { channel } = broker.received.find(({ id }) => id === methods['BasicConsume'])!;
  broker.send(methods['ChannelClose']!, channel, { replyCode: 406, replyText: 'PRECONDITION_FAILED', classId: 0, methodId: 0 });
  await expect.poll(() => context.losses).toHaveLength(1);
  expect(String(context.losses[0])).toContain('PRECONDITION_FAILED');
  await source.close();
  expect(context.losses).toHaveLength(1);
});

test('a source that is closed has not lost its channel', async () => {
  using broker = await startBroker091();
  const context = contextOf(configOf(broker.port, ['q']));
  const source = await openAmqp091(context);
  await source.close();
  expect(broker.received.at(-1)?.id).toBe(methods['ConnectionClose']);
  expect(context.losses).toEqual([]);
});

/** A table in a table in a table…, each under the name `a`. */
function nested(levels: number): Buffer {
  let table = Buffer.alloc(0);
  for (let level = 0; level < levels; level++) {
    const member = Buffer.from([1, 0x61, 0x46, 0, 0, 0, 0]);
    member.writeUInt32BE(table.length, 3);
    table = Buffer.concat([member, table]);
  }
  return table;
}

// spec: integrations.md 4.2
test.each([101, 18_000])('a message with headers of %i levels is rejected, and the connection lasts', async (levels) => {
  using broker = await startBroker091();
  const context = contextOf(configOf(broker.port, ['q']));
  const source = await openAmqp091(context);
  const { channel } = broker.received.find(({ id }) => id === methods['BasicConsume'])!;
  broker.deliver(channel, 1, nested(levels));
  broker.deliver(channel, 2, nested(1));
  const settled = () => broker.received.filter(({ id }) => id === methods['BasicNack'] || id === methods['BasicAck']);
  await expect.poll(settled).toMatchObject([
    { id: methods['BasicNack'], fields: { deliveryTag: 1, requeue: false } },
    { id: methods['BasicAck'], fields: { deliveryTag: 2 } },
  ]);
  expect(context.delivered).toMatchObject([{ properties: { a: {} } }]);
  expect(context.refused).toHaveLength(1);
  expect(context.losses).toEqual([]);
  await source.close();
});

// spec: integrations.md 4.3
test('a publish to an unknown exchange is refused alone: one to another exchange is confirmed', async () => {
  using broker = await startBroker091();
  const context = contextOf(configOf(broker.port, []));
  const source = await openAmqp091(context);
  const published = (): Published[] => broker.received.filter(({ id }) => id === methods['BasicPublish']) as unknown as Published[];
  const outcomes = Promise.allSettled(['plant/mill', 'none/mill'].map((topic) => source.publish!({ topic, message: 1 }, NOBODY)));
  await expect.poll(published).toHaveLength(2);
  const channelOf = (exchange: string) => published().find(({ fields }) => fields.exchange === exchange)!.channel;
  const reason = { replyCode: 404, replyText: "NOT_FOUND - no exchange 'none' in vhost '/'", classId: 60, methodId: 40 };
  broker.send(methods['ChannelClose']!, channelOf('none'), reason);
  broker.send(methods['BasicAck']!, channelOf('plant'), { deliveryTag: 1, multiple: false });
  expect(await outcomes).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'cascade.amqp.publish.rejected' } },
  ]);
  expect(context.losses).toEqual([]);
  await source.close();
});

// spec: integrations.md 4.3
test('a publish fails when the broker has it and does not confirm it', async () => {
  using broker = await startBroker091();
  const context = contextOf(configOf(broker.port, []));
  const source = await openAmqp091(context, 50);
  const message = expect.stringContaining('the broker has not confirmed it') as string;
  await expect(source.publish!({ topic: 'plant/mill', message: 1 }, NOBODY)).rejects.toMatchObject({
    code: 'cascade.source.publish.failed',
    message,
  });
  expect(context.losses).toEqual([]);
  await source.close();
});

// spec: integrations.md 4.3
test.each([{ ['n'.repeat(256)]: 1 }, { text: 'x'.repeat(70_000) }])('a publish that cannot be encoded fails once', async (properties) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): unknown => unhandled.push(error);
  process.on('unhandledRejection', note);
  using broker = await startBroker091();
  const context = contextOf(configOf(broker.port, []));
  const source = await openAmqp091(context);
  await expect(source.publish!({ topic: 'plant/mill', message: 1, properties }, NOBODY)).rejects.toMatchObject({
    code: 'cascade.source.publish.failed',
  });
  const second = source.publish!({ topic: 'plant/mill', message: 2 }, NOBODY); // by the same channel
  const published = () => broker.received.find(({ id }) => id === methods['BasicPublish']);
  await expect.poll(published).toBeDefined();
  broker.send(methods['BasicAck']!, published()!.channel, { deliveryTag: 1, multiple: false });
  await second;
  await source.close(); // closes the channel
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

interface Published {
  readonly channel: number;
  readonly fields: { readonly exchange: string };
}
