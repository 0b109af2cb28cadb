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

interface Published {
  readonly channel: number;
  readonly fields: { readonly exchange: string };
}
