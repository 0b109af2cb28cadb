// The part of an AMQP 0-9-1 broker that a test controls: it answers what opens, consumes and closes, and sends what the test tells it to.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer, type Socket } from 'node:net';

// amqplib's own encoding, which it does not export.
const inside = createRequire(createRequire(import.meta.url).resolve('amqplib'));
type Fields = Readonly<Record<string, unknown>>;
export const methods = inside('./lib/defs') as Readonly<Record<string, number>> & {
  encodeMethod(id: number, channel: number, fields: Fields): Buffer;
};
const frames = inside('./lib/frame') as {
  parseFrame(bytes: Buffer, most: number): { rest: Buffer } | false;
  decodeFrame(frame: object): { id?: number; channel: number; fields?: Fields };
};
const HEADER_BYTES = 8;

const tuned = { channelMax: 0, frameMax: 131_072, heartbeat: 0 };
/** What a client's method is answered with. */
const ANSWERS: Readonly<Record<string, readonly [answer: string, fields: Fields]>> = {
  ConnectionStartOk: ['ConnectionTune', tuned],
  ConnectionOpen: ['ConnectionOpenOk', { knownHosts: '' }],
  ConnectionClose: ['ConnectionCloseOk', {}],
  ChannelOpen: ['ChannelOpenOk', { channelId: Buffer.alloc(0) }],
  ChannelClose: ['ChannelCloseOk', {}],
  ConfirmSelect: ['ConfirmSelectOk', {}],
  QueueDeclare: ['QueueDeclareOk', { queue: 'q', messageCount: 0, consumerCount: 0 }],
  BasicQos: ['BasicQosOk', {}],
  BasicConsume: ['BasicConsumeOk', { consumerTag: 'tag' }],
  BasicCancel: ['BasicCancelOk', { consumerTag: 'tag' }],
};

function frameOf(type: number, channel: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(7);
  head.writeUInt8(type);
  head.writeUInt16BE(channel, 1);
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, payload, Buffer.from([0xce])]);
}

export interface Broker091 extends Disposable {
  readonly port: number;
  /** The methods that arrived, with their channels. */
  readonly received: { readonly id: number; readonly channel: number; readonly fields: Fields }[];
  /** Sends a method to the last client that connected. */
  send(id: number, channel: number, fields: Fields): void;
  /** Sends a message of one byte to the consumer. @param headers the encoded content of its table */
  deliver(channel: number, deliveryTag: number, headers: Buffer): void;
}

export async function startBroker091(): Promise<Broker091> {
  const received: Broker091['received'] = [];
  const sockets: Socket[] = [];
  const answers = new Map(Object.entries(ANSWERS).map(([name, [answer, fields]]) => [methods[name], [methods[answer]!, fields] as const]));
  const server = createServer((socket) => {
    sockets.push(socket);
    let bytes = Buffer.alloc(0);
    let isGreeted = false;
    const send = (id: number, channel: number, fields: Fields) => socket.write(methods.encodeMethod(id, channel, fields));
    socket.on('error', () => undefined); // a client that is gone
    socket.on('data', (more: Buffer) => {
      bytes = Buffer.concat([bytes, more]);
      if (!isGreeted && bytes.length >= HEADER_BYTES) {
        isGreeted = true;
        bytes = bytes.subarray(HEADER_BYTES);
        const greeting = {
          versionMajor: 0,
          versionMinor: 9,
          serverProperties: {},
          mechanisms: Buffer.from('PLAIN'),
          locales: Buffer.from('en_US'),
        };
        send(methods['ConnectionStart']!, 0, greeting);
      }
      for (let frame = frames.parseFrame(bytes, 0); isGreeted && frame; frame = frames.parseFrame(bytes, 0)) {
        bytes = Buffer.from(frame.rest);
        const { id, channel, fields } = frames.decodeFrame(frame);
        if (id === undefined || !fields) continue;
        received.push({ id, channel, fields });
        const answer = answers.get(id);
        if (answer) send(answer[0], channel, answer[1]);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received,
    send: (id, channel, fields) => void sockets.at(-1)?.write(methods.encodeMethod(id, channel, fields)),
    deliver(channel, deliveryTag, headers) {
      const fields = { consumerTag: 'tag', deliveryTag, redelivered: false, exchange: '', routingKey: 'q' };
      const properties = Buffer.alloc(18); // class, weight, size, flags, length of the table
      properties.writeUInt16BE(60);
      properties.writeBigUInt64BE(1n, 4);
      properties.writeUInt16BE(0x2000, 12);
      properties.writeUInt32BE(headers.length, 14);
      const content = [frameOf(2, channel, Buffer.concat([properties, headers])), frameOf(3, channel, Buffer.from('1'))];
      sockets.at(-1)?.write(Buffer.concat([methods.encodeMethod(methods['BasicDeliver']!, channel, fields), ...content]));
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
